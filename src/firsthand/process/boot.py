"""Start a process of our own by exec: safe in a threaded host, and nothing of the host's comes along."""

from __future__ import annotations

import errno
import fcntl
import os
import sys

from firsthand.process import signals, spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CODE = """\
import os, sys
if os.fork():
    os._exit(0)
sys.path.insert(0, sys.argv[1])
import {module}
{module}.{function}()
"""
"""What it runs: ``-I -S`` leave it nothing of the host's paths but the package's own. It is no child of
whoever started it, who may be waiting for all children."""


def start(module: str, function: str, fds: Sequence[int | None], *words: str) -> None:
    """Start ``module.function()`` in a session of its own, with ``words`` from ``sys.argv[2]`` on.

    ``fds[n]`` becomes descriptor ``n``; None is ``/dev/null``.

    Raises:
        OSError: the system had nothing left to start it with.
    """
    if not sys.executable:
        raise FileNotFoundError(errno.ENOENT, "Python does not know its own path (sys.executable)")
    code = CODE.format(module=module, function=function)
    raised: list[int] = []
    try:
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        raised.append(null)
        for fd in fds:  # above every target, so that no dup2 overwrites what a later one needs
            raised += [fcntl.fcntl(null if fd is None else fd, fcntl.F_DUPFD_CLOEXEC, len(fds))]
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", code, _package_path(), *words],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(raised[1:])],
            setsid=True,
            setsigdef=signals.every(),
            setsigmask=[],
        )
    finally:
        for fd in raised:
            os.close(fd)
    spawn.wait(pid, 0)


def _package_path() -> str:
    path = os.path.abspath(__file__)
    for _ in __name__.split("."):
        path = os.path.dirname(path)
    return path
