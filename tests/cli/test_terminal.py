"""``firsthand run`` at a real terminal: live output, and the lines of our own."""

from __future__ import annotations

import re
import shlex
import sys
from typing import TYPE_CHECKING

import pytest
from tests.cli.terminals import (
    ID,
    QUICKLY_QUIET,
    QUIET_FOR,
    SUMMARY,
    WAIT,
    at_terminal,
    let_go_on,
    quickly_quiet,
    records,
    screen,
)
from tests.support import store_records
from tests.support.cli import command

from firsthand.cli.screen import STOPPING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import CommandLine


def test_output_shows_before_the_command_has_ended(cli: CommandLine) -> None:
    """As it comes, byte for byte; then one dim line; the record has it too."""
    launch = at_terminal(cli, f"printf 'o\\303\\244\\001ne\\n'; {WAIT}; echo two >&2")
    assert launch.terminal.until(lambda shown: b"\n" in shown) == b"o\xc3\xa4\x01ne\r\n"
    assert store_records(cli.store) == []
    let_go_on(cli)
    result = launch.wait()
    expected = rf"oä\x01ne\r\ntwo\r\n\r\x1b\[0;2m{SUMMARY}\x1b\[0m\r\n"
    assert (result.status, result.out) == (0, b"")
    assert re.fullmatch(expected, result.stderr), result.stderr
    (record,) = records(cli)
    assert record["command_id"] in result.stderr
    assert (record["bytes"], record["stderr_tail"]) == ({"stdout": 7, "stderr": 4}, "two")


def test_each_stream_comes_in_its_order(cli: CommandLine) -> None:
    """Standard output to ours, standard error to ours, nothing lost or added."""
    text = 'n=0; while [ $n -lt 300 ]; do n=$((n+1)); echo "out $n"; echo "err $n" >&2; done'
    result = cli("run", "--stream", "--", "sh", "-c", text)
    assert result.stdout == "".join(f"out {n}\n" for n in range(1, 301))
    *lines, last = result.stderr.splitlines()
    assert lines == [f"err {n}" for n in range(1, 301)]
    assert re.fullmatch(SUMMARY, last)
    shown = screen(at_terminal(cli, text).wait().err)
    for stream in ("out", "err"):
        lines = [line for line in shown if line.startswith(stream)]
        assert lines == [f"{stream} {n}" for n in range(1, 301)]


def test_the_line_about_a_failure(cli: CommandLine) -> None:
    """Red, on a line of its own, with the sentence and with what was stopped."""
    shown = at_terminal(cli, "printf unfinished; sleep 60.5 & exit 3").wait().stderr
    expected = (
        rf"unfinished\r\n\x1b\[0;31mfirsthand: exit 3 in \S+ s; stopped: sleep 60.5; record {ID}\x1b\[0m\r\n"
    )
    assert re.fullmatch(expected, shown), shown
    shown = cli("run", "--", "fh-no-such-program", terminal="all").stderr
    why = "No program fh-no-such-program on PATH: install it, or give its path"
    assert re.search(rf"firsthand: exit null \(not_found\) in \S+ s; {why}; record {ID}", shown), shown


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": None}])
def test_no_escape_sequence_where_none_is_wanted(cli: CommandLine, env: dict[str, str | None]) -> None:
    """Neither in the line while it is quiet, nor in the last one."""
    cli.env |= {name: value for name, value in env.items() if value is not None}
    for name in [name for name, value in env.items() if value is None]:
        del cli.env[name]
    launch = quickly_quiet(cli, WAIT)
    launch.terminal.until(QUIET_FOR.search)
    let_go_on(cli)
    shown = launch.wait().err
    assert b"\x1b" not in shown
    assert re.fullmatch(SUMMARY, screen(shown)[0])


def test_a_quiet_run_says_that_it_goes_on(cli: CommandLine) -> None:
    """One line, every second; output takes its place."""
    launch = quickly_quiet(cli, f"echo begun; {WAIT}; echo done; sleep 300")
    shown = launch.terminal.until(lambda shown: {b"1", b"2"} <= set(QUIET_FOR.findall(shown)))
    assert re.search(r"^firsthand: \d+ s, quiet for \d+ s \(Ctrl\+C stops it\)$", screen(shown)[1])
    assert len(screen(shown)) == 2
    let_go_on(cli)
    # with its line end: a typed Ctrl+C has the kernel throw away what the terminal has not shown yet
    shown = launch.terminal.until(lambda shown: b"done\r\n" in shown)
    assert screen(shown)[:2] == ["begun", "done"]
    launch.terminal.type(b"\x03")
    assert screen(launch.wait().err)[:3] == ["begun", "done", STOPPING]


def test_an_unfinished_line_is_left_alone(cli: CommandLine) -> None:
    """The line of a quiet run comes below it."""
    launch = quickly_quiet(cli, f"printf 'Is it '; {WAIT}; echo done")
    assert screen(launch.terminal.until(QUIET_FOR.search))[0] == "Is it"
    let_go_on(cli)
    assert screen(launch.wait().err)[:2] == ["Is it", "done"]


def test_the_line_of_a_quiet_run_fits_the_window(cli: CommandLine) -> None:
    """It is cut to the width that the window has then, and rubbed out in that width."""
    launch = quickly_quiet(cli, f"{WAIT}; echo done")
    launch.terminal.until(lambda shown: b"stops it)" in shown)
    launch.terminal.resize(25)
    cut = rb"\r\x1b\[0;2m(firsthand: \d+ s, quiet fo?r?)\x1b\[0m *\r$"
    shown = launch.terminal.until(lambda shown: re.search(cut, shown))
    found = re.search(cut, shown)
    assert found
    assert len(found[1]) == 24
    let_go_on(cli)
    assert b"\r" + b" " * 24 + b"\rdone\r\n" in launch.wait().err


@pytest.mark.parametrize("where", ["CI", "a pipe", "the background"])
def test_no_line_of_a_quiet_run_where_nobody_waits(cli: CommandLine, where: str) -> None:
    """In CI, where standard error is no terminal, and in a background job."""
    words = shlex.join([sys.executable, "-c", QUICKLY_QUIET, "--", "sh", "-c", "sleep 1.2; echo done"])
    if where == "CI":
        cli.env["CI"] = "true"
    line = {"CI": words, "a pipe": f"{words} 2>&1 | cat >&2", "the background": f"set -m; {words} & wait"}
    shown = cli.program("sh", "-c", line[where].replace("--", "--stream --", 1), terminal="all").wait().err
    assert screen(shown)[0] == "done"
    assert b"quiet" not in shown


def test_the_terminals_own_flags_are_left_alone(cli: CommandLine) -> None:
    """Whoever shares the terminal does not find it non-blocking, during the run or after it."""
    look = "python3 -I -S -c 'import fcntl, os; print(fcntl.fcntl(1, fcntl.F_GETFL) & os.O_NONBLOCK)'"
    words = shlex.join([*command(), "run", "--", "sh", "-c", f"echo run; {WAIT}"])
    line = (
        f"{words} & until [ -s store/head ] || [ -d store/running ]; do :; done; {look}; : >go; wait; {look}"
    )
    cli.env["FIRSTHAND_DIR"] = str(cli.tmp / "store")
    shown = screen(cli.program("sh", "-c", line, terminal="all").wait().err)
    assert [text for text in shown if text.isdecimal()] == ["0", "0"]


def test_json_has_standard_output_to_itself(cli: CommandLine) -> None:
    """Live output goes to standard error then, and only when it is asked for."""
    text = "echo out; echo err >&2; exit 3"
    result = cli("run", "--json", "--stream", "--", "sh", "-c", text)
    assert (result.status, result.record["stdout_tail"]) == (3, "out")
    *lines, last = result.stderr.splitlines()
    assert sorted(lines) == ["err", "out"]
    assert re.fullmatch(SUMMARY.replace("exit 0", "exit 3"), last)
    shown = cli("run", "--json", "--", "sh", "-c", text, terminal="all").err
    assert shown.startswith(b'{"acceptance":')
    assert shown.count(b"\n") == 1


def test_no_stream_at_a_terminal_is_the_view(cli: CommandLine) -> None:
    """As for a pipe; and both at once cannot be meant."""
    shown = cli("run", "--no-stream", "--", "echo", "out", terminal="all").stderr
    assert re.match(r"exit 0 in \S+ s\r\n--- stdout\r\nout\r\n---\r\n", shown), shown
    result = cli("run", "--stream", "--no-stream", "--", "true")
    assert result.status == 125
    assert result.stderr.startswith("firsthand: error: --stream and --no-stream exclude each other\nhint: ")


def test_secrets_show_live_and_nowhere_else(cli: CommandLine) -> None:
    """The live view is the terminal's; the record and every file of the store are redacted."""
    secret = "hunter2" + "x" * 9
    (cli.tmp / "config").write_text(f"password={secret}\n")
    result = cli("run", "--stream", "--", "sh", "-c", "cat config; echo end")
    assert result.stdout == f"password={secret}\nend\n"
    (record,) = records(cli)
    assert record["redactions"] == {"password": 1}
    assert [path for path in files(cli.store) if secret.encode() in path.read_bytes()] == []


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
