"""Runs one row of the case file, through the command line or the library, and tells what came of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support import CommandLine, Launch, Result, eventually, expected_status, one_object
from tests.support.launch import PROGRAMS
from tests.support.whole import check_quiet, check_stored, check_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cases.rows import Row

_START_UP_SECONDS = 12.0
"""What a runner may take beyond its time limit: start, 2 s after SIGTERM, 5 s of sweeping, the store."""


@dataclass
class Seen:
    """All that a row's expectations look at.

    ``records`` are those that were returned, ``again`` the second run of ``same_twice``; ``returned`` is the
    monotonic time of the last record, ``root`` the process above all that was started.
    """

    folder: Path
    store: Path
    records: list[dict[str, Any]] = field(default_factory=list)
    again: dict[str, Any] | None = None
    seconds: float = 0.0
    max_rss_mb: float = 0.0
    stdin_text: bytes = b""
    stdin_left: bytes = b""
    fds: list[int] = field(default_factory=list)
    root: int = 0
    returned: float = 0.0


@contextlib.contextmanager
def drive(row: Row, cli: CommandLine) -> Iterator[Seen]:
    """Run the row; inside, its host still lives. At the end nothing that it started may be left."""
    seen = Seen(cli.tmp, cli.store)
    _lay_out(row, cli.tmp)
    launches = [_library(row, cli, seen)] if row.get("via") == "library" else _command_line(row, cli, seen)
    yield seen
    check_quiet(cli.store)
    for launch in launches:
        _end(launch)


def _lay_out(row: Row, folder: Path) -> None:
    for name, (text, mode) in row.get("files", {}).items():
        (folder / name).write_text(text, encoding="latin-1")
        (folder / name).chmod(mode)
    if "pre" in row:
        subprocess.run(row["pre"], cwd=folder, check=True, timeout=60)


def _end(launch: Launch) -> None:
    launch.end_stdin()
    result = launch.wait()
    assert b"Traceback (most recent call last)" not in result.err, result.stderr
    left = launch.left(0.5)
    assert not left, f"left behind: {left}"


def _command_line(row: Row, cli: CommandLine, seen: Seen) -> list[Launch]:
    seen.stdin_text = row.get("stdin_text", "").encode()
    launches = []
    for _ in range(row.get("repeat", 1)):
        launch, result, record = _one_run(row, cli)
        launches.append(launch)
        seen.records.append(record)
        seen.seconds += result.seconds
        seen.max_rss_mb = max(seen.max_rss_mb, result.max_rss_mb)
        seen.stdin_left, seen.root = result.stdin_left, launch.root
    if "same_twice" in row["expect"]:
        launch, _, seen.again = _one_run(row, cli)
        launches.append(launch)
    seen.returned = time.monotonic()
    return launches


def _one_run(row: Row, cli: CommandLine) -> tuple[Launch, Result, dict[str, Any]]:
    launch = cli.start(
        *("run", "--json", "--timeout", f"{row['timeout_s']}", "--cwd", row.get("cwd", str(cli.tmp))),
        *(*row.get("flags", []), "--", *row["argv"]),
        cwd=cli.base,
        env={"PAGER": "less"} if row.get("under_tty") else {},
        stdin=row.get("stdin_text", "").encode(),
        terminal=row.get("under_tty", False),
    )
    name, seconds = row.get("signal_after", (None, 0))
    if name:
        time.sleep(max(0.0, launch.started + seconds - time.monotonic()))
        launch.signal(signal.Signals[name])
    result = launch.wait(row["timeout_s"] + _START_UP_SECONDS)
    record = _from_store(cli, result, name) if "record_from" in row["expect"] else _from_stdout(result, name)
    check_whole(record, via="cli", took_ms=result.seconds * 1000)
    check_stored(record, cli.store)
    return launch, result, record


def _from_stdout(result: Result, signal_name: str | None) -> dict[str, Any]:
    record = result.record
    assert result.status in expected_status(record, signal_name)
    return record


def _from_store(cli: CommandLine, result: Result, signal_name: str | None) -> dict[str, Any]:
    """Return the record of a runner that was shot: nothing printed, one second later in the store."""
    assert signal_name
    assert (result.status, result.out) == (-signal.Signals[signal_name], b"")
    time.sleep(1.0)
    found = eventually(lambda: cli("last", "--json").objects, bool, 1.0)
    assert len(found) == 1, found
    return found[0]


def _library(row: Row, cli: CommandLine, seen: Seen) -> Launch:
    launch, report = start_library(row, cli)
    for record, seconds in zip(report["records"], report["seconds"], strict=True):
        check_whole(record, via="library", took_ms=seconds * 1000)
        check_stored(record, cli.store)
    seen.records, seen.fds, seen.root = report["records"], report["fds"], launch.root
    seen.seconds, seen.returned = report["finished"] - launch.started, report["finished"]
    return launch


def start_library(row: Row, cli: CommandLine) -> tuple[Launch, dict[str, Any]]:
    """Return the host, which lives on, and what it reports of its runs; none of them may have raised."""
    order = {"argv": row["argv"], "timeout": row["timeout_s"], "cwd": row.get("cwd", str(cli.tmp))}
    order |= {"repeat": row.get("repeat", 1), "nofile": row.get("nofile")}
    path = cli.base / "row.json"
    path.write_text(json.dumps(order), encoding="ascii")
    launch = cli.program(sys.executable, str(PROGRAMS / "run_library_rows.py"), os.fspath(path), cwd=cli.base)
    per_run = row["timeout_s"] + _START_UP_SECONDS
    report = one_object(launch.line(per_run + row["expect"].get("max_s", per_run)))
    assert report["raised"] is None, report["raised"]
    return launch, report
