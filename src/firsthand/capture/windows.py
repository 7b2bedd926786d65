"""One stream's raw bytes: its first and its last ones, and exact counts of what lay between."""

from __future__ import annotations

from _codecs import utf_8_decode

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

_DECODE_STEP = 64 * 1024
"""Bytes decoded at once where characters are only counted: bounds the memory, stays in the cache."""

_BLANKS = bytes.maketrans(b"\t\n\r", b"   ")


class Gap:
    """What lay between the two windows, as counts; none of its text is known any more."""

    __slots__ = ("after", "before", "lines")

    def __init__(self, lines: int, before: int, after: int) -> None:
        self.lines = lines
        """Line feeds in the gap."""
        self.before = before
        """Code points before the first line feed, without the carriage returns of its line end."""
        self.after = after
        """Code points after the last line feed. Without a line feed both counts are of all."""


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
        self._middle: _Middle | None = None

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
        middle = self._evict()
        head, moved = self._head_text()
        tail, passed = self._tail_text(middle)
        gap = Gap(middle.lines, moved + middle.before, middle.after + passed)
        if not gap.lines:
            gap.before = gap.after = moved + gap.after
        if gap.after:
            tail = _past_line_end(gap, tail, 0 if passed else middle.returns)
        return head, gap, tail

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

    def _evict(self) -> _Middle:
        """Count what is older than the tail window and move the window to the buffer's front."""
        if self._middle is None:
            used = utf_8_decode(self._head, "replace", False)[1]
            self._middle = _Middle(bytes(self._head[used:]))
        stop = self._end - self._tail_size
        if stop > 0:
            self._middle.take(self._buffer, stop)
            self._view[: self._tail_size] = self._view[stop : self._end]
            self._end = self._tail_size
        return self._middle

    def _head_text(self) -> tuple[str, int]:
        """Return the head without a token at its end, and how many code points that moves to the gap."""
        last = bytes(self._head[max(0, len(self._head) - self._edge) :]).translate(_BLANKS)
        token = len(last.rpartition(b" ")[2])
        text, used = utf_8_decode(self._head[: len(self._head) - token], "replace", False)
        return text, len(utf_8_decode(self._head[used:], "replace", False)[0])

    def _tail_text(self, middle: _Middle) -> tuple[str, int]:
        """Return the tail without a token at its start, and how many code points that moves to the gap."""
        first = bytes(self._view[: min(self._edge, self._end)]).translate(_BLANKS)
        token = len(first.partition(b" ")[0])
        withheld = middle.carry + self._view[:token]
        moved, used = utf_8_decode(withheld, "replace", False)
        begun = withheld[used:]
        text = utf_8_decode(begun + self._view[token : self._end], "replace", True)[0]
        if begun:  # a character that began in the gap belongs to it
            return text[1:], len(moved) + 1
        return text, len(moved)


class _Middle:
    """Running counts of the bytes that have left the tail window, independent of how they came."""

    __slots__ = ("after", "before", "carry", "lines", "returns")

    def __init__(self, carry: bytes) -> None:
        self.lines = 0
        self.before = 0
        self.after = 0
        self.returns = 0
        """Carriage returns at the very end: if the first line feed follows, they belong to its line end."""
        self.carry = carry
        """Bytes of a character that is not complete yet; its lead byte is the first."""

    def take(self, buffer: bytearray, stop: int) -> None:
        """Count ``buffer[:stop]``; only its first and its last line are decoded."""
        view = memoryview(buffer)
        lines = buffer.count(b"\n", 0, stop)
        if not lines:
            self._measure(view[:stop])
            return
        if not self.lines:
            self._measure(view[: buffer.find(b"\n")])
            self.before = self.after + 1 if self.carry else self.after - self.returns
        self.lines += lines
        self.after = 0
        self.carry = b""
        self._measure(view[buffer.rfind(b"\n", 0, stop) + 1 : stop])

    def _measure(self, view: memoryview) -> None:
        for start in range(0, len(view), _DECODE_STEP):
            piece = self.carry + view[start : start + _DECODE_STEP]
            text, used = utf_8_decode(piece, "replace", False)
            self.carry = piece[used:]
            self.after += len(text)
            bare = len(text.rstrip("\r"))
            self.returns = len(text) - bare if bare else self.returns + len(text)


def _past_line_end(gap: Gap, tail: str, returns: int) -> str:
    """Give the gap the line end that its last line has at the tail's start: nothing of that line is shown.

    The stream's own last line end stays, so that its last line does. ``returns``: carriage returns at the
    gap's end.
    """
    rest = tail.lstrip("\r")
    if not rest.startswith("\n") or rest == "\n":
        return tail
    if not gap.lines:
        gap.before -= returns
    gap.lines += 1
    gap.after = 0
    return rest[1:]
