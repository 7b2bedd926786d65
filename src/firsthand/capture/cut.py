"""Cut to lines, then long lines, then bytes; every marker's number is exact."""

from __future__ import annotations

from firsthand.capture.lines import characters_marker, lines_marker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.capture.kept import Limits
    from firsthand.capture.lines import Sheet

_REDACTED = "[REDACTED"
"""Begins the marker that stands for a secret; a long line is not cut inside one."""

_REDACTED_LONGEST = 128
"""Characters: a bracket that closes later belongs to no such marker."""


class Shown:
    """What is shown of a sheet."""

    __slots__ = ("cut", "lines_cut", "text")

    def __init__(self, text: str, lines_cut: int, *, cut: bool) -> None:
        self.text = text
        self.lines_cut = lines_cut
        self.cut = cut


def cut(sheet: Sheet, limits: Limits) -> Shown:
    """Return the first and the last lines of ``sheet`` that the limits allow, and the markers."""
    head_stop, tail_start = _chosen(sheet, limits)
    longest = limits.line_characters
    head = [_line(sheet, index, longest) for index in range(head_stop)]
    tail = [_line(sheet, index, longest) for index in range(tail_start, len(sheet.texts))]
    lines_cut, markers = _fit(sheet, head, tail, limits)
    text = "\n".join([*head, *markers, *tail])
    whole = head + tail == sheet.texts and not lines_cut and not sheet.breaks
    return Shown(text, lines_cut, cut=not whole)


def _chosen(sheet: Sheet, limits: Limits) -> tuple[int, int]:
    """Return where the head's lines stop and the tail's start; head and tail never reach over the gap."""
    count = len(sheet.texts)
    if sheet.jump is not None:
        return min(limits.head_lines, sheet.jump), max(sheet.jump, count - limits.tail_lines)
    head_stop = min(limits.head_lines, count - 1)
    return head_stop, max(head_stop, count - limits.tail_lines)


def _fit(sheet: Sheet, head: list[str], tail: list[str], limits: Limits) -> tuple[int, list[str]]:
    """Drop lines until all fits in the stream's bytes; return the number of lines cut and the markers."""
    count = len(sheet.texts)
    room = limits.stream_bytes + 1  # the last line needs no LF
    size = _size(head) + _size(tail)
    gone = 0
    while size > room or size + _size(_markers(sheet, len(head), count - len(tail) + gone)[1]) > room:
        if gone + 1 < len(tail):
            size -= _size(tail[gone : gone + 1])
            gone += 1
        elif head:
            size -= _size([head.pop()])
        else:
            break
    del tail[:gone]
    lines_cut, markers = _markers(sheet, len(head), count - len(tail))
    room -= _size(head) + _size(markers)
    longest = limits.line_characters
    while _size(tail) > room and longest > 0:  # only the last line is left, and it is too long
        longest -= max(1, (_size(tail) - room) // 4)
        tail[0] = _line(sheet, count - 1, longest)
    return lines_cut, markers


def _size(lines: list[str]) -> int:
    """Return the bytes that lines take, their LFs included."""
    return sum(len(line) if line.isascii() else len(line.encode()) for line in lines) + len(lines)


def _markers(sheet: Sheet, head_stop: int, tail_start: int) -> tuple[int, list[str]]:
    """Return how many raw lines are not shown at all, and the markers between head and tail.

    A raw line of which only some frames are shown is not cut; the characters of the others are counted.
    """
    last = sheet.number(tail_start)
    above = below = 0
    start, stop = head_stop, tail_start
    while head_stop and start < stop and sheet.number(start) == sheet.number(head_stop - 1):
        above += sheet.size(start)
        start += 1
    while start < stop and sheet.number(stop - 1) == last:
        stop -= 1
        below += sheet.size(stop)
    lines = max(0, last - 1 - (sheet.last_number(head_stop - 1) if head_stop else 0))
    markers = [
        characters_marker(above) if above else "",
        lines_marker(lines) if lines else "",
        characters_marker(below) if below else "",
    ]
    return lines, [marker for marker in markers if marker]


def _line(sheet: Sheet, index: int, longest: int) -> str:
    """Return the line at ``index``, cut in its middle where it has more than ``longest`` characters."""
    text = sheet.texts[index]
    if len(text) <= longest:
        return text
    start, _, end = sheet.breaks.get(index, (text, 0, text))
    return _shortened(start, end, sheet.size(index), longest)


def _shortened(start: str, end: str, total: int, longest: int) -> str:
    """Return the start of ``start``, the marker and the end of ``end``: ``longest`` characters at most.

    ``total`` is the line's number of code points; the marker alone is the least that is returned.
    """
    room = max(0, longest - len(characters_marker(total)))
    left = min(len(start), max(room - len(end), (room + 1) // 2))
    left = _outside(start, left)[0]
    right = min(len(end), room - left)
    begin = _outside(end, len(end) - right)[1]
    missing = total - left - (len(end) - begin)
    return start[:left] + characters_marker(missing) + end[begin:]


def _outside(text: str, place: int) -> tuple[int, int]:
    """Return both ends of the redaction marker that a cut at ``place`` goes through, else ``place`` twice."""
    begin = text.rfind(_REDACTED, max(0, place - _REDACTED_LONGEST), place + len(_REDACTED) - 1)
    if begin < 0 or begin >= place:
        return place, place
    end = text.find("]", begin, begin + _REDACTED_LONGEST) + 1
    return (begin, end) if end > place else (place, place)
