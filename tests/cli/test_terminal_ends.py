"""``firsthand run`` at a real terminal: Ctrl+C, and readers that stop or go away."""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.cli.terminals import (
    FLOOD,
    SUMMARY,
    WAIT,
    at_terminal,
    let_go_on,
    records,
    screen,
)
from tests.process.hosts import began
from tests.support import eventually
from tests.support.cli import command
from tests.support.launch import PROGRAMS

from firsthand.cli.screen import LEAVING_OUT, STOPPING, STOPPING_AT_ONCE
from firsthand.process.live import MOST_QUEUED

if TYPE_CHECKING:
    from tests.support import CommandLine


def test_a_flood_reaches_a_reader_whole(cli: CommandLine) -> None:
    """Where the reader is only a little slower than the command, nothing is left out."""
    result = cli("run", "--stream", "--", "seq", "1", "300000")
    assert result.stdout == "".join(f"{n}\n" for n in range(1, 300_001))
    assert re.fullmatch(SUMMARY + "\n", result.stderr)


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


def test_a_slow_reader_is_told_once(cli: CommandLine) -> None:
    """However many places there are where something is left out; the bytes are counted."""
    words = shlex.join([*command(), "run", "--stream", "--timeout", "4", "--", "yes"])
    slow = "import os, time\nwhile os.read(0, 65536): time.sleep(0.05)"
    result = cli.program("sh", "-c", f'{words} | python3 -I -S -c "$0"', slow).wait()
    first, count, last = result.stderr.splitlines()
    assert first == LEAVING_OUT
    assert re.fullmatch(r"firsthand: [\d,]+ bytes were left out above", count)
    assert last.startswith("firsthand: exit null (timeout) in ")


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
        assert record["bytes"]["stdout"] > 3 * MOST_QUEUED
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


def test_a_full_disk_is_one_remark(cli: CommandLine) -> None:
    """The run goes on, and its status is the command's."""
    words = shlex.join([*command(), "run", "--stream", "--", "sh", "-c", "echo a; sleep 0.1; echo b; exit 3"])
    result = cli.program("sh", "-c", f"{words} >/dev/full").wait()
    assert result.status == 3
    note, last = result.stderr.splitlines()
    assert note == "firsthand: note: the output cannot be shown (No space left on device)"
    assert re.fullmatch(SUMMARY.replace("exit 0", "exit 3"), last)
