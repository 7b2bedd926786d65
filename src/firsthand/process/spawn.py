"""Start one command: a new session, both streams on pipes, no terminal, every signal at its default."""

from __future__ import annotations

import errno
import fcntl
import os

from firsthand import procfs
from firsthand.process import executable, signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Launch = Callable[[bytes, list[bytes], Mapping[bytes, bytes], bytes, tuple[int, int, int]], int]

PIPE_SIZE = 256 * 1024
"""Bytes a pipe holds: best with a read buffer of the same size; a refusal (EPERM) is normal."""

FIRST_FREE_FD = 3
"""Our descriptors stay above standard input, output and error, whatever the caller has closed."""


LEAST_DESCRIPTORS = 20
"""A limit below this leaves a keeper no room for pipes, store and a late import; it uses 17 at once."""


def require_room() -> None:
    """Refuse to start where the limit on descriptors would strike in the middle of a run.

    Raises:
        OSError: EMFILE, before anything was started.
    """
    if 0 < os.sysconf("SC_OPEN_MAX") < LEAST_DESCRIPTORS:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


class Child:
    """A started command: its pid (also its session), the read ends of its streams and, later, its end."""

    __slots__ = ("executable", "fds", "inodes", "pid", "pidfd", "start", "status")

    def __init__(self, pid: int, path: bytes, fds: tuple[int, int]) -> None:
        self.pid = pid
        self.executable = path
        self.fds = fds
        self.inodes = frozenset(os.fstat(fd).st_ino for fd in fds)
        self.pidfd = _open_pidfd(pid)
        self.start = procfs.start_stamp(pid)
        self.status: tuple[str, int] | None = None

    def poll(self) -> bool:
        """Read the child's end if it has come: ``("exited", code)``, ``("signal", n)`` or ``("lost", 0)``."""
        if self.status is None:
            self.status = wait(self.pid)
        return self.status is not None

    def close(self) -> None:
        fd, self.pidfd = self.pidfd, -1
        if fd >= 0:
            os.close(fd)


def wait(pid: int, flags: int = os.WNOHANG) -> tuple[str, int] | None:
    """Take the status of our own child from the kernel; None while it runs, ``lost`` if another took it.

    ``waitid`` on the pid and never ``Popen.returncode``: with SIGCHLD ignored, or in a host that reaps
    everything, CPython reports 0 for ``exit 3``.
    """
    try:
        result = os.waitid(os.P_PID, pid, os.WEXITED | flags)
    except ChildProcessError:
        return ("lost", 0)
    if result is None:
        return None
    return ("exited" if result.si_code == os.CLD_EXITED else "signal", result.si_status)


def pipe(flags: int = 0) -> tuple[int, int]:
    """Return a close-on-exec pipe, its ends above the standard descriptors; ``flags`` as for ``pipe2``."""
    ends = os.pipe2(os.O_CLOEXEC | flags)
    if min(ends) >= FIRST_FREE_FD:
        return ends
    try:
        return (raise_fd(ends[0]), raise_fd(ends[1]))
    finally:
        for fd in ends:
            os.close(fd)


def raise_fd(fd: int) -> int:
    """Duplicate ``fd`` above the standard descriptors, close-on-exec."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE_FD)


def start(
    argv: list[bytes],
    env: Mapping[bytes, bytes],
    cwd: bytes,
    *,
    stdin: int | None = None,
    enter: bool = True,
) -> Child:
    """Start ``argv`` in ``cwd`` and return it running.

    With ``enter`` the calling process is our own and goes to ``cwd`` (``posix_spawn`` has no folder
    argument); without it ``subprocess`` starts the command there and closes what a host has made
    inheritable. ``stdin`` is a descriptor, else ``/dev/null``.

    Raises:
        executable.StartError: nothing was started; all descriptors are closed again.
    """
    executable.check_argv(argv)
    executable.check_folder(cwd)
    if enter:
        os.chdir(cwd)
    path = executable.find(argv[0], cwd, env.get(b"PATH"))
    opened: list[int] = []
    try:
        return _start(
            path,
            argv,
            env,
            cwd,
            stdin=stdin,
            launch=_spawn_here if enter else _spawn_there,
            opened=opened,
        )
    except OSError as problem:
        from firsthand.process import refusal

        raise refusal.explain(problem, path, argv) from None
    finally:
        for fd in opened:
            os.close(fd)


def _start(
    path: bytes,
    argv: list[bytes],
    env: Mapping[bytes, bytes],
    cwd: bytes,
    *,
    stdin: int | None,
    launch: Launch,
    opened: list[int],
) -> Child:
    reads: list[int] = []
    try:
        for _ in range(2):
            read_end, write_end = pipe()
            reads.append(read_end)
            opened.append(write_end)
        if stdin is None:
            stdin = raise_fd_of(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
            opened.append(stdin)
        pid = launch(path, argv, env, cwd, (stdin, opened[0], opened[1]))
    except BaseException:
        for fd in reads:
            os.close(fd)
        raise
    for fd in reads:
        os.set_blocking(fd, False)
    return Child(pid, path, (reads[0], reads[1]))


def raise_fd_of(fd: int) -> int:
    """Move ``fd`` above the standard descriptors if it is not there yet."""
    if fd >= FIRST_FREE_FD:
        return fd
    try:
        return raise_fd(fd)
    finally:
        os.close(fd)


def widen(fd: int) -> None:
    """Let a pipe hold as much as one large read takes; a refusal is normal."""
    try:
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
    except (OSError, AttributeError):
        return


def _spawn_here(
    path: bytes, argv: list[bytes], env: Mapping[bytes, bytes], _: bytes, stdio: tuple[int, int, int]
) -> int:
    actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(stdio)]
    return os.posix_spawn(
        path, argv, dict(env), file_actions=actions, setsid=True, setsigdef=signals.every(), setsigmask=[]
    )


def _spawn_there(
    path: bytes, argv: list[bytes], env: Mapping[bytes, bytes], cwd: bytes, stdio: tuple[int, int, int]
) -> int:
    import subprocess  # noqa: TID251  # vfork with a working folder; the host has it imported as a rule

    process = subprocess.Popen(
        argv,
        executable=path,
        stdin=stdio[0],
        stdout=stdio[1],
        stderr=stdio[2],
        cwd=cwd,
        env=dict(env),
        start_new_session=True,
    )
    process.returncode = 0  # its destructor must not wait: the status is ours to read, by waitid
    return process.pid


def _open_pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except OSError:  # a kernel before 5.3, or no descriptor left: the loops then look at short intervals
        return -1
