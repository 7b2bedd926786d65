"""From decoded text to plain text: terminal sequences, carriage returns, control characters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import firsthand
from firsthand.capture import Limits, Windows, keep

ESC = "\x1b"


def kept_text(text: str) -> str:
    windows = Windows()
    windows.feed(text.encode())
    return keep(windows, str, Limits()).text


@pytest.mark.parametrize(
    "sequence",
    [
        f"{ESC}[0m",
        f"{ESC}[1;38;5;196m",
        f"{ESC}[38:2::1:2:3m",
        f"{ESC}[?25l",
        f"{ESC}[2K",
        f"{ESC}[ q",
        "\x9b31m",
        f"{ESC}]0;a title\x07",
        f"{ESC}]0;a title{ESC}\\",
        f"{ESC}]8;;file:///tmp/x\x9c",
        f"{ESC}P1$r0m{ESC}\\",
        f"{ESC}^private{ESC}\\",
        f"{ESC}_application{ESC}\\",
        f"{ESC}Xstart{ESC}\\",
        f"{ESC}kwindow{ESC}\\",
        f"{ESC}(B",
        f"{ESC}$)C",
        f"{ESC}#8",
        f"{ESC}%G",
        f"{ESC}7",
        f"{ESC}=",
        f"{ESC}c",
        f"{ESC}M",
        f"{ESC}{ESC}[0m[1m",
        f"{ESC}{ESC}(B]0;title\x07",
    ],
)
def test_terminal_sequences_are_removed(sequence: str) -> None:
    """Whatever tells a terminal something goes, also one that another was nested in."""
    assert kept_text(f"be{sequence}fore{sequence} after\nnext\n") == "before after\nnext"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (f"{ESC}]0;no end\nnext\x07\n", "0;no end\nnext␇"),
        (f"{ESC}]0;no end\rnext\x07\n", "0;no end\nnext␇"),
        (f"{ESC}]0;no end", "0;no end"),
        (f"{ESC}]one{ESC}[0m two\n", "one two"),
        (f"{ESC}P no end\n{ESC}\\next\n", " no end\nnext"),
        (f"{ESC}[31\nm\n", "31\nm"),
        (f"{ESC}[31é\n", "31é"),
        ("\x9b31\nm\n", "31\nm"),
        (f"end{ESC}", "end␛"),
        (f"{ESC}\n(B\n", "␛\n(B"),
        (f"{ESC}é{ESC}\x01\n", "␛é␛␁"),
    ],
)
def test_a_sequence_without_an_end_swallows_no_text(raw: str, expected: str) -> None:
    """Only its introducer goes; no sequence reaches over a line end; a lone ESC is shown."""
    assert kept_text(raw) == expected


def test_nesting_is_followed_only_so_far() -> None:
    """What is still there after a few passes is shown, never interpreted."""
    assert kept_text(ESC * 10 + "[m" * 10 + "\n") == "␛" * 6 + "[m" * 6


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("one\r\ntwo\r\n", "one\ntwo"),
        ("one\r\r\ntwo\r\r\r\n", "one\ntwo"),
        ("no end\r", "no end"),
        ("no end\r\r\r", "no end"),
        ("one\n\r", "one\n"),
        ("\r\n\r\n", "\n"),
        ("progress 10%\rERROR: disk full\rprogress 20%\n", "progress 10%\nERROR: disk full\nprogress 20%"),
        ("ERROR: disk full\r 50%\r 60%\n", "ERROR: disk full\n 60%"),
        ("10%\rDone\n", "Done"),
        ("[=>   ] 1/3\r[==>  ] 2/3\r[====>] 3/3\r\n", "[====>] 3/3"),
        ("| building\r/ building\r- building\r\\ building\n", "\\ building"),
        ("⠋ Installing a\r⠙ Installing b\n", "⠙ Installing b"),
        (
            "  5%|█▌    | 1/20 [00:01<00:19, 1.0it/s]\r 10%|███   | 2/20 [00:02<00:18, 1.1it/s]\n",
            " 10%|███   | 2/20 [00:02<00:18, 1.1it/s]",
        ),
        ("Loading.\rLoading..\rLoading...\n", "Loading..."),
        ("Load\rLoading\n", "Loading"),
        ("Loading\rLoad\n", "Loading\nLoad"),
        ("step 1\r        \rstep 2\n", "step 2"),
        ("first\r        \rsecond\n", "first\nsecond"),
        ("first\r\t\r \n", "first"),
        ("load 1\r50%\rload 2\n", "load 1\nload 2"),
        ("  \r\r\n", "  "),
        ("\r\r\rdone\n", "done"),
        (" \r \n", ""),
        ("\x01\r\x1c\rdone\n", "␁\n␜\ndone"),
        ("a\n1\r2\nb\r\n", "a\n2\nb"),
    ],
)
def test_carriage_returns_settle(raw: str, expected: str) -> None:
    """An earlier state of the same progress line goes; any other frame is a line of its own."""
    assert kept_text(raw) == expected


def test_only_lf_ends_a_line() -> None:
    """No other character at which ``str.splitlines`` splits ends one; two of them stay as they are."""
    raw = "a\x0bb\x0cc\x1cd\x1de\x1ef\x85g\u2028h\u2029i\n"
    assert kept_text(raw) == "a␋b␌c␜d␝e␞f\\x85g\u2028h\u2029i"


@pytest.mark.parametrize(
    ("raw", "expected"), [("a\n", "a"), ("a\n\n", "a\n"), ("\n", ""), ("\n\n\n", "\n\n"), ("a", "a")]
)
def test_one_final_line_end_is_dropped(raw: str, expected: str) -> None:
    """One, and no more."""
    assert kept_text(raw) == expected


def test_every_control_character_is_visible() -> None:
    """C0 and DEL as their pictures, C1 by number; tab and line end stay."""
    raw = (
        "".join(map(chr, range(0x20))).replace("\r", "").replace("\x1b", "")
        + "\x7f"
        + "".join(map(chr, [*range(0x80, 0x9B), *range(0x9C, 0xA0)]))
    )
    pictures = "".join(
        chr(0x2400 + code) if code not in (9, 10) else chr(code)
        for code in range(0x20)
        if code not in (13, 27)
    )
    c1 = "".join(f"\\x{code:02x}" for code in [*range(0x80, 0x9B), *range(0x9C, 0xA0)])
    assert kept_text(raw) == pictures + "␡" + c1


def test_invisible_characters_are_removed_before_redaction() -> None:
    """Zero-width and bidi format characters do not hide a secret from its rule."""
    invisible = [
        0xAD,
        0xFEFF,
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2065),
        *range(0x2066, 0x206A),
    ]
    windows = Windows()
    windows.feed("".join(f"pass{chr(code)}word\n" for code in invisible).encode())
    kept = keep(windows, lambda text: text.replace("password", "[REDACTED:word#1]"), Limits())
    assert kept.text == "\n".join(["[REDACTED:word#1]"] * len(invisible))


def test_plain_output_needs_no_heavy_import() -> None:
    """Neither taking nor cutting output without terminal sequences imports ``re`` or other slow modules."""
    program = """
import sys
before = set(sys.modules)
from firsthand.capture import Limits, Windows, keep
windows = Windows()
windows.feed(b'10%\\r20%\\n' + b'some line\\n' * 100000)
keep(windows, str, Limits()).wide
print(sorted(name for name in set(sys.modules) - before - {'__future__'} if not name.startswith('firsthand')))
windows.feed(b'\\x1b[0m')
print(keep(windows, str, Limits()).text.endswith('some line\\n'))
"""
    root = str(Path(firsthand.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {root!r})" + program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[]\nTrue\n", "")
