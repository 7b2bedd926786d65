"""The library's side: a keeper started by exec for one call, without touching the host's own state."""

from __future__ import annotations

import os

from firsthand.process import boot, channel, signals, spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
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
            os.write(down, bytes([int(signals.CANCELLING[0])]))
    if interrupt is not None:
        interrupt.answer = inbox.message()  # type: ignore[attr-defined]
        raise interrupt
    return inbox.message()
