"""A signal to the front cancels, a second one hurries, and the time limit comes to stopped processes too."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest
from tests.process.hosts import began, start_with, the_record
from tests.support import check_stored, check_whole, store_records

if TYPE_CHECKING:
    from tests.support import CommandLine, Launch, Result

CANCELLING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]


def _cancel(cli: CommandLine, name: str, text: str, *args: str) -> tuple[Launch, Result]:
    """Start a command that makes the file ``begun``, send the front one signal, and wait."""
    launch = cli.start("run", "--json", *args, "--", "sh", "-c", text)
    began(cli)
    launch.signal(signal.Signals[name])
    return launch, launch.wait(10)


@pytest.mark.parametrize("name", CANCELLING)
def test_a_signal_to_the_front_cancels(cli: CommandLine, name: str) -> None:
    """The command and what it started are stopped; status 128+n, what was printed is kept."""
    text = "echo printed; setsid sleep 300 & : >begun; sleep 300"
    launch, result = _cancel(cli, name, text)
    record = result.record
    assert (result.status, result.stderr) == (128 + signal.Signals[name], "")
    assert (record["exit_code"], record["error"]) == (None, "cancelled")
    assert record["stdout_tail"] == "printed"
    assert not launch.left(0)
    check_whole(record, via="cli", took_ms=result.seconds * 1000)
    check_stored(record, cli.store)


def test_a_cancelled_command_that_ignores_sigterm_gets_2_seconds(cli: CommandLine) -> None:
    """Then it is killed; the one signal was enough."""
    launch, result = _cancel(cli, "SIGINT", 'trap "" TERM; : >begun; while :; do sleep 0.05; done')
    assert (result.status, result.record["error"]) == (130, "cancelled")
    assert result.record["duration_ms"] >= 2000
    assert not launch.left(0)


def test_a_second_sigint_hurries(cli: CommandLine) -> None:
    """Who presses Ctrl+C twice does not wait for the 2 s."""
    took = []
    for number in range(3):
        text = f'trap "" TERM; : >begun-{number}; while :; do sleep 0.05; done'
        launch = cli.start("run", "--json", "--", "sh", "-c", text)
        began(cli, f"begun-{number}")
        launch.signal(signal.SIGINT)
        time.sleep(0.1)
        launch.signal(signal.SIGINT)
        second = time.monotonic()
        result = launch.wait(10)
        took.append(time.monotonic() - second)
        assert (result.status, result.record["error"]) == (130, "cancelled")
        assert not launch.left(0)
        if took[-1] < 1.2:  # one quick one shows it; a slow one may be this machine
            return
    pytest.fail(f"not hurried: {took}")


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP"])
def test_the_command_does_not_get_the_callers_signal(cli: CommandLine, name: str) -> None:
    """It is in a session of its own: SIGTERM of ours is all that it sees."""
    text = (
        'trap "echo INT" INT; trap "echo HUP" HUP; trap "echo TERM; exit 0" TERM; : >begun; '
        "while :; do sleep 0.02; done"
    )
    _, result = _cancel(cli, name, text)
    assert result.record["stdout_tail"] == "TERM"


def test_an_ignored_sighup_stays_ignored(cli: CommandLine) -> None:
    """Under ``nohup`` the run goes on when the terminal goes away."""
    args = ("run", "--json", "--", "sh", "-c", ": >begun; sleep 0.5; echo done")
    launch = start_with(cli, "--ignore", "SIGHUP", args=args)
    began(cli)
    for _ in range(3):
        launch.signal(signal.SIGHUP)
    result = launch.wait()
    assert (result.status, result.stderr) == (0, "")
    assert (result.record["exit_code"], result.record["stdout_tail"]) == (0, "done")


def test_a_signal_after_the_command_has_ended_loses_nothing(cli: CommandLine) -> None:
    """A cancel that comes during the drain or the append: one record, and its number or null, never both."""
    for delay in (0.0, 0.03, 0.06, 0.1, 0.15, 0.2, 0.25):
        name = f"ended-{delay}"
        launch = cli.start("run", "--json", "--", "sh", "-c", f"sleep 301 & echo done; : >{name}; exit 3")
        began(cli, name)
        time.sleep(delay)
        launch.signal(signal.SIGTERM)
        result = launch.wait()
        if result.out:
            end = (result.status, result.record["exit_code"], result.record["error"])
            assert end in {(3, 3, None), (143, None, "cancelled"), (143, 3, None)}
            assert result.record["stdout_tail"] == "done"
        assert not launch.left(0.5)
        assert len(store_records(cli.store)) == 1, f"after {delay} s"
        check_stored(store_records(cli.store)[0], cli.store)
        (cli.store / "feedback_record.jsonl").unlink()
        (cli.store / "head").unlink()


def test_a_stopped_front_does_not_stop_the_clock(cli: CommandLine) -> None:
    """SIGSTOP to the front, like Ctrl+Z: the keeper ends the command at its limit and writes the record."""
    launch = cli.start("run", "--json", "--timeout", "0.8", "--", "sh", "-c", ": >begun; sleep 300")
    began(cli)
    os.kill(launch.pid, signal.SIGSTOP)
    record = the_record(cli)
    try:
        assert (record["exit_code"], record["error"]) == (None, "timeout")
        assert "sleep 300" not in [process.command for process in launch.left(0)]
    finally:
        os.kill(launch.pid, signal.SIGCONT)
    result = launch.wait()
    assert (result.status, result.record) == (124, record)
    assert not launch.left(0.5)


@pytest.mark.parametrize("who", ["the command", "a grandchild", "the whole group"])
def test_a_stopped_command_ends_at_the_limit(cli: CommandLine, who: str) -> None:
    """A process that is stopped (SIGSTOP) is alive: it is killed at the limit like any other."""
    text = {
        "the command": "echo begun; kill -STOP $$",
        "a grandchild": "echo begun; sh -c 'kill -STOP $$'",
        "the whole group": "echo begun; sleep 300 & kill -STOP 0",
    }[who]
    launch = cli.start("run", "--json", "--timeout", "0.5", "--", "sh", "-c", text)
    result = launch.wait(10)
    assert (result.status, result.record["error"]) == (124, "timeout")
    assert result.record["stdout_tail"] == "begun"
    assert not launch.left(0)
