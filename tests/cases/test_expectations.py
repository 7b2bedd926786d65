"""The case runner itself: every expectation can fail, nothing is ignored, two runs do not see each other."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.cases import expectations
from tests.cases.drive import Seen
from tests.cases.expectations import check
from tests.cases.rows import load, prepare, refuse_unknown
from tests.support import SLACK, eventually, wait_gone
from tests.support.store import LIVE
from tests.support.whole import KEYS, canonical, check_whole

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import CommandLine

_CUT = "a\n...truncated 7 lines...\nxx...truncated 8 characters...x"

RECORD: dict[str, Any] = {
    **dict.fromkeys(KEYS),
    "schema": "firsthand.record/1",
    "command_id": "01a22bb3-4868-78bc-843b-078aeb99b58c",
    "source": "runner",
    "via": "cli",
    "started_at": "2026-11-30T08:31:58.042Z",
    "duration_ms": 12,
    "exit_code": 3,
    "stdout_tail": _CUT,
    "stderr_tail": "warning",
    "truncations": {"stdout": 7, "stderr": 0},
    "bytes": {"stdout": 500, "stderr": 7},
    "exit_masked_by": "|",
    "environment": "agent",
    "strays": [{"command": "sleep 9", "action": "stopped"}, {"command": "daemon", "action": "kept"}],
}

OF_THE_RECORD: list[tuple[str, Any, Any]] = [
    ("exit_code", 3, 4),
    ("exit_code", "any", None),
    ("error", None, "timeout"),
    ("exit_code_in", [0, 3], [0, 5]),
    ("error_in", ["timeout", None], ["timeout"]),
    ("stdout_has", ["a", "xx"], ["a", "b"]),
    ("stdout_not", ["b"], ["b", "a"]),
    ("stdout_is", _CUT + "\n", "a"),
    ("stderr_has", ["warn"], ["error"]),
    ("stderr_not", ["error"], ["warn"]),
    ("stderr_is", "warning", "warn"),
    ("bytes", {"stdout": 500}, {"stdout": 501}),
    ("truncated", {"stdout": 7}, {"stdout": 8}),
    ("truncated", {"stdout": 7}, {"stderr": 0}),
    ("chars", {"x": 11}, {"x": 12}),
    ("exit_masked_by", "|", None),
    ("environment", "agent", "inherit"),
    ("strays_has", ["sleep"], ["daemon"]),
]

OF_THE_RUN: list[tuple[str, Any, Any]] = [
    ("min_s", 2, 4),
    ("max_s", 3 / SLACK, 2 / SLACK),
    ("max_rss_mb", 20, 19),
    ("stdin_left", True, False),
    ("fds_same", True, False),
    ("same_twice", True, False),
    ("max_record_bytes", len(canonical(RECORD)), len(canonical(RECORD)) - 1),
    ("record_not", ["hidden"], ["warning"]),
    ("record_not", ["hidden"], ["in-another-file"]),
    ("file_present", "made", "not-made"),
    ("file_absent_after_4s", "not-made", "made"),
    ("zombies", 0, 1),
]


def _seen(folder: Path) -> Seen:
    """Return what a run might have come to, with its store."""
    store = folder / "store"
    store.mkdir()
    (store / LIVE).write_bytes(canonical(RECORD) + b"\n")
    (store / "head").write_text("in-another-file", encoding="ascii")
    (folder / "made").touch()
    facts: dict[str, Any] = {
        "seconds": 3.0,
        "max_rss_mb": 20.0,
        "fds": [5, 5],
        "returned": time.monotonic() - 9,
    }
    return Seen(
        folder, store, [RECORD], again=RECORD, stdin_text=b"in", stdin_left=b"in", root=os.getpid(), **facts
    )


@pytest.mark.parametrize(("key", "holds", "broken"), OF_THE_RECORD + OF_THE_RUN)
def test_each_expectation_can_fail(key: str, holds: Any, broken: Any, tmp_path: Path) -> None:
    """A key passes on what it describes and fails on its contrary."""
    seen = _seen(tmp_path)
    check({key: holds}, seen)
    if broken is not None or holds != "any":
        with pytest.raises(AssertionError):
            check({key: broken}, seen)


def test_every_expectation_is_tried_here() -> None:
    """No check can be added without a case of its contrary."""
    tried = {key for key, _, _ in OF_THE_RECORD + OF_THE_RUN} | {"gone", "detail_has"}
    assert tried == set(expectations._OF_RECORD) | set(expectations._OF_RUN)


def test_detail_is_looked_for_where_there_is_one(tmp_path: Path) -> None:
    """A record without an error has no detail, so nothing stands in it."""
    seen = _seen(tmp_path)
    with pytest.raises(AssertionError):
        check({"detail_has": ["nope"]}, seen)
    seen.records = [{**RECORD, "error_detail": "no such folder: nope"}]
    check({"detail_has": ["nope"]}, seen)


def test_gone_finds_the_living_and_no_zombie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process counts while it runs; as a zombie it shows nothing."""
    monkeypatch.setattr("tests.support.slack.SLACK", 0.1)
    seconds = f"60.{os.getpid():010d}"
    process = subprocess.Popen(["sleep", seconds])
    try:
        with pytest.raises(AssertionError, match="still alive"):
            check({"gone": [seconds]}, _seen(tmp_path))
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not wait_gone(seconds)
    finally:
        process.kill()
        process.wait()


def test_an_unknown_key_fails(tmp_path: Path) -> None:
    """Neither a row nor its expectations can hold something that nobody looks at."""
    row = load()[0]
    refuse_unknown(row)
    for wrong in (
        {"colour": "red"},
        {"nofile": 9},
        {"via": "mcp"},
        {"via": "library", "flags": ["--stream"]},
    ):
        with pytest.raises(AssertionError):
            refuse_unknown({**row, **wrong})
    with pytest.raises(AssertionError, match="colour"):
        check({"exit_code": 3, "colour": "red"}, _seen(tmp_path))


def test_no_row_is_of_a_kind_that_is_not_known() -> None:
    """Every row of the file passes the check of its keys, also those that are not run here."""
    for row in load():
        refuse_unknown(row)
    assert len(load()) == 88


def test_filling_in(tmp_path: Path) -> None:
    """Folders, big and raw arguments and marks are put in; marks are the same throughout one run only."""
    words = ["sleep 9.0101 & {TMP}/fhtokA03", "@BIG:3", "@RAW:ff", "@NUL"]
    row = {"argv": words, "expect": {"gone": ["9.0101", "fhtokA03"]}, "files": {"{TMP}": ["9.0101", 420]}}
    first, second = prepare(row, tmp_path), prepare(row, tmp_path)
    sleep, token = first["expect"]["gone"]
    assert first["argv"] == [f"sleep {sleep} & {tmp_path}/{token}", "bbb", "\udcff", "a\0b"]
    assert first["files"] == {str(tmp_path): [sleep, 420]}
    assert (sleep[:6], token[:8]) == ("9.0101", "fhtokA03")
    assert second["expect"]["gone"][0] != sleep
    assert len(second["expect"]["gone"][0]) == len(sleep), "one mark must never be the beginning of another"


@pytest.mark.parametrize(
    "wrong",
    [
        {"exit_code": None},
        {"error": "timeout", "error_detail": "raise the limit"},
        {"exit_code": None, "error": "timeout", "error_detail": None},
        {"exit_code": None, "error": "exploded", "error_detail": "run it again"},
        {"exit_code": True},
        {"stdout_tail": "a\x1b[31m"},
        {"stderr_tail": "a\x85"},
        {"stderr_tail": "a" * 16385},
        {"stderr_tail": "\ud800"},
        {"duration_ms": 99},
        {"duration_ms": None},
        {"duration_ms": -1},
        {"truncations": {"stdout": 0}},
        {"bytes": {"stdout": None, "stderr": 0}},
        {"via": "library"},
        {"command_id": "01a22bb3-4868-48bc-843b-078aeb99b58c"},
        {"started_at": "2026-11-30T08:31:58Z"},
    ],
)
def test_a_record_that_is_not_whole_fails(wrong: dict[str, Any]) -> None:
    """Each of the standing checks can fail, and a missing key does."""
    check_whole(RECORD, via="cli", took_ms=12)
    with pytest.raises((AssertionError, UnicodeEncodeError)):
        check_whole({**RECORD, **wrong}, via="cli", took_ms=12)
    with pytest.raises(AssertionError, match="missing"):
        check_whole({key: RECORD[key] for key in RECORD if key != next(iter(wrong))}, via="cli", took_ms=12)


def test_what_is_left_alive_is_found_and_killed(cli: CommandLine) -> None:
    """A daemon that left its session and its parent is still seen, and gone after the end of the test."""
    launch = cli.program("sh", "-c", "setsid sleep 61 </dev/null >/dev/null 2>&1 & echo started")
    assert launch.wait().out == b"started\n"
    left = eventually(lambda: launch.left(0), lambda found: found[0].command == "sleep 61", 10)
    assert [process.command for process in left] == ["sleep 61"]
    assert [process.command for process in cli.close()] == ["sleep 61"]
    assert not launch.left(0)


def test_who_holds_the_callers_streams_is_named(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a program is no end as long as somebody keeps its stdout open."""
    monkeypatch.setattr("tests.support.launch._END_OF_FILE_WITHIN", 0.02)
    launch = cli.program("sh", "-c", "sleep 62 &")
    with pytest.raises(AssertionError, match="sleep 62"):
        launch.wait()
    assert cli.close()


def test_interrupts_reach_a_program(cli: CommandLine) -> None:
    """SIGINT has its default meaning for what is started, also where the tests run in the background."""
    launch = cli.program("sleep", "63")
    launch.signal(2)
    assert launch.wait().status == -2
