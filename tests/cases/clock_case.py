"""The row whose wall clock steps while a command runs."""

from __future__ import annotations

import datetime as dt
import json
import sys
from typing import TYPE_CHECKING, Any

from tests.support import SLACK
from tests.support.launch import PROGRAMS
from tests.support.whole import check_quiet, check_stored, check_whole, expected_status

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cases.rows import Row
    from tests.support import CommandLine, Result

_COMMAND = ["sleep", "0.6"]
_COMMAND_MS = 600
_WITHIN_MS = 200
"""``duration_ms`` may differ from the real time by so much, times the slack."""
_ZONE = "Asia/Kathmandu"
"""Five hours and three quarters from UTC: local time would be seen at once."""


def clock_case(row: Row, cli: CommandLine) -> None:
    """Step the wall clock back under the library and under the command line."""
    assert row["argv"] == ["@CLOCK", "-3600"]
    assert not set(row["expect"]) - {"note"}
    cli.env["TZ"] = _ZONE
    log = cli.base / "clock"
    answer = json.loads(_run(cli, log, "--library", *_COMMAND).out)
    _check(answer["record"], "library", answer["took_ms"], answer["took_ms"], cli.store)
    _check_log(log)
    result = _run(cli, log, "run", "--json", "--", *_COMMAND)
    _check(result.record, "cli", _COMMAND_MS, result.seconds * 1000, cli.store)
    assert result.status in expected_status(result.record)
    _check_log(log)
    check_quiet(cli.store)


def _run(cli: CommandLine, log: Path, *words: str) -> Result:
    launch = cli.program(sys.executable, str(PROGRAMS / "case_clock.py"), str(log), *words)
    result = launch.wait()
    assert b"Traceback" not in result.err, result.stderr
    assert not launch.left(0.5)
    return result


def _check(record: dict[str, Any], via: str, real_ms: float, most_ms: float, store: Path) -> None:
    check_whole(record, via=via, took_ms=most_ms)
    check_stored(record, store)
    assert (record["exit_code"], record["error"]) == (0, None)
    assert record["duration_ms"] >= _COMMAND_MS - 1
    assert abs(record["duration_ms"] - real_ms) <= _WITHIN_MS * SLACK
    _check_utc(record["started_at"])


def _check_utc(text: str) -> None:
    """The start is a time of the real clock or of the one set back, in UTC."""
    started = dt.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=dt.UTC)
    ago = (dt.datetime.now(dt.UTC) - started).total_seconds()
    assert any(0 <= ago - step <= 10 * SLACK for step in (0, 3600)), f"{text} was {ago} s ago"


def _check_log(log: Path) -> None:
    """The product did read the clock that steps; without that the case would prove nothing."""
    readings = log.read_text(encoding="ascii").split()
    assert readings[:1] == ["before"], readings
    log.unlink()
