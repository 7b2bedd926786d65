"""For any bytes and any chunking: the same kept text, exact numbers, met limits, nothing unprintable."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.capture import Kept, Limits, Windows, keep

HEAD, TAIL, EDGE = 48, 80, 10

LINES = re.compile(r"\.\.\.truncated (\d+) lines\.\.\.")
CHARACTERS = re.compile(r"\.\.\.truncated (\d+) characters\.\.\.")

GOOD = ["a", "bcd", "efghijklmnopqrs", " ", "  ", "\t", "\n", "\n\n", "é", "漢字", "😀"]
BAD = [b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\x80"]
WORDS = st.sampled_from([*map(str.encode, GOOD), *BAD])


def streams(parts: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Streams below, around and well above the size of both windows."""
    sizes = [(0, 30), (30, 70), (70, 150)]
    return st.one_of([st.lists(parts, min_size=low, max_size=high).map(b"".join) for low, high in sizes])


PLAIN = streams(WORDS)
"""Text, good and bad UTF-8, in which nothing is removed, settled or made visible; no dot, so no marker."""

CODES = [
    "\r",
    "\r\n",
    "\x1b",
    "\x1b[31m",
    "\x1b]0;t\x07",
    "\x1b]",
    "\x9b",
    "[",
    "m",
    "\x07",
    "\0",
    "\x7f",
    "50%",
]
TERMINAL = st.sampled_from([text.encode() for text in [*CODES, "\u200b", "\x85"]])
ANY = streams(st.one_of(WORDS, TERMINAL, st.binary(max_size=6)))

LIMITS = st.builds(
    Limits,
    head_lines=st.integers(0, 6),
    tail_lines=st.integers(1, 8),
    line_characters=st.integers(60, 90),
    stream_bytes=st.integers(256, 600),
)
SIZES = st.lists(st.integers(0, 300), min_size=1, max_size=60)


def kept(data: bytes, limits: Limits, sizes: list[int] | None = None, *, small: bool = True) -> Kept:
    """Feed ``data`` in chunks of these sizes, all from one buffer that is used again, then the rest."""
    windows = Windows(head=HEAD, tail=TAIL, edge=EDGE) if small else Windows()
    buffer = bytearray(300)
    for size in sizes or []:
        piece, data = data[:size], data[size:]
        buffer[: len(piece)] = piece
        windows.feed(memoryview(buffer)[: len(piece)])
        buffer[:] = b"#" * 300
    windows.feed(data)
    return keep(windows, str, limits)


def whole(result: Kept) -> tuple[object, ...]:
    return result.text, result.lines_cut, result.cut, result.lines_total, result.wide, result.hidden


def lines_of(data: bytes) -> list[str]:
    """The slow reference: the whole stream decoded at once and split."""
    return data.decode("utf-8", "replace").removesuffix("\n").split("\n") if data else []


def stands_for(shown: str, line: str) -> bool:
    """Whether ``shown`` is ``line``, or start, marker and end of it with the exact number."""
    found = CHARACTERS.search(shown)
    if not found:
        return shown == line
    start, end = shown[: found.start()], shown[found.end() :]
    missing = int(found[1])
    return (
        missing > 0
        and line.startswith(start)
        and line.endswith(end)
        and len(start) + missing + len(end) == len(line)
    )


@given(data=ANY, sizes=SIZES, limits=LIMITS)
@settings(deadline=None, max_examples=400)
def test_chunks_make_no_difference(data: bytes, sizes: list[int], limits: Limits) -> None:
    """However the bytes came, and however often one looks, the same is kept."""
    assert whole(kept(data, limits, sizes)) == whole(kept(data, limits))
    assert whole(kept(data, limits, [1] * len(data))) == whole(kept(data, limits))


@given(data=PLAIN, limits=LIMITS)
@settings(deadline=None, max_examples=600)
def test_every_number_agrees_with_the_whole_stream(data: bytes, limits: Limits) -> None:
    """Shown lines are the first and the last ones, and what is missing is counted exactly."""
    result, lines = kept(data, limits), lines_of(data)
    shown = result.text.split("\n") if data else []
    marks = [index for index, text in enumerate(shown) if LINES.fullmatch(text)]
    missing = sum(map(int, LINES.findall(result.text)))
    assert len(marks) <= 1
    at = marks[0] if marks else len(shown)
    first, last = shown[:at], shown[at + 1 :]
    assert (result.lines_total, result.lines_cut) == (len(lines), missing)
    assert len(first) + missing + len(last) == len(lines)
    assert all(map(stands_for, first, lines))
    assert all(map(stands_for, reversed(last), reversed(lines)))
    assert result.cut == (shown != lines)
    if marks:
        assert len(first) <= limits.head_lines
        assert 1 <= len(last) <= limits.tail_lines
        assert missing > 0


@given(data=PLAIN, limits=LIMITS)
@settings(deadline=None, max_examples=400)
def test_the_wider_windows_hold_every_line_that_is_not_hidden(data: bytes, limits: Limits) -> None:
    """Whole lines outside the hidden range, exact markers at its ends, and no piece of a token at an edge."""
    result, lines = kept(data, limits), lines_of(data)
    first, last = result.hidden
    if not result.cut:
        assert (result.wide, result.hidden) == ([], (0, 0))
        return
    for number, text in result.wide:
        assert stands_for(text, lines[number - 1])
        assert bool(CHARACTERS.search(text)) <= (first <= number <= last)
    outside = [number for number in range(1, len(lines) + 1) if not first <= number <= last]
    assert [number for number, text in result.wide if text == lines[number - 1]] == outside
    if len(data) <= HEAD + TAIL:
        assert result.hidden == (0, 0)


@given(
    data=st.lists(st.sampled_from([b"a", b"bcd", "é".encode(), b" ", b"\t", b"\n"]), min_size=60).map(
        b"".join
    )
)
@settings(deadline=None, max_examples=300)
def test_a_token_at_an_edge_is_shown_whole_or_not_at_all(data: bytes) -> None:
    """Beside a marker stands a blank, unless the token is longer than a token can be."""
    for number, text in kept(data, Limits(0, 1)).wide:
        found = CHARACTERS.search(text)
        line = lines_of(data)[number - 1]
        if found and max(map(len, line.encode().split()), default=0) <= EDGE:
            assert text[: found.start()][-1:] in ("", " ", "\t")
            assert text[found.end() :][:1] in ("", " ", "\t")


@given(data=ANY, limits=LIMITS)
@settings(deadline=None, max_examples=400)
def test_limits_are_met_and_all_is_printable(data: bytes, limits: Limits) -> None:
    """Bytes, characters a line, lines; no control character but tab and line end, nothing invisible."""
    result = kept(data, limits)
    lines = result.text.split("\n")
    assert len(result.text.encode()) <= limits.stream_bytes
    assert max(map(len, lines)) <= limits.line_characters
    assert len(lines) <= limits.head_lines + limits.tail_lines + 3
    controls = {chr(code) for code in [*range(0x20), *range(0x7F, 0xA0)]} - set("\t\n")
    shown = result.text + "\n".join(text for _, text in result.wide)
    assert not controls & set(shown)
    assert not set("\u200b\u202e\ufeff\xad") & set(shown)


@given(data=ANY, limits=LIMITS)
@settings(deadline=None, max_examples=300)
def test_line_numbers_add_up_with_frames_too(data: bytes, limits: Limits) -> None:
    """Every raw line is in the wider windows, or hidden, and in their order."""
    result = kept(data, limits)
    assert result.lines_total == data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    numbers = [number for number, _ in result.wide]
    assert numbers == sorted(numbers)
    if result.cut:
        first, last = result.hidden
        assert set(numbers) | set(range(first, last + 1)) - {0} == set(range(1, result.lines_total + 1))
    assert 0 <= result.lines_cut < max(1, result.lines_total)


@given(labels=st.permutations("abcdefghijkl"), ends=st.sampled_from(["\n", "\r\n", "\r", ""]))
@settings(deadline=None, max_examples=50)
def test_frames_that_differ_are_never_lost(labels: list[str], ends: str) -> None:
    """Each is a line of its own, in order, though each was overwritten."""
    raw = "\r".join(f"{label} 10%\r{label} 20%" for label in labels) + ends
    assert kept(raw.encode(), Limits(), small=False).text == "\n".join(f"{label} 20%" for label in labels)


@given(
    before=st.integers(0, 200_000),
    size=st.integers(1, 9000),
    after=st.integers(0, 200_000),
    joint=st.sampled_from(" \n"),
)
@settings(deadline=None, max_examples=60)
def test_the_default_windows_lose_no_character(before: int, size: int, after: int, joint: str) -> None:
    """Characters shown and characters missing are those of the stream, also with real sizes."""
    data = ("a" * before + joint + "漢" * size + joint + "é" * after).encode()
    result, lines = kept(data, Limits(), small=False), lines_of(data)
    shown = result.text.split("\n")
    assert len(shown) == len(lines)
    assert all(
        stands_for(text, line) or text == "...truncated 1 lines..."
        for text, line in zip(shown, lines, strict=True)
    )
    assert result.text.count("lines...") == result.lines_cut <= 1


@given(data=ANY, limits=LIMITS)
@settings(deadline=None, max_examples=400)
def test_blocks_are_the_wider_windows_in_runs(data: bytes, limits: Limits) -> None:
    """Unfolded they are the same lines with the same numbers, and no run could be longer."""
    result = kept(data, limits)
    blocks = result.blocks
    unfolded = [pair for first, text in blocks for pair in enumerate(text.split("\n"), first)]
    assert unfolded == result.wide
    starts = [first for first, _ in blocks[1:]]
    ends = [first + text.count("\n") + 1 for first, text in blocks[:-1]]
    assert all(start != end for start, end in zip(starts, ends, strict=True))
