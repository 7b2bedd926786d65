"""Decoded text to plain text: no terminal sequences, settled carriage returns, visible controls."""

from __future__ import annotations

from firsthand.plain import VISIBLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LIKE = 8
"""Characters by which two frames are compared: the label of a progress line, not its changing end."""

_CHANGING = dict.fromkeys(
    [
        *map(ord, "0123456789 \t\xa0#=-<>*.,:;%?|/\\_+~()[]{}"),
        *range(0x2500, 0x2600),  # box drawing, blocks, geometric shapes
        *range(0x2800, 0x2900),  # Braille spinners
    ],
    "",
)
"""Digits, blanks, and what bars and spinners are drawn with."""


def without_sequences(text: str) -> str:
    """Return ``text`` without ANSI, OSC, DCS and character set sequences; none reaches over a line end."""
    if "\x1b" not in text and "\x9b" not in text:
        return text
    from firsthand.capture.escapes import remove

    return remove(text)


def settle(text: str, first: int) -> tuple[str, Sequence[int]]:
    """Return ``text`` with each frame that counts on a line of its own, and the raw line number of each.

    Args:
        text: lines ended by LF; carriage returns before an LF and at the end belong to the line end.
        first: the raw number of the first line.
    """
    lines = range(first, first + text.count("\n") + 1)
    text = text.replace("\r\n", "\n")
    if "\r" not in text:
        return text, lines
    settled: list[str] = []
    numbers: list[int] = []
    for number, line in zip(lines, text.split("\n"), strict=True):
        bare = line.rstrip("\r")
        frames = _frames(bare) if "\r" in bare else [bare]
        settled += frames
        numbers += [number] * len(frames)
    return "\n".join(settled), numbers


def _frames(line: str) -> list[str]:
    """Return the frames that are no earlier state of the one that overwrote them, and no mere blanks."""
    kept: list[str] = []
    successor = None
    keys = line.translate(_CHANGING).split("\r")
    for frame, key in zip(reversed(line.split("\r")), reversed(keys), strict=True):
        if not frame.strip(" \t"):
            continue
        if successor is None or not successor.startswith(key[:_LIKE]):
            kept.append(frame)
        successor = key
    return kept[::-1] or [""]


def visible(text: str) -> str:
    """Return ``text`` with no control character but tab and LF, and no zero-width or bidi one."""
    return text.translate(VISIBLE)
