"""The lines that the windows hold, redacted, with their raw numbers and what is missing between them."""

from __future__ import annotations

from firsthand.capture.text import settle, visible, without_sequences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firsthand.capture.gap import Gap
    from firsthand.capture.windows import Windows


def lines_marker(count: int) -> str:
    """Return what stands for ``count`` raw lines of which nothing is shown."""
    return f"...truncated {count} lines..."


def characters_marker(count: int) -> str:
    """Return what stands for ``count`` code points that are not shown."""
    return f"...truncated {count} characters..."


class Section:
    """The lines of one contiguous text; each frame that counts is a line with its raw line's number."""

    __slots__ = ("last", "numbers", "texts")

    def __init__(self, texts: list[str], numbers: Sequence[int], last: int) -> None:
        self.texts = texts
        self.numbers = numbers
        self.last = last
        """Raw number of the last line; redaction may have joined several lines to one."""


class Sheet:
    """Every line of both windows, in order.

    Args:
        windows: the stream's raw bytes, at least one.
        redact: gets each contiguous text once and whole.
    """

    __slots__ = ("_above", "_below", "breaks", "hidden", "jump", "texts", "total")

    def __init__(self, windows: Windows, redact: Callable[[str], str]) -> None:
        head, gap, tail = windows.texts()
        self.breaks: dict[int, tuple[str, int, str]] = {}
        """Lines that the gap cuts, by index: start, code points missing, end."""
        self.hidden = (0, 0)
        """First and last raw number of the lines that are not here wholly; (0, 0): none."""
        self.jump: int | None = None
        """Index of the first line after those of which nothing is here."""
        self._above = Section([], (), 0)
        if gap is None:
            self._below = _section(head, 1, redact)
        else:
            if head:
                self._above = _section(head, 1, redact)
            self._below = _section(tail, head.count("\n") + gap.lines + 1, redact)
            self._join(gap, opened=bool(head) and not head.endswith("\n"))
        self.texts = self._above.texts + self._below.texts
        for index, (start, missing, end) in self.breaks.items():
            self.texts[index] = start + characters_marker(missing) + end
        self.total = self._below.last
        """Lines of the raw stream."""

    def number(self, index: int) -> int:
        """Return the raw number of the line at ``index``."""
        beyond = index - len(self._above.texts)
        return self._above.numbers[index] if beyond < 0 else self._below.numbers[beyond]

    def last_number(self, index: int) -> int:
        """Return the last raw number that the line at ``index`` stands for; not for the last index."""
        if index + 1 == self.jump:
            return self._above.last
        return max(self.number(index), self.number(index + 1) - 1)

    def size(self, index: int) -> int:
        """Return the code points of the line at ``index``, those that the gap swallowed included."""
        start, missing, end = self.breaks.get(index, (self.texts[index], 0, ""))
        return len(start) + missing + len(end)

    def rows(self) -> list[tuple[int, str]]:
        """Return raw number and text of every line; one that the gap cuts has the marker in it."""
        numbers = [*self._above.numbers, *self._below.numbers]
        return list(zip(numbers, self.texts, strict=True))

    def blocks(self) -> list[tuple[int, str]]:
        """Return the same in runs of consecutive numbers: the first number, and the lines joined by LF."""
        found: list[tuple[int, str]] = []
        begin, expected = 0, 0
        for index in range(len(self.texts) + 1):
            number = self.number(index) if index < len(self.texts) else -1
            if number != expected and index:
                found.append((expected - (index - begin), "\n".join(self.texts[begin:index])))
            if number != expected:
                begin, expected = index, number
            expected += 1
        return found

    def _join(self, gap: Gap, *, opened: bool) -> None:
        """Note what the gap cuts; ``opened``: the last line above has no end there."""
        above, below = self._above, self._below
        at = len(above.texts)
        first, last = above.last + 1, below.numbers[0] - 1
        if opened and not gap.lines:  # one line goes through the whole gap
            self.breaks[at - 1] = (above.texts[-1], gap.before, below.texts.pop(0))
            below.numbers = below.numbers[1:]
            first, last = above.last, above.last
        else:
            self.jump = at if last >= first else None
            if opened and gap.before:
                self.breaks[at - 1] = (above.texts[-1], gap.before, "")
                first = above.last
            if gap.after:
                self.breaks[at] = ("", gap.after, below.texts[0])
                last += 1
        self.hidden = (first, last) if last >= first else (0, 0)


def _section(text: str, first: int, redact: Callable[[str], str]) -> Section:
    """Return the lines of ``text``, whose first raw number is ``first``; one final line end is dropped."""
    text = text.removesuffix("\n")
    settled, numbers = settle(without_sequences(text), first)
    plain = visible(settled)
    texts = redact(plain).split("\n")
    if len(texts) != len(numbers):
        numbers = _renumbered(plain.split("\n"), numbers, texts)
    return Section(texts, numbers, first + text.count("\n"))


def _renumbered(before: list[str], numbers: Sequence[int], after: list[str]) -> list[int]:
    """Return the raw number of each line of ``after``, where redaction made several lines one.

    A line stands for all up to the one that follows it, where that one is found unchanged.
    """
    known = set(before)
    spare = max(0, len(before) - len(after))
    found: list[int] = []
    place = 0
    for following in [*after[1:], ""]:
        found.append(numbers[min(place, len(numbers) - 1)])
        place += 1
        if spare and following in known and following in before[place : place + spare + 1]:
            joined = before.index(following, place) - place
            place += joined
            spare -= joined
    return found
