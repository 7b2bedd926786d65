"""A host's way to its warm process: started when first needed, and again when the host has changed."""

from __future__ import annotations

import _socket
import errno
import os
import resource
import sys
from _thread import RLock

from firsthand import procfs
from firsthand.process import boot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FD_BYTES = 4
"""Bytes of one descriptor in a control message (a C int)."""

NOBODY_THERE = frozenset((errno.EPIPE, errno.ECONNRESET, errno.ECONNREFUSED, errno.ENOTCONN, errno.EBADF))
"""What a socket answers whose other end is gone."""

MOST_FDS = 3
"""Descriptors of one call: its request, its answer, the command's standard input."""

LIMITS = tuple(getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_"))
"""Every limit that a command inherits."""

INHERITED = (b"Uid", b"Gid", b"Groups", b"Cap", b"NoNewPrivs", b"Seccomp", b"Cpus_allowed:", b"Mems_allowed:")
"""Lines of ``/proc/PID/status``: who a command would be, and what it may do."""

STARTS = 3
"""Warm processes that are started for one call, should somebody shoot them."""

NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid_for_children", "time_for_children", "user", "uts")
"""What a command would be in, as the kernel names it in ``/proc/PID/ns``."""


class Warm:
    """A host's end of its warm process; a fork of the host has one of its own."""

    def __init__(self) -> None:
        self.lock = RLock()  # a signal handler may call while it interrupts a call of the same thread
        self.pid = os.getpid()
        self.socket: _socket.socket | None = None
        self.inode = (0, 0)
        self.inherits: Any = None

    def send(self, entry: tuple[str, str], fds: Sequence[int], status: bytes) -> None:
        """Hand descriptors to the warm process, which forks for them; ``status`` is this thread's.

        Raises:
            OSError: the system had nothing left to start it with.
        """
        inherits = what_is_inherited(status)
        with self.lock:
            ours = self._ours()
            if ours is not None and self.inherits == inherits and _hand_over(ours, fds):
                return
            for _ in range(STARTS):
                if _hand_over(self._start(entry, inherits), fds):
                    return
        raise OSError(errno.ECHILD, f"{sys.executable} does not start as a keeper")

    def _start(self, entry: tuple[str, str], inherits: Any) -> _socket.socket:
        self.close()
        ours, theirs = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET | _socket.SOCK_CLOEXEC)
        try:
            boot.start(*entry, [theirs.fileno(), None, None], str(self.pid))
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        self.socket, self.inherits, self.inode = ours, inherits, _inode(ours.fileno())
        return ours

    def _ours(self) -> _socket.socket | None:
        """Return the socket; None where the host has closed its descriptor, perhaps opened another there."""
        mine = self.socket
        return mine if mine is not None and _inode(mine.fileno()) == self.inode else None

    def close(self) -> None:
        """Let the warm process end; what it has forked goes on."""
        mine, lost = self._ours(), self.socket
        self.socket = None
        if mine is not None:
            mine.close()
        elif lost is not None:
            lost.detach()


_warm = [Warm()]


def current() -> Warm:
    """Return this process's own: what a fork has inherited belongs to its parent."""
    mine = _warm[0]
    if mine.pid != os.getpid():
        mine.close()
        mine = _warm[0] = Warm()
    return mine


def _inode(fd: int) -> tuple[int, int]:
    try:
        status = os.fstat(fd)
    except OSError:
        return (-1, -1)
    return status.st_dev, status.st_ino


def what_is_inherited(status: bytes) -> Any:
    """Return all that a command would inherit from this thread and that no request carries."""
    root = os.stat("/")
    return (
        [line for line in status.splitlines() if line.startswith(INHERITED)],
        [resource.getrlimit(limit) for limit in LIMITS],
        [_namespace(name) for name in NAMESPACES],
        [procfs.read(f"/proc/thread-self/{name}", 4096) for name in ("cgroup", "oom_score_adj")],
        (root.st_dev, root.st_ino),
        os.sched_getscheduler(0),
        os.getpriority(os.PRIO_PROCESS, 0),
    )


def _namespace(name: str) -> str:
    try:
        return os.readlink(f"/proc/thread-self/ns/{name}")
    except OSError:
        return ""


def _hand_over(socket: _socket.socket, fds: Sequence[int]) -> bool:
    """Send descriptors in one message; False when nobody is there any more."""
    packed = b"".join(fd.to_bytes(FD_BYTES, sys.byteorder) for fd in fds)
    try:
        socket.sendmsg([b"call"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, packed)], _socket.MSG_NOSIGNAL)
    except OSError as problem:
        if problem.errno in NOBODY_THERE:
            return False
        raise
    return True


def take(socket: _socket.socket) -> list[int] | None:
    """Return the descriptors of the next call, or None when the host is gone."""
    data, ancillary, _, _ = socket.recvmsg(
        FD_BYTES, _socket.CMSG_SPACE(FD_BYTES * MOST_FDS), _socket.MSG_CMSG_CLOEXEC
    )
    packed = b"".join(found for _, _, found in ancillary)
    fds = [
        int.from_bytes(packed[at : at + FD_BYTES], sys.byteorder) for at in range(0, len(packed), FD_BYTES)
    ]
    return fds if data else None
