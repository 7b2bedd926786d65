"""What a record keeps of one stream, and the limits of it."""

from __future__ import annotations

from firsthand.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from firsthand.capture.lines import Sheet
    from firsthand.capture.windows import Windows

SMALLEST_LINE = 60
"""Characters: the marker of the longest stream that can be, and some of the line beside it."""

SMALLEST_STREAM = 256
"""Bytes: the last line, cut to its marker, with the other markers before it."""


class Limits:
    """How much of a stream's text a record holds.

    Args:
        head_lines: first lines kept, at least 0.
        tail_lines: last lines kept, at least 1.
        line_characters: code points of one line, its marker included, at least 60.
        stream_bytes: bytes of UTF-8 of the whole text, markers included, at least 256.

    Raises:
        UsageError: a limit is smaller than that.
    """

    __slots__ = ("head_lines", "line_characters", "stream_bytes", "tail_lines")

    def __init__(
        self,
        head_lines: int = 10,
        tail_lines: int = 50,
        line_characters: int = 1000,
        stream_bytes: int = 16 * 1024,
    ) -> None:
        for name, value, smallest in (
            ("head_lines", head_lines, 0),
            ("tail_lines", tail_lines, 1),
            ("line_characters", line_characters, SMALLEST_LINE),
            ("stream_bytes", stream_bytes, SMALLEST_STREAM),
        ):
            if value < smallest:
                raise UsageError(f"{name} is {value}", f"set {name} to {smallest} or more")
        self.head_lines = head_lines
        self.tail_lines = tail_lines
        self.line_characters = line_characters
        self.stream_bytes = stream_bytes

    def narrowed(self, stream_bytes: int) -> Limits:
        """Return the same limits with fewer bytes of a stream."""
        return Limits(self.head_lines, self.tail_lines, self.line_characters, stream_bytes)


class Kept:
    """The kept text of one stream and how it was cut."""

    __slots__ = ("_sheet", "cut", "hidden", "lines_cut", "lines_total", "text")

    def __init__(
        self, text: str = "", lines_cut: int = 0, sheet: Sheet | None = None, *, cut: bool = False
    ) -> None:
        self.text = text
        """What the record holds, markers included."""
        self.lines_cut = lines_cut
        """Lines of the raw stream (LF-ended ones and an unfinished last one) of which nothing is shown."""
        self.lines_total = sheet.total if sheet else 0
        """Lines of the raw stream."""
        self.cut = cut
        """True when anything was left out, lines or characters."""
        self.hidden = sheet.hidden if sheet else (0, 0)
        """First and last raw number of the lines that the windows do not hold wholly; (0, 0): none."""
        self._sheet = sheet

    @property
    def wide(self) -> list[tuple[int, str]]:
        """All lines and frames of both windows, redacted, with their raw numbers from 1; empty when not cut.

        Long lines are whole; one that the gap cuts has the marker in it. Built when asked for.
        """
        return self._sheet.rows() if self._sheet and self.cut else []

    @property
    def blocks(self) -> list[tuple[int, str]]:
        """``wide`` in runs of consecutive raw numbers: the first number, and the lines joined by LF.

        The same text in a fraction of the memory: half a window of empty lines is one string here.
        """
        return self._sheet.blocks() if self._sheet and self.cut else []


def keep(windows: Windows, redact: Callable[[str], str], limits: Limits) -> Kept:
    """Return what the record keeps of a stream; the same bytes give the same, however they came.

    Args:
        windows: the stream's raw bytes; it may be fed on afterwards.
        redact: gets each contiguous text once and whole, the head's before the tail's.
        limits: how much is kept.
    """
    if not windows.total:
        return Kept()
    from firsthand.capture.cut import cut
    from firsthand.capture.lines import Sheet

    sheet = Sheet(windows, redact)
    shown = cut(sheet, limits)
    return Kept(shown.text, shown.lines_cut, sheet, cut=shown.cut)
