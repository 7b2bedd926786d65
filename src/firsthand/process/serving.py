"""The warm process itself: it forks a front for every call of its host, and ends with the host."""

from __future__ import annotations

import _socket
import gc
import os
import select
import sys

from firsthand.process import channel, keeper, signals, spawn, warm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Conduct = Callable[[dict[str, Any], int | None, list[int]], Any]
    """Runs a request, given the command's standard input and the descriptors that speak for the host."""


def serve(conduct: Conduct) -> None:
    """Be the warm process: calls come on descriptor 0, the host's pid is the second word; never returns.

    The host is watched by its pid as well as by the socket, which a forked child of it can hold open.
    """
    socket = _socket.socket(fileno=spawn.raise_fd(0))
    socket.setblocking(True)
    keeper.close_all_but([socket.fileno()])
    keeper.null_stdio()
    os.chdir("/")
    signals.reap_by_itself()
    gc.disable()
    host = _pidfd(int(sys.argv[2]))
    poller = select.poll()
    for fd in (socket.fileno(), *host):
        poller.register(fd, select.POLLIN)
    while not any(fd in host for fd, _ in poller.poll()):
        fds = warm.take(socket)
        if fds is None:
            break
        _fork(fds, host, conduct)
    os._exit(0)


def _pidfd(pid: int) -> list[int]:
    try:
        return [os.pidfd_open(pid)]
    except ProcessLookupError:
        os._exit(0)
    except OSError:  # a kernel before 5.3
        return []


def _fork(fds: list[int], host: list[int], conduct: Conduct) -> None:
    try:
        pid = os.fork()
    except OSError as problem:
        channel.send(fds[1], {"refused": problem.errno})
        pid = -1
    if pid == 0:
        try:
            _answer(fds, host, conduct)
        finally:  # whatever happens, this copy must not go on as if it were the warm process
            os._exit(0)
    for fd in fds:
        os.close(fd)


def _answer(fds: list[int], host: list[int], conduct: Conduct) -> None:
    """Be the front of one call: the host may adopt nothing, so if the keeper is shot, we end what it ran."""
    control, answer, *stdin = fds
    keeper.close_all_but([*range(spawn.FIRST_FREE_FD), *fds, *host])
    os.setsid()
    request = channel.receive(control)
    if request is None:
        return
    os.umask(request["umask"])
    try:
        message = conduct(request, stdin[0] if stdin else None, [control, *host])
    except BaseException:  # noqa: BLE001  # a fault of ours must reach the host as such, not as silence
        from firsthand.process import aftermath

        message = {"crash": aftermath.fault()}
    channel.send(answer, message)
