"""The library's calls: requests for the warm process, answered by a front and keeper that it forks."""

from __future__ import annotations

import os

from firsthand import procfs
from firsthand.process import channel, signals, spawn, warm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


UMASK_BEFORE_LINUX_4_7 = 0o077
"""Where the kernel does not tell it: what firsthand makes itself needs no more."""


class NoKeeper(Exception):  # noqa: N818  # an answer, not a fault
    """No keeper could be started; ``problem`` is the system's refusal."""

    def __init__(self, problem: OSError) -> None:
        super().__init__(str(problem))
        self.problem = problem


class Call:
    """One request on its way: ``up`` brings the answer, ``down`` takes the request and then signals.

    Raises:
        NoKeeper: the system had nothing left to start it with.
    """

    __slots__ = ("down", "inbox", "up")

    def __init__(self, entry: tuple[str, str], request: dict[str, Any], stdin: int | None) -> None:
        self.inbox = channel.Inbox()
        self.up = self.down = -1
        status = procfs.status()
        try:
            self._open(entry, stdin, status)
        except OSError as problem:
            self.close()
            raise NoKeeper(problem) from problem
        except BaseException:
            self.close()
            raise
        try:
            channel.send(self.down, {**request, "umask": _umask(status)})
        except BaseException:  # an interrupt: what has begun all the same is cancelled, not orphaned
            self.cancel()
            self.close()
            raise

    def _open(self, entry: tuple[str, str], stdin: int | None, status: bytes) -> None:
        spawn.require_room()
        theirs: list[int] = []
        try:
            down, self.down = spawn.pipe()
            theirs.append(down)
            self.up, up = spawn.pipe()
            theirs.append(up)
            warm.current().send(entry, [*theirs, *([] if stdin is None else [stdin])], status)
        finally:
            for fd in theirs:
                os.close(fd)

    def take(self) -> bool:
        """Read once from ``up``; False when the answer is whole or nobody is there any more."""
        return self.inbox.take(self.up)

    def answer(self) -> Any | None:
        """Return the answer; None when whoever was to give it was killed.

        Raises:
            NoKeeper: the warm process could not fork.
        """
        message = self.inbox.message()
        if message is not None and "refused" in message:
            raise NoKeeper(OSError(message["refused"], os.strerror(message["refused"])))
        return message

    def cancel(self) -> None:
        """Ask for a polite end; a second time for a hard one."""
        signals.cancel(self.down)

    def close(self) -> None:
        fds, self.up, self.down = (self.up, self.down), -1, -1
        for fd in fds:
            if fd >= 0:
                os.close(fd)


def _umask(status: bytes) -> int:
    """Return the umask of this process without changing it, as threads may be making files."""
    umask = procfs.value(status, b"Umask")
    return int(umask, 8) if umask else UMASK_BEFORE_LINUX_4_7


def call(entry: tuple[str, str], request: dict[str, Any], stdin: int | None) -> Any | None:
    """Run one request in a keeper and return its answer; None when front and keeper were killed.

    A ``KeyboardInterrupt`` cancels the command, waits for its record and is raised again with the answer as
    its ``answer`` attribute.

    Raises:
        NoKeeper: the system had nothing left to start it with.
    """
    started = Call(entry, request, stdin)
    try:
        return _wait(started)
    finally:
        started.close()


def _wait(started: Call) -> Any | None:
    """Wait for the answer; an interrupt becomes a cancel, a second one makes it hard."""
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            while started.take():
                pass
            break
        except KeyboardInterrupt as caught:
            interrupt = caught
            started.cancel()
    if interrupt is not None:
        interrupt.answer = started.answer()  # type: ignore[attr-defined]
        raise interrupt
    return started.answer()
