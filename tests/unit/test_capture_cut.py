"""What is kept of a stream: lines, long lines, bytes, markers with exact numbers, the wider windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firsthand.capture import Kept, Limits, Windows, keep
from firsthand.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


def kept(
    data: bytes | str,
    limits: Limits | None = None,
    *,
    head: int = 16384,
    tail: int = 131072,
    edge: int = 4096,
    redact: Callable[[str], str] = str,
) -> Kept:
    windows = Windows(head=head, tail=tail, edge=edge)
    windows.feed(data.encode() if isinstance(data, str) else data)
    return keep(windows, redact, limits or Limits())


def whole(result: Kept) -> tuple[object, ...]:
    return result.text, result.lines_cut, result.cut, result.lines_total, result.wide, result.hidden


def numbered(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(1, count + 1))


def test_short_output_is_kept_as_it_is() -> None:
    """Nothing is cut, so nothing needs wider windows."""
    assert whole(kept("one\ntwo\n")) == ("one\ntwo", 0, False, 2, [], (0, 0))
    assert whole(kept("one\ntwo")) == ("one\ntwo", 0, False, 2, [], (0, 0))
    assert whole(kept("\n")) == ("", 0, False, 1, [], (0, 0))


def test_sixty_lines_are_kept_and_one_more_is_cut() -> None:
    """Ten from the start, fifty from the end, and the marker with the number between them."""
    assert not kept(numbered(60)).cut
    lines = numbered(61).splitlines()
    expected = "\n".join([*lines[:10], "...truncated 1 lines...", *lines[11:]])
    assert whole(kept(numbered(61))) == (expected, 1, True, 61, list(enumerate(lines, 1)), (0, 0))


def test_an_unfinished_last_line_counts() -> None:
    """It is a line of the stream, shown last."""
    result = kept(numbered(100) + "no end", Limits(1, 1))
    assert (result.text, result.lines_cut, result.lines_total) == (
        "line 1\n...truncated 99 lines...\nno end",
        99,
        101,
    )


@pytest.mark.parametrize(
    ("head", "tail", "expected"),
    [
        (0, 1, "...truncated 4 lines...\nline 5"),
        (0, 2, "...truncated 3 lines...\nline 4\nline 5"),
        (2, 1, "line 1\nline 2\n...truncated 2 lines...\nline 5"),
        (9, 1, "line 1\nline 2\nline 3\nline 4\nline 5"),
        (4, 1, "line 1\nline 2\nline 3\nline 4\nline 5"),
        (0, 9, "line 1\nline 2\nline 3\nline 4\nline 5"),
    ],
)
def test_line_limits(head: int, tail: int, expected: str) -> None:
    """Any number of lines from the start, at least one from the end, none of them twice."""
    assert kept(numbered(5), Limits(head, tail)).text == expected


def test_a_long_line_is_cut_in_its_middle() -> None:
    """Start, marker and end together take the limit; the number is exact."""
    line = "".join(f"{number:04}" for number in range(500))
    result = kept("short\n" + line + "\n")
    missing = 2000 - (1000 - len("...truncated 1027 characters..."))
    start = line[: (2000 - missing + 1) // 2]
    end = line[len(start) + missing :]
    assert result.text == f"short\n{start}...truncated {missing} characters...{end}"
    assert len(result.text.split("\n")[1]) == 1000
    assert whole(result)[1:] == (0, True, 2, [(1, "short"), (2, line)], (0, 0))


def test_a_line_at_the_limit_is_whole() -> None:
    """The limit counts code points, not bytes."""
    assert not kept("é" * 1000 + "\n").cut
    assert kept("é" * 1001 + "\n").text.count("é") == 1000 - len("...truncated 1001 characters...")


def test_a_cut_goes_round_a_redaction_marker() -> None:
    """Where a cut would go through one, the marker goes whole, and the number says so."""
    marker = "[REDACTED:assignment#12]"
    longest = 120
    for offset in range(longest):
        line = "a" * offset + marker + "b" * (longest + 20)
        shown = kept(line, Limits(line_characters=longest)).text
        start, rest = shown.split("...truncated ")
        number, end = rest.split(" characters...")
        assert len(shown) <= longest
        assert len(start) + int(number) + len(end) == len(line)
        assert shown.count("[REDACTED") == shown.count(marker)
        assert shown.count("]") == shown.count(marker)
        shown = kept(line[::-1].replace(marker[::-1], marker), Limits(line_characters=longest)).text
        assert shown.count("[REDACTED") == shown.count(marker)
        assert shown.count("]") == shown.count(marker)


def test_text_that_only_looks_like_a_redaction_marker_is_cut() -> None:
    """An opening that is never closed does not keep the line from being cut."""
    assert len(kept("[REDACTED" + "x" * 5000).text) == 1000


def test_over_the_byte_limit_the_tails_oldest_lines_go_first() -> None:
    """Then the head's last ones; what stays is exactly what fits."""
    lines = [f"{number:02} " + "x" * 97 for number in range(20)]
    data = "\n".join(lines)
    result = kept(data, Limits(3, 50, stream_bytes=1024))
    expected = [*lines[:3], "...truncated 11 lines...", *lines[-6:]]
    assert (result.text, result.lines_cut) == ("\n".join(expected), 11)
    result = kept(data, Limits(3, 50, stream_bytes=256))
    assert (result.text, result.lines_cut) == (
        "\n".join([lines[0], "...truncated 18 lines...", lines[-1]]),
        18,
    )


def test_the_byte_limit_is_met_to_the_byte() -> None:
    """A text of exactly the limit is whole; with one byte more a line goes."""
    fits = "a" * 127 + "\n" + "b" * 128
    assert not kept(fits, Limits(stream_bytes=256)).cut
    assert kept(fits + "b", Limits(stream_bytes=256)).text == "...truncated 1 lines...\n" + "b" * 129


def test_a_last_line_that_alone_is_too_long_is_cut_further() -> None:
    """It stays, in the bytes that there are, with its exact number."""
    line = "漢" * 900
    for ending in ("", "\n"):
        result = kept("first\n" + line + ending, Limits(stream_bytes=256))
        before, last = result.text.split("\n")
        start, rest = last.split("...truncated ")
        number, end = rest.split(" characters...")
        assert before == "...truncated 1 lines..."
        assert len(start) + int(number) + len(end) == 900
        assert start
        assert end
        assert 200 <= len(result.text.encode()) <= 256


def test_frames_of_a_line_that_is_partly_shown() -> None:
    """They are no cut lines; their characters are counted on a line of their own."""
    result = kept("alpha\rbeta\rgamma\rdelta\n", Limits(1, 1))
    assert (result.text, result.lines_cut, result.cut) == (
        "alpha\n...truncated 9 characters...\ndelta",
        0,
        True,
    )
    assert result.wide == [(1, "alpha"), (1, "beta"), (1, "gamma"), (1, "delta")]


def test_frames_on_both_sides_of_cut_lines() -> None:
    """Each side says what of its line is missing; the raw lines between are counted once."""
    result = kept("alpha\rbeta\ntwo\nthree\rmore\ngamma\rdelta\n", Limits(1, 1))
    assert (
        result.text
        == "alpha\n...truncated 4 characters...\n...truncated 2 lines...\n...truncated 5 characters...\ndelta"
    )
    assert (result.lines_cut, result.lines_total) == (2, 4)


def test_frames_that_the_byte_limit_drops() -> None:
    """The same holds where bytes, not lines, are short."""
    frames = [character * 100 for character in "abcdef"]
    result = kept("\r".join(frames), Limits(stream_bytes=300))
    assert (result.text, result.lines_cut) == (
        "\n".join([frames[0], "...truncated 400 characters...", frames[-1]]),
        0,
    )


def gap_kept(data: bytes, limits: Limits | None = None) -> Kept:
    return kept(data, limits, head=8, tail=12, edge=4)


def test_a_gap_between_whole_lines() -> None:
    """Lines that fell between the windows are counted with those that are cut."""
    result = gap_kept(b"one\ntwo\n" + b"aa\n\nb\n" + b"late\nlast\n\n\n")
    assert whole(result) == (
        "one\ntwo\n...truncated 4 lines...\nlast\n\n",
        4,
        True,
        9,
        [(1, "one"), (2, "two"), (7, "last"), (8, ""), (9, "")],
        (3, 6),
    )


def test_lines_that_the_gap_cuts() -> None:
    """One shows its start, the other its end, each with its exact number, and none is a cut line."""
    result = gap_kept(b"one\nt wo" + b"aa\nb\nccc" + b"late r\nlast\n")
    expected = [
        "one",
        "t ...truncated 4 characters...",
        "...truncated 1 lines...",
        "...truncated 7 characters... r",
        "last",
    ]
    assert (result.text, result.lines_cut) == ("\n".join(expected), 1)
    assert (result.wide, result.hidden) == (
        [(1, expected[0]), (2, expected[1]), (4, expected[3]), (5, "last")],
        (2, 4),
    )


def test_two_lines_with_one_line_end_in_the_gap() -> None:
    """No line lies between them."""
    result = gap_kept(b"one\nt wo" + b"aa\nb" + b"late r\nlast\n")
    assert result.text == "one\nt ...truncated 4 characters...\n...truncated 5 characters... r\nlast"
    assert (result.lines_cut, result.lines_total, result.hidden) == (0, 4, (2, 3))
    result = gap_kept(b"one\nt wo" + b"aa\nb" + b"e r\n4\n5\nlast", Limits(3, 1))
    assert result.text.endswith(" r\n...truncated 2 lines...\nlast")


def test_a_gap_of_a_line_end_alone_hides_nothing() -> None:
    """Both lines are whole, so nothing was cut."""
    assert whole(gap_kept(b"one two " + b"\n" + b" later\nlast\n")) == (
        "one two \n later\nlast",
        0,
        False,
        3,
        [],
        (0, 0),
    )


def test_a_line_through_the_whole_gap_is_one_line() -> None:
    """Its start, the exact number, its end."""
    result = gap_kept(b"one\nt wo" + b"aaaa" + b"late r\nlast\n")
    line = "t ...truncated 10 characters... r"
    assert whole(result) == (f"one\n{line}\nlast", 0, True, 3, [(1, "one"), (2, line), (3, "last")], (2, 2))


def test_a_line_through_the_gap_of_which_the_windows_have_one_side() -> None:
    """The marker stands where the rest is missing."""
    assert (
        gap_kept(b"one\ntwo\n" + b"aaaa" + b"late r\nlast\n").text
        == "one\ntwo\n...truncated 8 characters... r\nlast"
    )
    assert gap_kept(b"one\ntwo\n" + b"aaaa" + b"late\n t last\n").hidden == (3, 3)
    assert (
        gap_kept(b"onetwo s" + b"aaaa" + b"late\nr last\n").text
        == "onetwo ...truncated 9 characters...\nr last"
    )
    assert (
        gap_kept(b"onetwo/s" + b"aaa " + b"late \nx last\n").text
        == "onet...truncated 12 characters... \nx last"
    )


def test_a_line_through_the_gap_is_cut_like_any_long_line() -> None:
    """What the limit takes is added to what the gap took."""
    data = b"s" * 500 + b" " + b"m" * 3000 + b" " + b"e" * 500
    result = kept(data, Limits(line_characters=100), head=400, tail=400, edge=50)
    room = 100 - len("...truncated 4002 characters...")
    assert result.text == "s" * ((room + 1) // 2) + f"...truncated {4002 - room} characters..." + "e" * (
        room // 2
    )


def test_a_start_or_an_end_alone_takes_all_the_room() -> None:
    """Half of a line that the gap cut is not kept short for a half that is not there."""
    data = b"s" * 300 + b" mm" + b"m" * 200 + b"\nx\n" + b"m" * 200 + b" " + b"e" * 299
    result = kept(data, Limits(line_characters=100), head=301, tail=300, edge=50)
    start, marker, end = result.text.split("\n")
    assert start == "s" * 70 + "...truncated 433 characters..."
    assert (marker, end) == ("...truncated 1 lines...", "...truncated 430 characters..." + "e" * 70)


def test_head_and_tail_lines_do_not_reach_over_a_gap() -> None:
    """Last lines come from the tail window and first lines from the head's, however few it holds."""
    data = b"1\n2\n3\n4\n" + b"x\n" * 50 + b" late \nlast\n"
    assert gap_kept(data, Limits(2, 50)).text == "1\n2\n...truncated 52 lines...\n late \nlast"
    assert gap_kept(data, Limits(50, 1)).text == "1\n2\n3\n4\n...truncated 51 lines...\nlast"


def test_a_last_line_that_is_one_token_at_the_edge_still_has_its_place() -> None:
    """Where all of it is withheld, its number of characters stands for it."""
    result = kept(b"one\ntwo\nabcde\nabc\n", head=8, tail=4, edge=4)
    assert (result.text, result.lines_cut) == (
        "one\ntwo\n...truncated 1 lines...\n...truncated 3 characters...",
        1,
    )


def test_progress_over_a_gap_settles_in_each_window() -> None:
    """A single raw line of frames shows the head's last state, the gap and the last state."""
    frames = b"".join(b"\rfetched %5d of it" % number for number in range(1000))
    result = kept(frames + b"\n", head=100, tail=200, edge=20)
    assert result.text.startswith("fetched     4 ")
    assert result.text.endswith("fetched   999 of it")
    assert (result.lines_cut, result.lines_total) == (0, 1)


def test_a_head_window_that_is_one_token() -> None:
    """All of it is withheld; the line is shown from its other side, or counted."""
    assert kept("abcd e f g\n", head=4, tail=6, edge=4).text == "...truncated 6 characters... f g"
    assert kept("abcd e\nf g\n", head=4, tail=5, edge=4).text == "...truncated 1 lines...\nf g"


def test_each_contiguous_text_is_redacted_once_head_first() -> None:
    """One call for a stream without a gap, two with one; a line end at the very end is not part of it."""
    calls: list[str] = []

    def redact(text: str) -> str:
        calls.append(text)
        return text

    kept("one\ntwo\n", redact=redact)
    kept(b"one\ntwo\n" + b"aa\n\nb\n" + b"late\nlast\n\n\n", head=8, tail=12, edge=4, redact=redact)
    assert calls == ["one\ntwo", "one\ntwo", "last\n\n"]


def test_half_a_secret_is_never_kept() -> None:
    """Wherever the windows or the line limit cut it, the text and the wider windows hold no part of it."""
    secret = "hunter2" * 4

    def redact(text: str) -> str:
        return text.replace(secret, "[REDACTED:word#1]")

    for offset in range(260):
        for blank in (" ", "\n", "\t", "\r\n"):
            data = ("x" * 5 + blank) * 20 + "y" * offset + blank + secret + blank + ("z" * 5 + blank) * 20
            result = kept(
                data, Limits(line_characters=60, stream_bytes=256), head=150, tail=100, edge=40, redact=redact
            )
            shown = result.text + repr(result.wide)
            assert "hunt" not in shown
            assert "nter2" not in shown


def test_redaction_that_joins_lines_keeps_the_numbers_right() -> None:
    """A block of lines that became one stands for all of them, and is not cut."""
    block = ["-----BEGIN KEY-----", *(f"body {number}" for number in range(7)), "-----END KEY-----"]
    text = "\n".join(["top", *block, "", "token", "between", *block, "bottom", ""])

    def redact(plain: str) -> str:
        return plain.replace("\n".join(block), "[REDACTED:key#1]").replace("token", "[REDACTED:token#2]")

    shown = ["top", "[REDACTED:key#1]", "", "[REDACTED:token#2]", "between", "[REDACTED:key#1]", "bottom"]
    result = kept(text, redact=redact)
    assert (result.text, result.lines_cut, result.cut, result.lines_total) == ("\n".join(shown), 0, False, 23)
    result = kept(text, Limits(2, 2), redact=redact)
    assert (result.text, result.lines_cut) == (
        "\n".join([*shown[:2], "...truncated 3 lines...", *shown[-2:]]),
        3,
    )
    assert result.wide == list(zip([1, 2, 11, 12, 13, 14, 23], shown, strict=True))


def test_redaction_that_removes_or_adds_lines() -> None:
    """The lines that are left keep their numbers; a line too many has the last one's."""
    gone = "line 2\n", "line 50\nline 51\n"
    result = kept(
        numbered(100), Limits(2, 2), redact=lambda text: text.replace(gone[0], "").replace(gone[1], "")
    )
    lines = [(number, f"line {number}") for number in range(1, 101) if number not in (2, 50, 51)]
    assert (result.lines_total, result.wide) == (100, lines)
    result = kept(numbered(4), Limits(1, 1), redact=lambda text: text + "\nmore")
    assert (result.lines_total, result.wide[-2:]) == (4, [(4, "line 4"), (4, "more")])


def test_redaction_that_joins_everything() -> None:
    """One line is left; it stands for all."""
    result = kept(numbered(100), redact=lambda _: "[REDACTED:all#1]")
    assert whole(result) == ("[REDACTED:all#1]", 0, False, 100, [], (0, 0))


@pytest.mark.parametrize(
    "bad",
    [{"head_lines": -1}, {"tail_lines": 0}, {"line_characters": 59}, {"stream_bytes": 255}],
)
def test_limits_that_are_too_small_are_refused(bad: dict[str, int]) -> None:
    """The error names the limit and the smallest value."""
    with pytest.raises(UsageError) as caught:
        Limits(**bad)
    (name,) = bad
    assert name in str(caught.value)
    assert str(bad[name] + 1) in caught.value.hint


def test_the_defaults_of_the_limits() -> None:
    """Ten and fifty lines of a thousand characters, 16 KiB in all."""
    limits = Limits()
    assert (limits.head_lines, limits.tail_lines, limits.line_characters, limits.stream_bytes) == (
        10,
        50,
        1000,
        16384,
    )
