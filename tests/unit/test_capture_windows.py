"""The two windows of raw bytes: what they hold, what they count, what they withhold at their edges."""

from __future__ import annotations

import sys

import pytest

from firsthand.capture import EDGE_TOKEN, HEAD_WINDOW, TAIL_WINDOW, Limits, Windows, keep


def fed(data: bytes, *, head: int = 8, tail: int = 12, edge: int = 4) -> Windows:
    windows = Windows(head=head, tail=tail, edge=edge)
    windows.feed(data)
    return windows


def parts(windows: Windows) -> tuple[object, ...]:
    head, gap, tail = windows.texts()
    return head, gap and (gap.lines, gap.before, gap.after), tail


def test_a_stream_that_fits_has_no_gap() -> None:
    """Exactly head plus tail bytes are one text; one byte more makes a gap."""
    data = b"ab cd ef gh ij kl mn"
    assert parts(fed(data)) == (data.decode(), None, "")
    assert parts(fed(data + b"o")) == ("ab cd ", (0, 5, 5), " ij kl mno")


def test_the_callers_buffer_may_be_reused() -> None:
    """What is kept is a copy, whatever kind of bytes came."""
    windows = Windows(head=4, tail=8, edge=0)
    buffer = bytearray(b"abcdef")
    windows.feed(memoryview(buffer))
    buffer[:] = b"______"
    windows.feed(memoryview(buffer)[:0])
    windows.feed(buffer)
    windows.feed(b"")
    buffer[:] = b"######"
    assert (windows.total, *parts(windows)) == (12, "abcdef______", None, "")


def test_windows_may_be_fed_on_after_they_were_read() -> None:
    """Reading changes nothing that later bytes depend on."""
    windows, whole = Windows(head=8, tail=12, edge=4), b""
    for number in range(60):
        piece = f"né {number}\n".encode()
        windows.feed(piece)
        whole += piece
        assert parts(windows) == parts(windows) == parts(fed(whole))


def test_a_chunk_of_any_size_leaves_the_same_counts() -> None:
    """Bytes that pass through the buffer in one piece or one by one are counted alike."""
    data = b"head line\n" + "bé漢\r\n".encode() * 40 + "x😀".encode() * 30 + b"\n last line\n"
    expected = parts(fed(data))
    for size in range(1, 80):
        windows = Windows(head=8, tail=12, edge=4)
        for start in range(0, len(data), size):
            windows.feed(data[start : start + size])
        assert parts(windows) == expected


@pytest.mark.parametrize("length", range(1, 5))
def test_a_token_at_an_edge_is_withheld_whole(length: int) -> None:
    """A run without a blank up to the limit counts to the gap, on both sides of it."""
    word = b"s" * length
    data = b"h" * (7 - length) + b" " + word + b"mmmm" + word + b"\t" + b"t" * (11 - length)
    assert parts(fed(data)) == (
        "h" * (7 - length) + " ",
        (0, 4 + 2 * length, 4 + 2 * length),
        "\t" + "t" * (11 - length),
    )


def test_a_longer_run_is_no_token() -> None:
    """Exactly the limit is dropped at each edge, and the rest is shown."""
    assert parts(fed(b"h" * 8 + b"m" * 5 + b"t" * 12)) == ("hhhh", (0, 13, 13), "t" * 8)


def test_a_tail_window_shorter_than_a_token() -> None:
    """All of it may be withheld; bytes that have left it are not counted twice."""
    assert parts(fed(b"1 3 567 " + b"abcde" + b"fgh", tail=3)) == ("1 3 567 ", (0, 8, 8), "")


@pytest.mark.parametrize("blank", [" ", "\t", "\r", "\n"])
def test_a_blank_at_the_edge_withholds_nothing(blank: str) -> None:
    """Space, tab, LF and CR are blanks; only the bytes between the windows are missing."""
    data = "1234567" + blank + "mmm" + blank + "t" * 11
    assert parts(fed(data.encode())) == (
        "1234567" + blank,
        *{
            "\n": ((1, 3, 0), "t" * 11),  # a line end goes with the line that is missing
        }.get(blank, ((0, 3, 3), blank + "t" * 11)),
    )


@pytest.mark.parametrize("character", ["é", "漢", "😀"])
def test_a_character_on_an_edge_is_counted_once(character: str) -> None:
    """Head, gap and tail together have exactly the code points of the whole, at every offset."""
    for offset in range(12):
        whole = "a" * offset + character * 20 + "z" * 3
        head, gap, tail = fed(whole.encode()).texts()
        assert gap is not None
        assert whole.startswith(head)
        assert whole.endswith(tail)
        assert len(head) + gap.before + len(tail) == len(whole)


@pytest.mark.parametrize("bad", [b"\xff", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\x80"])
def test_bad_bytes_on_an_edge_are_counted_once(bad: bytes) -> None:
    """A broken sequence is as many replacement characters as in the whole, wherever it is cut."""
    for offset in range(14):
        for joint in (b"", b" ", b"a"):
            data = b"a" * offset + (bad + joint) * 30
            head, gap, tail = fed(data).texts()
            assert gap is not None
            assert len(head) + gap.before + len(tail) == len(data.decode("utf-8", "replace"))


def test_a_character_that_begins_in_the_gap_belongs_to_it() -> None:
    """No mark of a withheld token is left over, and a character on the edge is whole on one side."""
    assert parts(fed(b"1 3 567 " + b"mm" + b"ab\xe2\x82 6 8 10 2")) == ("1 3 567 ", (0, 5, 5), " 6 8 10 2")
    assert parts(fed(b"1 3 567 " + b"m\xe2\x82" + b" 2 4 6 8 10 ")) == ("1 3 567 ", (0, 2, 2), " 2 4 6 8 10 ")
    assert parts(fed(b"1 3 567 " + b"m" + b"abc\xe2\x82\xac8 10 2")) == ("1 3 567 ", (0, 5, 5), "8 10 2")


def test_line_counts_of_the_gap() -> None:
    """Line feeds between, code points before the first and after the last of them."""
    assert parts(fed(b"1 3 567\n" + b"ab\nc\ndef" + b" 2 4 6 8 10\n")) == (
        "1 3 567\n",
        (2, 2, 3),
        " 2 4 6 8 10\n",
    )


@pytest.mark.parametrize(
    ("gap", "tail", "counts", "rest"),
    [
        (b"ab\r\r\ndef", b" 2 4 6 8 10\n", (1, 2, 3), " 2 4 6 8 10\n"),
        (b"ab\r\r", b"\r\n3 5 7 9 1\n", (1, 2, 0), "3 5 7 9 1\n"),
        (b"ab", b"cd\r\n5 7 9 1\n", (1, 4, 0), "5 7 9 1\n"),
        (b"ab\r", b"cd\r\n5 7 9 1\n", (1, 5, 0), "5 7 9 1\n"),
        (b"a\r\xc3", b"\r\n3 5 7 9 1\n", (1, 3, 0), "3 5 7 9 1\n"),
        (b"a\r\xc3\n", b" 2 4 6 8 10\n", (1, 3, 0), " 2 4 6 8 10\n"),
        *(
            (b"ab" + b"\r" * count, b"\n2 4 6 8 10\n", (1, 2, 0), "2 4 6 8 10\n")
            for count in (1, 20, 21, 22, 23, 60)
        ),
        *(
            (b"ab" + b"\r" * count + b"\n", b" 2 4 6 8 10\n", (1, 2, 0), " 2 4 6 8 10\n")
            for count in (1, 21, 22, 60)
        ),
    ],
)
def test_carriage_returns_before_a_line_feed_belong_to_the_line_end(
    gap: bytes, tail: bytes, counts: tuple[int, int, int], rest: str
) -> None:
    """They are not counted as characters that are missing, wherever the windows end."""
    assert len(tail) == 12
    assert parts(fed(b"1 3 567 " + gap + tail)) == ("1 3 567 ", counts, rest)


def test_a_line_end_at_the_tails_start_goes_to_the_gap_with_its_line() -> None:
    """Nothing of that line is shown, but the stream's own last line end stays."""
    assert parts(fed(b"1 3 567 " + b"ab\ncd" + b"ef\n4 6 8 10\n")) == ("1 3 567 ", (2, 2, 0), "4 6 8 10\n")
    assert parts(fed(b"1 3 567 " + b"ab\n" + b"\n2 4 6 8 10\n")) == ("1 3 567 ", (1, 2, 0), "\n2 4 6 8 10\n")
    assert parts(fed(b"1 3 567 " + b"ab\ncd" + b"ef\n", tail=3)) == ("1 3 567 ", (1, 2, 4), "\n")


def test_memory_stays_small_for_any_stream() -> None:
    """64 MiB of lines, of one line and of bad bytes leave less than half a MiB."""
    for pattern in (b"line\n", b"x", b"\xff"):
        windows = Windows()
        chunk = memoryview(pattern * (256 * 1024 // len(pattern)))
        for _ in range(256):
            windows.feed(chunk)
        held = sum(sys.getsizeof(getattr(windows, name)) for name in Windows.__slots__)
        assert held < 512 * 1024
        assert windows.total == 256 * len(chunk)


def test_the_default_windows() -> None:
    """16 KiB and 128 KiB, less a token of 4 KiB at each edge of one endless line."""
    windows = Windows()
    windows.feed(b"x" * 1_000_000)
    head, gap, tail = windows.texts()
    assert gap is not None
    assert (len(head), len(tail)) == (HEAD_WINDOW - EDGE_TOKEN, TAIL_WINDOW - EDGE_TOKEN)
    assert len(head) + gap.before + len(tail) == 1_000_000


def test_an_empty_stream_keeps_nothing() -> None:
    """No byte is no line; nothing is redacted and nothing is cut."""
    kept = keep(Windows(), lambda text: text + "never called", Limits())
    assert (kept.text, kept.lines_cut, kept.cut, kept.lines_total) == ("", 0, False, 0)
    assert (kept.wide, kept.hidden) == ([], (0, 0))
