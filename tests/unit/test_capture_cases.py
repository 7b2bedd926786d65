"""The public failures of tests/cases (groups E, F and H) as bytes: size, terminal codes, encodings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from firsthand.capture import Kept, Limits, Windows, keep

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = 256 * 1024


def kept(data: bytes, redact: Callable[[str], str] = str) -> Kept:
    windows = Windows()
    for start in range(0, len(data), CHUNK):
        windows.feed(data[start : start + CHUNK])
    return keep(windows, redact, Limits())


def repeated(pattern: bytes, total: int) -> Windows:
    """Windows that saw ``pattern`` again and again, up to ``total`` bytes."""
    windows = Windows()
    block = memoryview(pattern * (CHUNK // len(pattern)))
    while windows.total < total:
        windows.feed(block[: total - windows.total])
    return windows


def missing(text: str) -> int:
    """Sum of N over the markers of characters."""
    return sum(map(int, re.findall(r"\.\.\.truncated (\d+) characters\.\.\.", text)))


def test_e01_a_flood_of_lines_has_an_exact_count() -> None:
    """300 MB: 17,647,058 full lines and one of 14 bytes, less ten and fifty."""
    line = "0123456789abcdef"
    result = keep(repeated(line.encode() + b"\n", 300_000_000), str, Limits())
    assert result.text == "\n".join(
        [line] * 10 + ["...truncated 17646999 lines..."] + [line] * 49 + [line[:14]]
    )
    assert (result.lines_cut, result.lines_total) == (17_646_999, 17_647_059)


@pytest.mark.parametrize("word", ["y", "out", "err"])
def test_e02_e03_endless_writers(word: str) -> None:
    """Twenty million bytes of the same short line."""
    result = keep(repeated(word.encode() + b"\n", 20_000_000), str, Limits())
    lines = 20_000_000 // (len(word) + 1)
    assert result.text == "\n".join([word] * 10 + [f"...truncated {lines - 60} lines..."] + [word] * 50)


@pytest.mark.parametrize("ending", [b"", b"\n"])
def test_e04_one_huge_line(ending: bytes) -> None:
    """30 MB without a line end: shown and missing characters add up."""
    windows = repeated(b"x", 30_000_000)
    windows.feed(ending)
    result = keep(windows, str, Limits())
    assert result.text.count("x") + missing(result.text) == 30_000_000
    assert (len(result.text), result.lines_cut, result.lines_total) == (1000, 0, 1)


def test_e05_one_long_line_with_a_line_end() -> None:
    """80,000 characters and a line end are not an empty output."""
    result = kept(b"x" * 80_000 + b"\n")
    assert result.text.count("x") + missing(result.text) == 80_000
    assert result.text.startswith("xxxxxxxx")
    assert result.text.endswith("xxxxxxxx")


def test_e07_the_failure_summary_at_the_end_stays() -> None:
    """20,001 lines: the first ten, the last fifty."""
    lines = [*map(str, range(1, 20_001)), "FAILED tests/test_a.py::test_b - AssertionError"]
    result = kept("\n".join(lines).encode() + b"\n")
    assert result.text == "\n".join([*lines[:10], "...truncated 19941 lines...", *lines[-50:]])


@pytest.mark.parametrize("size", [27_000, 28_500, 29_500, 30_500])
def test_e08_between_two_limits_the_end_stays(size: int) -> None:
    """The last line is there at each size."""
    result = kept(f"{f'L{size:05} ' * (size // 7)}\nEND-{size}\n".encode())
    assert result.text.split("\n")[-1] == f"END-{size}"
    assert len(result.text.split("\n")[0]) == 1000


def test_e09_400_000_lines() -> None:
    """Much output is no reason to lose the count."""
    result = kept("".join(f"{number}\n" for number in range(1, 400_001)).encode())
    assert (result.lines_cut, result.text.split("\n")[-1]) == (399_940, "400000")


def test_e10_few_long_lines_meet_the_byte_limit() -> None:
    """Sixty lines of 5,000 characters: first and last stay, the bytes are bounded."""
    result = kept("".join(f"{number}:{'y' * 5000}\n" for number in range(60)).encode())
    lines = result.text.split("\n")
    first, missing = lines[:3], lines[3]  # the head window holds three whole lines
    for number, line in [*enumerate(first), *enumerate(lines[4:], 64 - len(lines))]:
        name = f"{number}:"
        cut = f"...truncated {len(name) + 5000 - 969} characters..."
        assert line == name + "y" * (485 - len(name)) + cut + "y" * 484
    assert missing == f"...truncated {60 - len(lines) + 1} lines..."
    assert 15_384 < len(result.text.encode()) <= 16_384


def test_f01_progress_frames_settle() -> None:
    """400 frames of one progress line are its last state."""
    frames = "".join(f"\rReceiving objects: {number // 4:3d}%" for number in range(1, 401))
    assert kept(f"{frames}\ndone\n".encode()).text == "Receiving objects: 100%\ndone"


def test_f03_terminal_codes_are_removed() -> None:
    """Colour, title, cursor and character set."""
    assert kept(b"\x1b[31mFAIL\x1b[0m \x1b]0;title\x07 \x1b[?25l\x1b(Bplain\n").text == "FAIL  plain"


def test_f04_codes_inside_a_secret_do_not_hide_it() -> None:
    """The redactor sees the text without them."""
    key = "sk-" + "test-" + "ABCDEFGHIJKLMNOPQRSTUVWX"
    raw = f"Authorization: Bea\x1b[0mrer {key[:8]}\x1b[1m{key[8:]}\x1b[0m\n"
    result = kept(raw.encode(), lambda text: text.replace(f"Bearer {key}", "Bearer [REDACTED:bearer#1]"))
    assert result.text == "Authorization: Bearer [REDACTED:bearer#1]"


def test_h01_h02_h10_bytes_that_are_no_utf_8() -> None:
    """A replacement mark each, and nothing after them is lost."""
    assert kept(b"\xf0\n").text == "\ufffd"
    result = kept(b"gr\xfcn\n" + b"".join(b"%d\n" % number for number in range(1, 5001)) + b"LAST\n")
    assert result.text.startswith("gr\ufffdn\n1\n")
    assert result.text.endswith("\n5000\nLAST")
    assert kept(b"Windows IP \xc5\xe4\xd6\xc3\n").text == "Windows IP \ufffd\ufffd\ufffd\ufffd"


def test_h03_binary_output_is_text_that_can_be_printed() -> None:
    """Every byte value forty times: no control character but tab and line end."""
    result = kept(bytes(range(256)) * 40)
    controls = {chr(code) for code in [*range(0x20), *range(0x7F, 0xA0)]} - set("\t\n")
    assert not controls & set(result.text)
    assert result.text.encode().decode() == result.text
    assert result.lines_total == 41


@pytest.mark.parametrize(
    "pieces", [(b"cleanup \xe2", b"\x80\x94 end\n"), (b"cleanup \xe2\x80", b"\x94 end", b"\n")]
)
def test_h04_a_character_split_over_two_writes(pieces: tuple[bytes, ...]) -> None:
    """It is put together again."""
    windows = Windows()
    for piece in pieces:
        windows.feed(piece)
    assert keep(windows, str, Limits()).text == "cleanup \u2014 end"


def test_h06_nul_is_visible() -> None:
    """A stand-in, not the byte."""
    assert kept(b"a\0b\n").text == "a\u2400b"


def test_h08_no_surrogate_comes_through() -> None:
    """An encoded surrogate is bad UTF-8, so the text can be encoded again."""
    assert kept(b"x\xed\xa0\x80y\n").text == "x\ufffd\ufffd\ufffdy"


def test_i05_a_secret_at_a_cut_is_not_halved() -> None:
    """Between 70,000 characters on either side, at every offset around the windows' edges and the cuts."""
    word = "hunter2" * 3
    for before in [*range(0, 1100, 7), *range(16_340, 16_400), 70_000, *range(95_000, 95_060)]:
        raw = f"{'x' * before} password={word} {'y' * 140_000}\nlast\n"
        result = kept(raw.encode(), lambda text: text.replace(word, "[REDACTED:assignment#1]"))
        assert "hunt" not in result.text + repr(result.wide)
