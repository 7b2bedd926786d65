"""What holds for every record, whatever was run: the standing checks."""

from __future__ import annotations

import json
import re
import signal
import stat
import unicodedata
from pathlib import Path
from typing import Any

from tests.support.slack import eventually
from tests.support.store import LIVE, line_of

KEYS = frozenset((
    "schema", "command_id", "parent_command_id", "parent_found", "input_command_ids", "session_id",
    "seq", "source", "via", "command", "executable", "env_names", "replayable", "cwd", "started_at",
    "duration_ms", "exit_code", "error", "error_detail", "stdout_tail", "stderr_tail", "kept_output",
    "truncations", "bytes", "agent_note", "expect", "expectation_met", "exit_masked_by", "pipestatus",
    "strays", "redactions", "environment", "acceptance", "tree", "containment", "log_error", "torn",
    "prev_hash", "hash",
))  # fmt: skip
"""Every key that a record must have."""

ERRORS = re.compile(
    r"timeout|cancelled|signal:SIG[A-Z0-9+]+|not_found|permission|exec_format|arg_too_long|bad_cwd|bad_argv"
    r"|no_resources|spawn_failed|status_lost|runner_died|unreported"
)
MAX_LINE_BYTES = 128 * 1024
MAX_TAIL_BYTES = 16 * 1024

_UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_STREAMS = {"stdout", "stderr"}
_STATUS = {"timeout": 124, "not_found": 127, "permission": 126, "exec_format": 126}
_CANCELLING = {128 + number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)}


def one_object(data: bytes) -> dict[str, Any]:
    """Return the one JSON object that these bytes are, in UTF-8 without lone surrogates."""
    value = json.loads(data.decode("utf-8"), object_pairs_hook=_no_key_twice)
    assert isinstance(value, dict)
    canonical(value)
    return value


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), "a key stands twice in one object"
    return dict(pairs)


def canonical(value: Any) -> bytes:
    """Return the canonical JSON of a record (RFC 8785; its keys are ASCII); a lone surrogate is an error."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


def check_whole(record: dict[str, Any], *, via: str, took_ms: float) -> None:
    """Check one record by itself; ``took_ms`` is the wall time that it may claim at most."""
    assert not KEYS - set(record), f"keys are missing: {sorted(KEYS - set(record))}"
    assert record["schema"] == "firsthand.record/1"
    assert _UUID7.fullmatch(record["command_id"])
    assert _UTC.fullmatch(record["started_at"])
    assert (record["source"], record["via"]) == ("runner", via)
    _check_end(record)
    _check_tails(record)
    _check_numbers(record, took_ms)
    canonical(record)


def _check_end(record: dict[str, Any]) -> None:
    assert (record["exit_code"] is None) == (record["error"] is not None)
    assert (record["error"] is None) == (record["error_detail"] is None)
    if record["error"] is None:
        assert type(record["exit_code"]) is int
    else:
        assert ERRORS.fullmatch(record["error"])
        assert record["error_detail"].strip()


def _check_tails(record: dict[str, Any]) -> None:
    for tail in (record["stdout_tail"], record["stderr_tail"]):
        control = {char for char in tail if unicodedata.category(char) == "Cc"} - {"\t", "\n"}
        assert not control, f"control characters in a tail: {control!r}"
        assert len(tail.encode("utf-8")) <= MAX_TAIL_BYTES


def _check_numbers(record: dict[str, Any], took_ms: float) -> None:
    assert set(record["truncations"]) == set(record["bytes"]) == _STREAMS
    if record["error"] == "runner_died":  # nobody may know them then
        return
    numbers = [record["duration_ms"], *record["truncations"].values(), *record["bytes"].values()]
    assert all(type(number) is int and number >= 0 for number in numbers), numbers
    assert record["duration_ms"] <= took_ms + 1, f"claims {record['duration_ms']} ms, took {took_ms}"


def check_stored(record: dict[str, Any], folder: Path) -> None:
    """Check that this record stands once in the store, in canonical form, and that its files are private."""
    assert record["log_error"] is None
    line = line_of(folder, record["command_id"])
    assert json.loads(line, parse_float=_refuse_float) == record, (
        "the stored record is another than the returned one"
    )
    assert line == canonical(record), "the stored line is not canonical JSON"
    assert len(line) < MAX_LINE_BYTES
    assert _mode(folder) == 0o700
    assert _mode(folder / LIVE) == 0o600
    open_to_others = [str(path) for path in folder.rglob("*") if path.is_file() and _mode(path) & 0o077]
    assert not open_to_others


def _refuse_float(text: str) -> None:
    raise AssertionError(f"{text}: a record holds integers only")


def check_quiet(folder: Path) -> None:
    """Check that no run is noted as going on."""
    running = eventually(lambda: _names(folder / "running"), lambda names: not names, 0.5)
    assert not running, f"left in running/: {running}"


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def expected_status(record: dict[str, Any], signal_name: str | None = None) -> set[int]:
    """Return the exit statuses that ``run`` may have with this record; ``signal_name``: what it was sent."""
    if record["error"] is None:
        return {record["exit_code"]}
    if record["error"].startswith("signal:"):
        return {128 + signal.Signals[record["error"].removeprefix("signal:")]}
    if record["error"] == "cancelled":
        return {128 + signal.Signals[signal_name]} if signal_name else _CANCELLING
    return {_STATUS.get(record["error"], 125)}
