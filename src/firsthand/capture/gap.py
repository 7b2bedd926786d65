"""What lies between the two windows of a long stream: counted as it leaves, and its edges made safe."""

from __future__ import annotations

from _codecs import utf_8_decode

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


class Middle:
    """Running counts of the bytes that have left the tail window, independent of how they came."""

    __slots__ = ("after", "before", "carry", "lines", "returns")

    def __init__(self, head: bytearray) -> None:
        used = utf_8_decode(head, "replace", False)[1]
        self.lines = 0
        self.before = 0
        self.after = 0
        self.returns = 0
        """Carriage returns at the very end: if the first line feed follows, they belong to its line end."""
        self.carry = bytes(head[used:])
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


def texts(head: bytearray, tail: memoryview, middle: Middle, edge: int) -> tuple[str, Gap, str]:
    """Return the head's text, the gap and the tail's text.

    ``head`` and ``tail`` are the two windows; a token of up to ``edge`` bytes at their edge goes to the gap.
    """
    start, moved = _head_text(head, edge)
    end, passed = _tail_text(tail, middle, edge)
    gap = Gap(middle.lines, moved + middle.before, middle.after + passed)
    if not gap.lines:
        gap.before = gap.after = moved + gap.after
    if gap.after:
        end = _past_line_end(gap, end, 0 if passed else middle.returns)
    return start, gap, end


def _head_text(head: bytearray, edge: int) -> tuple[str, int]:
    """Return the head without a token at its end, and how many code points that moves to the gap."""
    last = bytes(head[max(0, len(head) - edge) :]).translate(_BLANKS)
    token = len(last.rpartition(b" ")[2])
    text, used = utf_8_decode(head[: len(head) - token], "replace", False)
    return text, len(utf_8_decode(head[used:], "replace", False)[0])


def _tail_text(tail: memoryview, middle: Middle, edge: int) -> tuple[str, int]:
    """Return the tail without a token at its start, and how many code points that moves to the gap."""
    first = bytes(tail[:edge]).translate(_BLANKS)
    token = len(first.partition(b" ")[0])
    withheld = middle.carry + tail[:token]
    moved, used = utf_8_decode(withheld, "replace", False)
    begun = withheld[used:]
    text = utf_8_decode(begun + tail[token:], "replace", True)[0]
    if begun:  # a character that began in the gap belongs to it
        return text[1:], len(moved) + 1
    return text, len(moved)


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
