"""``firsthand run`` at a real terminal: live output, the lines of our own, Ctrl+C, and readers that stop."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.process.hosts import began
from tests.support import eventually, store_records
from tests.support.cli import command
from tests.support.launch import PROGRAMS

from firsthand.cli.screen import LEAVING_OUT, STOPPING, STOPPING_AT_ONCE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import CommandLine, Launch

ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
SUMMARY = rf"firsthand: exit 0 in \d+\.\d\d s; record {ID}"
WAIT = "until [ -e go ]; do sleep 0.02; done"
FLOOD = 8_000_000
QUIET_FOR = re.compile(rb"quiet for (\d+) s")

QUICKLY_QUIET = """
import functools, sys
from firsthand.cli import main, screen
screen.Screen = functools.partial(screen.Screen, quiet=0.3)
sys.exit(main.main(["run", *sys.argv[1:]]))
"""
"""The command line with another notion of quiet."""


def at_terminal(cli: CommandLine, text: str, *options: str) -> Launch:
    return cli.start("run", *options, "--", "sh", "-c", text, terminal="all")


def quickly_quiet(cli: CommandLine, text: str, *options: str) -> Launch:
    words = [sys.executable, "-c", QUICKLY_QUIET, *options, "--", "sh", "-c", text]
    return cli.program(*words, terminal="all")


def let_go_on(cli: CommandLine) -> None:
    (cli.tmp / "go").touch()


def records(cli: CommandLine, seconds: float = 10) -> list[dict[str, Any]]:
    """Return the records once there are any; nobody reads from the terminal meanwhile."""
    return eventually(lambda: store_records(cli.store), bool, seconds)


def plain(shown: bytes) -> str:
    """Return what was shown without styles."""
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())


def screen(shown: bytes) -> list[str]:
    """Return the lines that a terminal shows at last: CR goes back, and what comes then overwrites."""
    lines = []
    for line in plain(shown).split("\n"):
        seen = ""
        for part in line.split("\r"):
            seen = part + seen[len(part) :]
        lines.append(seen.rstrip())
    return lines


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


def test_a_flood_reaches_a_reader_whole(cli: CommandLine) -> None:
    """Where the reader is only a little slower than the command, nothing is left out."""
    result = cli("run", "--stream", "--", "seq", "1", "300000")
    assert result.stdout == "".join(f"{n}\n" for n in range(1, 300_001))
    assert re.fullmatch(SUMMARY + "\n", result.stderr)


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
    shown = launch.terminal.until(lambda shown: b"done" in shown)
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


def test_ctrl_c_once_is_polite(cli: CommandLine) -> None:
    """The command may clean up; the record says cancelled; the terminal is as it was."""
    launch = at_terminal(cli, "trap 'echo polite; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    before = launch.terminal.settings()
    launch.terminal.until(lambda shown: b"ready" in shown)
    launch.terminal.type(b"\x03")
    shown = launch.terminal.until(lambda shown: b"record " in shown)
    assert launch.terminal.settings() == before
    assert launch.wait().status == 130
    (record,) = records(cli)
    assert (record["error"], record["stdout_tail"]) == ("cancelled", "ready\npolite")
    lines = screen(shown)
    assert lines[:2] == ["ready", STOPPING]
    assert "polite" in lines
    assert lines[-2].startswith("firsthand: exit null (cancelled) in ")
    assert STOPPING_AT_ONCE not in lines
    assert not launch.left(0)


def test_ctrl_c_twice_is_hard(cli: CommandLine) -> None:
    """Nobody waits for a command that ignores SIGTERM."""
    took = []
    for _ in range(3):
        launch = at_terminal(cli, 'trap "" TERM; echo ready; while :; do sleep 0.05; done')
        launch.terminal.until(lambda shown: b"ready" in shown)
        launch.terminal.type(b"\x03")
        launch.terminal.until(lambda shown: STOPPING.encode() in shown)
        launch.terminal.type(b"\x03")
        second = time.monotonic()
        result = launch.wait(10)
        took.append(time.monotonic() - second)
        assert result.status == 130
        assert screen(result.err)[:3] == ["ready", STOPPING, STOPPING_AT_ONCE]
        assert records(cli)[-1]["error"] == "cancelled"
        assert not launch.left(0)
        if took[-1] < 1.2:  # one quick one shows it; a slow one may be this machine
            return
    pytest.fail(f"not at once: {took}")


def test_a_reader_that_goes_away(cli: CommandLine) -> None:
    """``| head -1``: no error, and the record is complete."""
    text = f"echo first; {WAIT}; seq 1 50000; echo last; exit 3"
    words = shlex.join([*command(), "run", "--stream", "--", "sh", "-c", text])
    line = f"{{ {words}; echo $? >status; }} | {{ head -1; : >go; }}"
    result = cli.program("sh", "-c", line).wait()
    assert result.stdout == "first\n"
    assert re.fullmatch(SUMMARY.replace("exit 0", "exit 3") + "\n", result.stderr)
    (record,) = records(cli)
    assert (cli.tmp / "status").read_text() == "3\n"
    assert (record["exit_code"], record["stdout_tail"][-4:]) == (3, "last")
    assert record["bytes"]["stdout"] == sum(len(f"{n}\n") for n in range(1, 50_001)) + len("first\nlast\n")


@pytest.mark.parametrize("hang_up", ["ignored", "heard"])
def test_a_window_that_is_closed(cli: CommandLine, hang_up: str) -> None:
    """The kernel's SIGHUP cancels; where ``nohup`` has it ignored the run goes on to its end."""
    text = f": >begun; echo first; {WAIT}; echo second"
    words = [*command(), "run", "--", "sh", "-c", text]
    if hang_up == "ignored":
        program = str(PROGRAMS / "start_with.py")
        words = [sys.executable, "-I", "-S", program, "--ignore", "SIGHUP", "--", *words]
    launch = cli.program(*words, terminal="all")
    launch.terminal.until(lambda shown: b"first" in shown)
    began(cli)
    launch.terminal.hang_up()
    if hang_up == "ignored":
        let_go_on(cli)
    assert launch.wait().status == (0 if hang_up == "ignored" else 129)
    (record,) = records(cli)
    expected = (None, "first\nsecond") if hang_up == "ignored" else ("cancelled", "first")
    assert (record["error"], record["stdout_tail"]) == expected


def test_a_terminal_that_nobody_reads(cli: CommandLine) -> None:
    """The run ends and its counts are right; what is shown later has its gap named and counted."""
    launch = at_terminal(cli, f"yes | head -c {FLOOD}; echo last")
    (record,) = records(cli)
    assert (record["exit_code"], record["bytes"]["stdout"]) == (0, FLOOD + 5)
    assert record["stdout_tail"].endswith("y\nlast")
    result = launch.wait()
    shown = screen(result.err)
    (count,) = re.findall(r"^firsthand: ([\d,]+) bytes were left out above$", "\n".join(shown), re.MULTILINE)
    assert shown.count(LEAVING_OUT) == 1
    assert shown.index(LEAVING_OUT) < shown.index("last")
    assert shown.count("y") * 2 + int(count.replace(",", "")) == FLOOD
    assert re.fullmatch(SUMMARY, shown[-2])


@pytest.mark.parametrize("who", ["the terminal", "the front"])
def test_what_is_stopped_does_not_stop_the_clock(cli: CommandLine, who: str) -> None:
    """A command that prints without end is read, and ended at its limit, whoever has stopped reading."""
    launch = at_terminal(cli, "yes", "--timeout", "3")
    launch.terminal.until(lambda shown: b"y" in shown)
    if who == "the front":
        os.kill(launch.pid, signal.SIGSTOP)
    try:
        (record,) = records(cli)
        assert (record["error"], record["duration_ms"] >= 3000) == ("timeout", True)
        assert record["bytes"]["stdout"] > FLOOD
        assert "yes" not in [process.command for process in launch.left(0)]
    finally:
        os.kill(launch.pid, signal.SIGCONT)
    assert launch.wait().status == 124


def test_ctrl_s_and_ctrl_q(cli: CommandLine) -> None:
    """What comes while the output is stopped is shown when it goes on; the run does not wait for that."""
    launch = at_terminal(cli, f"echo first; {WAIT}; echo second")
    launch.terminal.until(lambda shown: b"first" in shown)
    launch.terminal.type(b"\x13")
    let_go_on(cli)
    (record,) = records(cli)
    assert record["stdout_tail"] == "first\nsecond"
    assert b"second" not in launch.terminal.shown
    launch.terminal.type(b"\x11")
    assert screen(launch.wait().err)[:2] == ["first", "second"]


def test_a_signal_ends_what_waits_for_a_stopped_terminal(cli: CommandLine) -> None:
    """The command has ended long ago: nobody has to wait for its output to be shown."""
    launch = at_terminal(cli, f"yes | head -c {FLOOD}; exit 3")
    launch.terminal.until(lambda shown: b"y" in shown)
    launch.terminal.type(b"\x13")
    (record,) = records(cli)
    assert record["exit_code"] == 3
    time.sleep(0.3)
    launch.signal(signal.SIGTERM)
    assert eventually(lambda: launch.left(0), lambda left: not left, 5) == []
    assert launch.wait().status in {3, 143}


def test_a_killed_front(cli: CommandLine) -> None:
    """The keeper stops the run and writes the null record, as without a live view."""
    launch = at_terminal(cli, "echo first; sleep 300")
    launch.terminal.until(lambda shown: b"first" in shown)
    os.kill(launch.pid, signal.SIGKILL)
    (record,) = records(cli)
    assert (record["error"], record["stdout_tail"]) == ("runner_died", "first")
    assert not launch.left(0.5)


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


def test_a_full_disk_is_one_remark(cli: CommandLine) -> None:
    """The run goes on, and its status is the command's."""
    words = shlex.join([*command(), "run", "--stream", "--", "sh", "-c", "echo a; sleep 0.1; echo b; exit 3"])
    result = cli.program("sh", "-c", f"{words} >/dev/full").wait()
    assert result.status == 3
    note, last = result.stderr.splitlines()
    assert note == "firsthand: note: the output cannot be shown (No space left on device)"
    assert re.fullmatch(SUMMARY.replace("exit 0", "exit 3"), last)
