"""The keeper's side of a live view: the output goes on to the front, which may be slow or stopped."""

from __future__ import annotations

import os
import select
import time
from collections import deque

from firsthand.process.pump import BUFFER_SIZE, Pump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from firsthand.process.pump import Orders, Sink

GAP, STDOUT, STDERR = 0, 1, 2
"""What a frame holds: how many bytes of each stream were left out here, or bytes of one stream."""

HEADER_BYTES, LENGTH_BYTES, COUNT_BYTES = 5, 4, 8
"""A frame begins with one byte that says what it holds, then its length; a gap has two counts."""

MOST_QUEUED = 512 * 1024
"""Bytes that wait for the front at most: some thousand lines, and little beside the keeper's own memory."""

FULL = MOST_QUEUED - BUFFER_SIZE
"""Bytes with which the queue has no room for one more read."""

PATIENCE = 2.0
"""Seconds in all for which a full queue keeps the command waiting, as any terminal does.

Nothing is left out for a reader that is a little slower, and one that has stopped cannot hold up a run.
"""


class Queue:
    """What the front has not taken yet; above the bound the oldest is left out, and counted."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        """The write end of the pipe to the front; it never blocks."""
        self.size = 0
        self.gone = False
        self._frames: deque[tuple[int, bytes]] = deque()
        self._begun = memoryview(b"")
        self._left_out = {STDOUT: 0, STDERR: 0}

    @property
    def waiting(self) -> bool:
        """True while the front has something to take."""
        return not self.gone and bool(self._begun or self._frames)

    def pump(self, streams: Sequence[tuple[int, Sink]], orders: Orders, pidfd: int) -> Pump:
        """Return a pump that fills this queue."""
        return LivePump(self, streams, orders, pidfd)

    def put(self, stream: int, chunk: memoryview) -> None:
        """Take bytes of one stream and pass on what the pipe takes now."""
        if self.gone:
            return
        self._frames.append((stream, bytes(chunk)))
        self.size += len(chunk)
        self.flush()
        while self.size > MOST_QUEUED:
            lost, data = self._frames.popleft()
            self.size -= len(data)
            self._left_out[lost] += len(data)

    def flush(self) -> None:
        """Pass on what the pipe takes now."""
        while self._next():
            try:
                self._begun = self._begun[os.write(self.fd, self._begun) :]
            except BlockingIOError:
                return
            except OSError:  # the front is gone: the end of its control pipe says so
                self.gone = True
                return

    def rest(self) -> bytes:
        """Take out all that still waits, to be sent with the answer."""
        found = []
        while not self.gone and self._next():
            found.append(bytes(self._begun))
            self._begun = memoryview(b"")
        return b"".join(found)

    def _next(self) -> bool:
        """Begin the next frame where the last one is done; False when there is none."""
        if self._begun:
            return True
        if any(self._left_out.values()):
            counts = [count.to_bytes(COUNT_BYTES, "big") for count in self._left_out.values()]
            self._begin(GAP, b"".join(counts))
            self._left_out = dict.fromkeys(self._left_out, 0)
        elif self._frames:
            stream, data = self._frames.popleft()
            self.size -= len(data)
            self._begin(stream, data)
        return bool(self._begun)

    def _begin(self, kind: int, data: bytes) -> None:
        self._begun = memoryview(bytes([kind]) + len(data).to_bytes(LENGTH_BYTES, "big") + data)


class Tap:
    """Feeds one stream's bytes to its sink, and to the queue as well."""

    __slots__ = ("queue", "sink", "stream")

    def __init__(self, sink: Sink, queue: Queue, stream: int) -> None:
        self.sink, self.queue, self.stream = sink, queue, stream

    def feed(self, chunk: memoryview) -> None:
        """Take the stream's next bytes."""
        self.sink.feed(chunk)
        self.queue.put(self.stream, chunk)


class LivePump(Pump):
    """A pump that fills a queue too, and reads no more for a moment while that is full."""

    def __init__(self, queue: Queue, streams: Sequence[tuple[int, Sink]], orders: Orders, pidfd: int) -> None:
        tapped = [(fd, Tap(sink, queue, number)) for number, (fd, sink) in enumerate(streams, STDOUT)]
        super().__init__(tapped, orders, pidfd)
        self.queue = queue
        self.patience = PATIENCE
        self._registered = set(self.streams)

    def turn(self, seconds: float | None) -> None:
        """Wait up to ``seconds`` for anything to happen, and take it in."""
        held = self._held()
        self._register(held=held)
        if not held:
            super().turn(seconds)
            return
        began = time.monotonic()
        super().turn(self.patience if seconds is None else min(seconds, self.patience))
        self.patience -= time.monotonic() - began

    def finish(self) -> None:
        """Take what already lies in the pipes: nobody is kept waiting any more."""
        self.patience = 0
        self._register(held=False)
        super().finish()

    def _held(self) -> bool:
        return self.patience > 0 and not self.queue.gone and self.queue.size >= FULL

    def _register(self, *, held: bool) -> None:
        """Have the poll look at the streams unless they are held, and at the queue while it has something."""
        wanted = {} if held else dict.fromkeys(self.streams, select.POLLIN)
        if self.queue.waiting:
            wanted[self.queue.fd] = select.POLLOUT
        for fd in self._registered.difference(wanted):
            self.poller.unregister(fd)
        for fd in wanted.keys() - self._registered:
            self.poller.register(fd, wanted[fd])
        self._registered = set(wanted)

    def _other(self, fd: int) -> None:
        if fd == self.queue.fd:
            self.queue.flush()
            return
        super()._other(fd)
        self.patience = 0  # the child has ended, and what is left in its pipes is little

    def _read(self, fd: int) -> bool:
        return not self._held() and super()._read(fd)

    def _close(self, fd: int) -> None:
        super()._close(fd)
        self._registered.discard(fd)


def left_out(content: bytes) -> dict[int, int]:
    """Return how many bytes of each stream a gap stands for."""
    counts = (content[:COUNT_BYTES], content[COUNT_BYTES:])
    return {stream: int.from_bytes(count, "big") for stream, count in enumerate(counts, STDOUT)}


class Frames:
    """Takes frames apart, in whatever pieces they arrive."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Take bytes and yield ``(GAP | STDOUT | STDERR, content)`` of each frame that is whole."""
        self._data += data
        while len(self._data) >= HEADER_BYTES:
            end = HEADER_BYTES + int.from_bytes(self._data[1:HEADER_BYTES], "big")
            if len(self._data) < end:
                return
            frame = self._data[0], bytes(self._data[HEADER_BYTES:end])
            del self._data[:end]
            yield frame
