"""After a time-out nothing that the kernel lets us stop is alive; what it does not is named."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from tests.process.hosts import began, python, told
from tests.process.strays import DAEMON, actions, check_entries, run_ok
from tests.support import check_stored, check_whole, eventually
from tests.support.alive import children
from tests.support.cli import command
from tests.support.launch import PROGRAMS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import CommandLine, Launch

GRACE_MS = 2000
"""What a command has between SIGTERM and SIGKILL."""
SWEEP_MS = 5000
"""When the sweep gives up."""


def compiled(folder: Path, name: str) -> Path | None:
    """Return the program made from ``programs/NAME.c``, or None where there is no compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        return None
    subprocess.run([compiler, "-O1", "-o", folder / name, PROGRAMS / f"{name}.c"], check=True, timeout=60)
    return folder / name


def somebody_lives(folder: Path) -> bool:
    """Ask the kernel whether a hostile program still holds its lock; looks at processes miss re-forkers."""
    with open(folder / "alive", "rb") as file:

        def free() -> bool:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        return not eventually(free, bool, 0.2)


@pytest.mark.serial
def test_200_hostile_strays_after_a_time_out(any_cli: CommandLine) -> None:
    """Daemons that ignore SIGTERM and processes that fork without end: nothing of them is left."""
    reforker = compiled(any_cli.tmp, "reforker")
    words = ["170", "10", str(reforker), "20"] if reforker else ["170", "30"]
    launch = any_cli.start("run", "--json", "--timeout", "1.5", "--", *python("hostile", *words))
    result = launch.wait(30)
    left = launch.left(0)
    assert not left, f"{len(left)} left alive: {left[:5]}"
    assert not somebody_lives(any_cli.tmp)
    record = result.record
    assert (result.status, record["exit_code"], record["error"]) == (124, None, "timeout")
    assert record["stdout_tail"] == "ready", "the strays were not all there"
    assert "left" not in {action for _, action in actions(record)}
    check_whole(record, via="cli", took_ms=result.seconds * 1000)
    check_stored(record, any_cli.store)


@pytest.mark.serial
def test_hostile_strays_of_a_library_call(cli: CommandLine) -> None:
    """The keeper of a library's host reaches the same strays, again and again."""
    reforker = compiled(cli.tmp, "reforker")
    words = ["12", "2", str(reforker), "4"] if reforker else ["12", "6"]
    options = {"timeout": 0.5}
    argvs = [python("hostile", *words)]
    assert told(cli, "host_runs", argvs=argvs, times=2, contain="keeper", options=options) == {
        "ends": [[None, "timeout", "subreaper", "ready"]] * 2,
        "raised": None,
    }
    assert not somebody_lives(cli.tmp)


@pytest.mark.serial
@pytest.mark.parametrize("options", [{"timeout": 0.5}, {"strays": "stop"}], ids=["timeout", "stop"])
def test_hostile_strays_of_a_group(cli: CommandLine, options: dict[str, Any]) -> None:
    """What stays in the command's group is ended as a group, so that none is missed."""
    hostile = " ".join(python("hostile", "6", "4", "together"))
    until = "rm -f ready; {} & until [ -e ready ]; do sleep 0.05; done; [ {} = 0 ] || exec sleep 60"
    argv = ["bash", "-c", until.format(hostile, int("timeout" in options))]
    report = told(cli, "host_runs", argvs=[argv], times=3, contain="group", options=options)
    expected = [None, "timeout"] if "timeout" in options else [0, None]
    assert report == {"ends": [[*expected, "group", "ready"]] * 3, "raised": None}
    assert not somebody_lives(cli.tmp)


@pytest.mark.serial
@pytest.mark.parametrize(("policy", "words"), [("stop", []), ("auto", ["loud"])], ids=["stop", "auto"])
def test_hostile_strays_are_stopped_after_a_normal_end(
    cli: CommandLine, policy: str, words: list[str]
) -> None:
    """After exit 0 ``stop`` ends all of them, ``auto`` those that hold our pipes: daemons and re-forkers."""
    hostile = " ".join(python("hostile", "10", "4", *words))
    text = f"{hostile} & until [ -e ready ]; do sleep 0.05; done"
    record, launch = run_ok(cli, "--strays", policy, "--", "bash", "-c", text)
    left = launch.left(0)
    assert not left, f"{len(left)} left alive: {left[:5]}"
    assert not somebody_lives(cli.tmp)
    assert {action for _, action in actions(record)} == {"stopped"}


@pytest.mark.serial
def test_the_front_of_a_shot_keeper_misses_nobody_beside_other_jobs(cli: CommandLine) -> None:
    """A shell that execs firsthand leaves it its job, which is spared; what the keeper ran is ended."""
    reforker = compiled(cli.tmp, "reforker")
    hostile = python("hostile", "6", "2", *([str(reforker), "4"] if reforker else []))
    words = [*command(), "run", "--json", "--", *hostile]
    launch = cli.program("bash", "-c", 'sleep 301 >/dev/null 2>&1 & exec "$@"', "bash", *words)
    began(cli, "ready")
    (keeper,) = (process.pid for process in children(launch.pid) if "sleep" not in process.command)
    os.kill(keeper, signal.SIGKILL)
    result = launch.wait()
    assert (result.status, result.record["error"], result.record["strays"]) == (125, "runner_died", [])
    assert result.seconds * 1000 > GRACE_MS, "they were asked first"
    assert not somebody_lives(cli.tmp)
    (job,) = launch.left(0)
    assert job.command == "sleep 301"
    os.kill(job.pid, signal.SIGKILL)


@pytest.mark.parametrize("policy", ["auto", "keep"])
def test_nothing_is_kept_after_a_time_out(cli: CommandLine, policy: str) -> None:
    """The policy is for normal ends; at a time-out a proper daemon goes too."""
    launch = cli.start(
        "run", "--json", "--timeout", "0.6", "--strays", policy, "--", "sh", "-c", DAEMON + "; sleep 300"
    )
    result = launch.wait()
    assert (result.status, result.record["error"]) == (124, "timeout")
    assert not launch.left(0)


def test_a_setuid_child_is_named_left(user_cli: CommandLine) -> None:
    """A process of root that the user may not signal is named with the reason; the call returns in time."""
    helper = compiled(user_cli.tmp, "become_root")
    if not helper:
        pytest.skip("no C compiler")
    _make_setuid(helper)
    launch = user_cli.start("run", "--json", "--timeout", "0.5", "--", "sh", "-c", "./become_root 300; true")
    result = launch.wait(10)
    record = result.record
    assert (result.status, record["exit_code"], record["error"]) == (124, None, "timeout")
    check_entries(record)
    assert actions(record) == [("./become_root 300", "left")]
    assert [process.pid for process in launch.left(0)] == [record["strays"][0]["pid"]]
    assert record["duration_ms"] < 500 + GRACE_MS + SWEEP_MS, "only EPERM answers: nothing to wait for"
    check_stored(record, user_cli.store)
    _end_of_root(launch)


def test_a_setuid_child_cannot_delay_a_normal_end(user_cli: CommandLine) -> None:
    """It holds the pipes and cannot be stopped; it is named, and the call returns with the exit code."""
    helper = compiled(user_cli.tmp, "become_root")
    if not helper:
        pytest.skip("no C compiler")
    _make_setuid(helper)
    launch = user_cli.start(
        "run", "--json", "--", "sh", "-c", "./become_root 300 & sleep 0.3; echo done; exit 4"
    )
    result = launch.wait(10)
    record = result.record
    assert (result.status, record["exit_code"], record["stdout_tail"]) == (4, 4, "done")
    assert actions(record) == [("./become_root 300", "left")]
    check_entries(record)
    _end_of_root(launch)


def test_a_setuid_child_that_may_be_signalled_is_stopped(user_cli: CommandLine) -> None:
    """Its files in /proc are closed to us, but its real user is ours: it is stopped like any other."""
    helper = user_cli.tmp / "sleep"
    shutil.copy(os.path.realpath(shutil.which("sleep") or "/bin/sleep"), helper)
    _make_setuid(helper)
    launch = user_cli.start("run", "--json", "--", "sh", "-c", "./sleep 300 & sleep 0.2; exit 4")
    result = launch.wait(10)
    assert (result.status, actions(result.record)) == (4, [("./sleep 300", "stopped")])
    assert not launch.left(0.5)


def _make_setuid(helper: Path) -> None:
    """Make it root's, with the setuid bit; its folder lets nobody else in."""
    os.chown(helper, 0, 0)
    helper.chmod(0o4755)
    if os.statvfs(helper).f_flag & os.ST_NOSUID:
        pytest.skip("temporary files cannot be setuid here")


def _end_of_root(launch: Launch) -> None:
    for process in launch.left(0):
        if process.command.startswith("./become_root"):
            os.kill(process.pid, signal.SIGKILL)
    assert not launch.left(0.5)
