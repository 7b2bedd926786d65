"""Processes that a record names, long after their command: found again by pid and start, and stopped.

A pid may have gone to another process since. So a process is held by a pidfd that was opened *before* pid and
start were compared, and signalled through it: it can only ever be the process that the record means.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import time

from firsthand import survey
from firsthand.process.ending import GIVE_UP, GRACE
from firsthand.procfs import UNKNOWN_BOOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Name = tuple[int, str]
    """pid and ``BOOT_ID:STARTTIME``."""

PID_MOST = 1 << 22
"""No Linux has a larger pid (PID_MAX_LIMIT); a record that names one was not written by us."""

OURS = "this very command runs below it"
FOREIGN = "it belongs to another user"
STUCK = "it did not end after SIGKILL"


def is_name(pid: Any, start: Any) -> bool:
    """Tell whether these two can name one process for good; without a start they never do."""
    usable = type(pid) is int and 0 < pid <= PID_MOST and isinstance(start, str)
    return usable and not start.startswith(f"{UNKNOWN_BOOT}:")


def is_alive(pid: int, start: str) -> bool:
    """Tell whether this very process is alive."""
    process = survey.look(pid) if is_name(pid, start) else None
    return process is not None and process.alive and process.stamp == start


def stop(names: Iterable[Name]) -> dict[Name, str]:
    """End these processes: SIGTERM, SIGKILL after ``GRACE``; return those that are left, and why."""
    left: dict[Name, str] = {}
    held: dict[Name, int] = {}
    try:
        for name in dict.fromkeys(names):
            _take(name, held, left)
        _end({name: fd for name, fd in held.items() if name not in left}, left)
    finally:
        for fd in held.values():
            os.close(fd)
    return left


def _take(name: Name, held: dict[Name, int], left: dict[Name, str]) -> None:
    """Hold one process and ask it to end."""
    try:
        fd = hold(*name)
    except OSError as problem:
        left[name] = f"no pidfd can be opened ({problem.strerror})"
        return
    if fd is None:
        return
    held[name] = fd
    if name[0] in _above():
        left[name] = OURS
    elif not _send(fd, signal.SIGTERM):
        left[name] = FOREIGN
    else:
        _send(fd, signal.SIGCONT)  # a stopped one acts on its SIGTERM only when it goes on


def hold(pid: int, start: str) -> int | None:
    """Return a pidfd of this very process, or None where it is gone.

    Raises:
        OSError: the system gives none.
    """
    if not is_name(pid, start):
        return None
    try:
        fd = os.pidfd_open(pid)
    except OSError as problem:
        if problem.errno in {errno.ESRCH, errno.EINVAL}:  # no such process; only a thread of this number
            return None
        raise
    if is_alive(pid, start):
        return fd
    os.close(fd)
    return None


def _end(asked: dict[Name, int], left: dict[Name, str]) -> None:
    rest = _wait(asked, GRACE)
    for name, fd in rest.items():
        if not _send(fd, signal.SIGKILL):
            left[name] = FOREIGN
    left.update(dict.fromkeys(_wait(rest, GIVE_UP), STUCK) | left)


def _wait(held: dict[Name, int], seconds: float) -> dict[Name, int]:
    """Wait until all have ended, so many seconds at most; return those that have not."""
    until = time.monotonic() + seconds
    rest = dict(held)
    while rest:
        poller = select.poll()
        for fd in rest.values():
            poller.register(fd, select.POLLIN)  # a pidfd is readable once its process has ended
        ended = {fd for fd, _ in poller.poll(max(0.0, until - time.monotonic()) * 1000)}
        if not ended:
            return rest
        rest = {name: fd for name, fd in rest.items() if fd not in ended}
    return rest


def _send(fd: int, number: int) -> bool:
    """Signal a held process, which may have ended; False where that is not ours to do."""
    try:
        signal.pidfd_send_signal(fd, number)
    except PermissionError:
        return False
    except ProcessLookupError:
        pass
    return True


def _above() -> set[int]:
    """Return this process and all above it: to stop one of them would be to end in the middle."""
    found: set[int] = set()
    pid = os.getpid()
    while pid and pid not in found:
        found.add(pid)
        process = survey.look(pid)
        pid = process.parent if process else 0
    return found
