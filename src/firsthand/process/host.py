"""The library's side: front and keeper started by exec for one call; the host's own state stays as it is."""

from __future__ import annotations

import os

from firsthand.process import boot, channel, keeper, signals, spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

STDIN_FD = 3
"""Where the keeper finds the command's standard input, if it has one."""


class NoKeeper(Exception):  # noqa: N818  # an answer, not a fault
    """No keeper could be started; ``problem`` is the system's refusal."""

    def __init__(self, problem: OSError) -> None:
        super().__init__(str(problem))
        self.problem = problem


def call(entry: tuple[str, str], request: dict[str, Any], stdin: int | None) -> Any | None:
    """Run one request in a keeper of its own and return its answer; None when the keeper was killed.

    A ``KeyboardInterrupt`` cancels the command, waits for its record and is raised again with the answer as
    its ``answer`` attribute.

    Raises:
        NoKeeper: the system had nothing left to start it with.
    """
    try:
        pid, down, up = _start(entry, stdin)
    except OSError as problem:
        raise NoKeeper(problem) from problem
    try:
        channel.send(down, {**request, "host": os.getpid(), "stdin": None if stdin is None else STDIN_FD})
        return _answer(up, down)
    finally:
        os.close(down)
        os.close(up)
        spawn.wait(pid, 0)


def _start(entry: tuple[str, str], stdin: int | None) -> tuple[int, int, int]:
    """Return the keeper's pid, the write end towards it and the read end from it."""
    opened: list[int] = []
    spawn.require_room()
    try:
        opened += spawn.pipe()
        opened += spawn.pipe()
        down_read, down, up, up_write = opened
        pid = boot.start(*entry, [down_read, up_write, None, *([] if stdin is None else [stdin])])
    except OSError:
        for fd in opened:
            os.close(fd)
        raise
    os.close(down_read)
    os.close(up_write)
    return pid, down, up


def _answer(up: int, down: int) -> Any | None:
    """Wait for the answer; an interrupt becomes a cancel, a second one makes it hard."""
    interrupt: KeyboardInterrupt | None = None
    inbox = channel.Inbox()
    while True:
        try:
            while inbox.take(up):
                pass
            break
        except KeyboardInterrupt as caught:
            interrupt = caught
            _cancel(down)
    if interrupt is not None:
        interrupt.answer = inbox.message()  # type: ignore[attr-defined]
        raise interrupt
    return inbox.message()


def _cancel(down: int) -> None:
    try:
        os.write(down, bytes([int(signals.CANCELLING[0])]))
    except OSError:  # it has finished meanwhile: its answer is in the pipe
        return


def serve(conduct: Callable[[dict[str, Any], list[int]], Any]) -> None:
    """Be what a host has started: request on descriptor 0, answer on 1.

    ``conduct`` gets the request and the descriptors that speak for the host, and returns the answer. The
    host may adopt nothing, so a front stands here too: if the keeper is shot, it ends what that one ran.
    """
    control, answer = spawn.raise_fd(0), spawn.raise_fd(1)
    request = channel.receive(control)
    if request is None:
        return
    keeper.close_all_but([control, answer, *([] if request["stdin"] is None else [request["stdin"]])])
    keeper.null_stdio()
    try:
        message = conduct(request, [control, *_pidfd(request["host"])])
    except BaseException:  # noqa: BLE001  # a fault of ours must reach the host as such, not as silence
        from firsthand.process import aftermath

        message = {"crash": aftermath.fault()}
    channel.send(answer, message)
    os._exit(0)


def _pidfd(pid: int) -> list[int]:
    """A forked child of the host can hold the control pipe open, so the host itself is watched as well."""
    try:
        return [os.pidfd_open(pid)]
    except OSError:
        return []
