"""One stream's raw bytes: its first and its last ones, and exact counts of what lay between."""

from __future__ import annotations

from _codecs import utf_8_decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.capture.gap import Gap, Middle

HEAD_WINDOW = 16 * 1024
"""Bytes kept from the start of a stream: ten lines of 1,000 characters, and a token at the edge."""

TAIL_WINDOW = 128 * 1024
"""Bytes kept from its end: the last 50 lines of nearly every log, and enough to page through later."""

EDGE_TOKEN = 4096
"""Bytes: a run without a blank that touches a window's edge is withheld up to this length.

Half a secret matches no redaction rule. A longer run is no token but data, of which so much is dropped.
"""

_BUFFER_TAILS = 3
"""The tail's buffer is so many tail windows long: one to keep, two to fill before bytes move."""


class Windows:
    """The head and the tail of one stream, whatever its length; memory stays under half a MiB.

    Args:
        head: bytes kept from the start.
        tail: bytes kept from the end, at least 1.
        edge: bytes of a token that is withheld where it touches an edge of the gap.
    """

    __slots__ = ("_buffer", "_edge", "_end", "_head", "_head_size", "_middle", "_tail_size", "_view", "total")

    def __init__(self, head: int = HEAD_WINDOW, tail: int = TAIL_WINDOW, edge: int = EDGE_TOKEN) -> None:
        self.total = 0
        """Bytes seen."""
        self._head_size, self._tail_size, self._edge = head, tail, edge
        self._head = bytearray()
        self._buffer = bytearray()  # made when the head is full: most commands print little
        self._view = memoryview(self._buffer)
        self._end = 0
        self._middle: Middle | None = None

    def feed(self, chunk: bytes | bytearray | memoryview) -> None:
        """Take the stream's next bytes; what is kept is copied, so the caller may reuse its buffer."""
        view = memoryview(chunk)
        self.total += len(view)
        missing = self._head_size - len(self._head)
        if missing > 0:
            self._head += view[:missing]
            view = view[missing:]
        while len(view):
            view = view[self._append(view) :]

    def texts(self) -> tuple[str, Gap | None, str]:
        """Return the head's text, the gap and the tail's text; without a gap all of it is the first."""
        if self.total <= self._head_size + self._tail_size:
            return utf_8_decode(self._head + self._view[: self._end], "replace", True)[0], None, ""
        from firsthand.capture.gap import texts

        middle = self._evict()
        return texts(self._head, self._view[: self._end], middle, self._edge)

    def _append(self, view: memoryview) -> int:
        if self._end == len(self._view):
            if self._end:
                self._evict()
            else:
                self._buffer = bytearray(self._tail_size * _BUFFER_TAILS)
                self._view = memoryview(self._buffer)
        size = min(len(view), len(self._view) - self._end)
        self._view[self._end : self._end + size] = view[:size]
        self._end += size
        return size

    def _evict(self) -> Middle:
        """Count what is older than the tail window and move the window to the buffer's front."""
        if self._middle is None:
            from firsthand.capture.gap import Middle

            self._middle = Middle(self._head)
        stop = self._end - self._tail_size
        if stop > 0:
            self._middle.take(self._buffer, stop)
            self._view[: self._tail_size] = self._view[stop : self._end]
            self._end = self._tail_size
        return self._middle
