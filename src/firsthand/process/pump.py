"""One poll over everything that can happen to a run: output, the child's end, orders from the caller."""

from __future__ import annotations

import os
import select

from firsthand.process import signals, spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Sink(Protocol):
        """Takes one stream's bytes, and copies what it keeps."""

        def feed(self, chunk: memoryview, /) -> None: ...


FIRST_BUFFER, BUFFER_SIZE = 8 * 1024, 256 * 1024
"""Bytes of one read: few at first, for most commands print little and untouched pages cost nothing; once
that is filled, as much as a pipe holds that is widened then."""

READS_A_TURN = 8
"""Reads of one stream before the other things are looked at: a flood must not starve the clock."""


LONGEST_WAIT = 86_400.0
"""Seconds of one poll at most: the kernel takes 24 days, and every loop looks at its own clock anyway."""


class Orders:
    """What the caller has asked of a run: cancelled by a signal, or the caller is gone.

    Both descriptors carry signal numbers as bytes; end-of-file on ``control``: nobody waits any more.
    """

    __slots__ = ("control", "gone", "signals", "wake")

    def __init__(self, control: int = -1, wake: int = -1) -> None:
        self.control = control
        self.wake = wake
        self.gone = False
        self.signals: list[int] = []

    @property
    def fds(self) -> list[int]:
        return [fd for fd in (self.control, self.wake) if fd >= 0]

    @property
    def why(self) -> str | None:
        """The word for ``error`` that these orders amount to, or None."""
        if self.signals:
            return "cancelled"
        return "runner_died" if self.gone else None

    @property
    def hurry(self) -> bool:
        """True after a second signal: the caller will not wait for a polite end."""
        return len(self.signals) > 1

    def take(self, fd: int) -> bool:
        """Read what has arrived on one of ours; False when that descriptor has nothing more to say."""
        try:
            data = os.read(fd, 64)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if not data and fd == self.control:
            self.gone = True
        self.signals += [number for number in data if number in signals.CANCELLING]
        return bool(data)


class Pump:
    """Reads two streams into their sinks, whatever else is waited for."""

    def __init__(self, streams: Sequence[tuple[int, Sink]], orders: Orders, pidfd: int = -1) -> None:
        self.streams = dict(streams)
        self.orders = orders
        self.view = memoryview(bytearray(FIRST_BUFFER))
        self.poller = select.poll()
        for fd in [*self.streams, *orders.fds, *([pidfd] if pidfd >= 0 else [])]:
            self.poller.register(fd, select.POLLIN)

    @property
    def open(self) -> bool:
        """True while a stream has not reached its end of file."""
        return bool(self.streams)

    def turn(self, seconds: float | None) -> None:
        """Wait up to ``seconds`` for anything to happen, and take it in."""
        for fd, _ in self.poller.poll(_milliseconds(seconds)):
            if fd in self.streams:
                self._drain(fd)
            elif fd in self.orders.fds:
                if not self.orders.take(fd):
                    self.poller.unregister(fd)
            else:
                self._other(fd)

    def _other(self, fd: int) -> None:
        """The child's pidfd: readable for good, so it is noted once."""
        self.poller.unregister(fd)

    def ready(self) -> bool:
        """Tell whether something has happened that the next turn would take in at once."""
        return bool(self.poller.poll(0))

    def finish(self) -> None:
        """Take what already lies in the pipes, without waiting for more: somebody may go on writing."""
        for fd in list(self.streams):
            self._drain(fd)

    def release(self) -> list[int]:
        """Give up the streams that are still open and return their descriptors."""
        fds = list(self.streams)
        self.streams = {}
        return fds

    def _drain(self, fd: int) -> None:
        for _ in range(READS_A_TURN):
            if fd not in self.streams or not self._read(fd):
                return

    def _read(self, fd: int) -> bool:
        try:
            count = os.readv(fd, [self.view])
        except BlockingIOError:
            return False
        except OSError:
            count = 0
        if count == 0:
            self._close(fd)
            return False
        self.streams[fd].feed(self.view[:count])
        if count == FIRST_BUFFER == len(self.view):
            self._grow()
        return True

    def _grow(self) -> None:
        self.view = memoryview(bytearray(BUFFER_SIZE))
        for fd in self.streams:
            spawn.widen(fd)

    def _close(self, fd: int) -> None:
        self.poller.unregister(fd)
        del self.streams[fd]
        os.close(fd)


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else max(0, round(min(seconds, LONGEST_WAIT) * 1000 + 0.5))
