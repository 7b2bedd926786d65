"""The library in real hosts: threads, asyncio, forks, children of their own; each is left as it was."""

from __future__ import annotations

import signal
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.process.hosts import CONTAINS, host, told
from tests.support import check_stored, check_whole, eventually, one_object, store_records
from tests.support.whole import check_quiet

if TYPE_CHECKING:
    from tests.support import CommandLine

THREADS, RUNS = 8, 8
INTERRUPTS = 16
TIDY_RUNS = 1000
"""A descriptor or a child that is left only now and then shows in so many runs."""
FAST_AND_STRANGE = [
    ["sh", "-c", "exit 3"],
    ["firsthand-no-such-program"],
    ["sh", "-c", "sleep 300 & echo started"],
    ["/"],
    ["sh", "-c", "kill -9 $$"],
    ["sh", "-c", "exec >&- 2>&-"],
    ["sh", "-c", "seq 20000; seq 20000 >&2"],
]
"""Each way in which a run can end soon."""


def expected_ends() -> list[list[Any]]:
    return [
        [thread, run, thread * 10 + run, f"{thread} {run}", f"err {thread} {run}"]
        for thread in range(THREADS)
        for run in range(RUNS)
    ]


@pytest.mark.parametrize("contain", CONTAINS)
@pytest.mark.parametrize("how", ["threads", "asyncio"])
def test_many_runs_at_once_beside_children_of_the_host(cli: CommandLine, how: str, contain: str) -> None:
    """Every run has its own output and status, and the host gets the statuses of its own children."""
    report = told(cli, "host_threads", how=how, threads=THREADS, runs=RUNS, contain=contain)
    assert report["raised"] == []
    assert report["ends"] == expected_ends()
    assert report["children"], "the host had no children meanwhile"
    assert [got for _, got in report["children"]] == [sent for sent, _ in report["children"]]
    records = store_records(cli.store)
    assert Counter(record["exit_code"] for record in records) == Counter(end[2] for end in expected_ends())
    assert [record["seq"] for record in records] == list(range(1, THREADS * RUNS + 1))
    assert len({record["command_id"] for record in records}) == THREADS * RUNS
    check_quiet(cli.store)


@pytest.mark.parametrize("contain", CONTAINS)
def test_a_host_that_forks_itself(cli: CommandLine, contain: str) -> None:
    """Forked children of the host run commands too, and disturb neither the parent's nor each other's."""
    report = told(cli, "host_forking", children=3, runs=4, contain=contain)
    assert report == {
        "parent": [[7, f"parent {run}"] for run in range(4)],
        "children": [[7, f"child-{child} {run}"] for child in range(3) for run in range(4)],
        "statuses": [0, 0, 0],
    }


@pytest.mark.parametrize("contain", CONTAINS)
def test_a_command_gets_what_the_host_has_now(cli: CommandLine, contain: str) -> None:
    """Folder, umask, environment and limits are those of the moment of the call, not of an earlier one."""
    folders = [str(cli.tmp), "/", str(cli.home)]
    argv = ["sh", "-c", "pwd; umask; echo $FH_NUMBER; ulimit -n"]
    report = told(cli, "host_moving", argv=argv, contain=contain, folders=folders)
    assert report["said"] == [f"{folder}\n002{n}\n{n}\n50{n}" for n, folder in enumerate(folders)]


def _check_tidy(report: dict[str, Any]) -> None:
    """Check that nothing of the host has changed but one descriptor, its way to the warm process."""
    before, first, last = (dict(report[moment]) for moment in ("before", "first", "last"))
    for seen in (first, last):
        assert seen.pop("children") == before["children"]
        assert seen.pop("fds") - before["fds"] <= 1, "descriptors of the host"
    assert report["first"]["fds"] == report["last"]["fds"]
    del before["children"], before["fds"]
    assert first == before
    assert last == before
    assert before["subreaper"] == 0


@pytest.mark.parametrize(("contain", "runs"), [("keeper", TIDY_RUNS), ("group", TIDY_RUNS)])
def test_a_host_is_left_as_it_was(cli: CommandLine, contain: str, runs: int) -> None:
    """After many runs: the same descriptors, handlers, mask, wakeup descriptor; no child, no subreaper."""
    argvs = [FAST_AND_STRANGE[0]]
    _check_tidy(told(cli, "host_tidy", runs=runs, contain=contain, argvs=argvs, options={}))
    assert [record["exit_code"] for record in store_records(cli.store)] == [3] * runs


@pytest.mark.parametrize("contain", CONTAINS)
def test_a_host_is_left_as_it_was_by_every_kind_of_end(cli: CommandLine, contain: str) -> None:
    """The same where commands are missing, shot, closed their pipes or left strays."""
    runs = 5 * len(FAST_AND_STRANGE)
    _check_tidy(told(cli, "host_tidy", runs=runs, contain=contain, argvs=FAST_AND_STRANGE, options={}))
    ends = [(record["exit_code"], record["error"]) for record in store_records(cli.store)]
    once = [
        (3, None),
        (None, "not_found"),
        (0, None),
        (None, "permission"),
        (None, "signal:SIGKILL"),
        (0, None),
        (0, None),
    ]
    assert ends == once * 5


@pytest.mark.parametrize("contain", CONTAINS)
def test_a_host_is_left_as_it_was_by_time_outs(cli: CommandLine, contain: str) -> None:
    """The same after runs that had to be ended with what they started; group mode reaches their session."""
    stray = "setsid sleep 300" if contain == "keeper" else "sleep 300"
    argvs = [["sh", "-c", f"{stray} & sleep 300"], ["sleep", "300"]]
    options = {"timeout": 0.15}
    _check_tidy(told(cli, "host_tidy", runs=8, contain=contain, argvs=argvs, options=options))
    assert [record["error"] for record in store_records(cli.store)] == ["timeout"] * 8


@pytest.mark.parametrize("contain", CONTAINS)
def test_ctrl_c_in_the_host(cli: CommandLine, contain: str) -> None:
    """The interrupt reaches the host as it came, with the record; the command and its children are gone."""
    argv = ["sh", "-c", "echo printed; sleep 300 & : >begun; sleep 300"]
    launch = host(cli, "host_interrupted", argv=argv, contain=contain)
    assert eventually((cli.tmp / "begun").exists, bool, 5)
    launch.signal(signal.SIGINT)
    report = one_object(launch.line())
    record = report["record"]
    assert (report["raised"], report["handler"], report["next"]) == ("KeyboardInterrupt", True, 3)
    assert "sleep 300" not in [process.command for process in launch.left(0)]
    assert (record["exit_code"], record["error"], record["stdout_tail"]) == (None, "cancelled", "printed")
    check_whole(record, via="library", took_ms=60_000)
    check_stored(record, cli.store)
    launch.end_stdin()
    result = launch.wait()
    assert (result.status, result.stderr) == (0, "")
    assert not launch.left(0.5)
    assert [record["error"] for record in store_records(cli.store)] == ["cancelled", None]
    check_quiet(cli.store)


@pytest.mark.parametrize("contain", CONTAINS)
def test_ctrl_c_at_any_moment(cli: CommandLine, contain: str) -> None:
    """Wherever in the call it comes: the command is gone, one record is there, nothing else is raised."""
    for number in range(INTERRUPTS):
        mark = f"begun-{number}"
        argv = ["sh", "-c", f": >{mark}; sleep 0.05; exit 3"]
        launch = host(cli, "host_interrupted", argv=argv, contain=contain, once=True)
        assert eventually((cli.tmp / mark).exists, bool, 5)
        time.sleep(number * 0.1 / INTERRUPTS)  # around the command's end, and the end of the call
        launch.signal(signal.SIGINT)
        result = launch.wait()
        left = launch.left(0.5)
        assert not left, f"{number}: left alive {left}"
        (record,) = [record for record in store_records(cli.store) if mark in record["command"][2]]
        assert (record["exit_code"], record["error"]) in {(3, None), (None, "cancelled")}
        if result.status == 0:  # else it came after the call
            report = one_object(result.out)
            assert report["raised"] in {None, "KeyboardInterrupt"}
            assert report["record"] == record
        cli.let_go(launch)
    check_quiet(cli.store)
