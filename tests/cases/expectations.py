"""One check for each key that ``expect`` of a row can have; a key without a check fails the test."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING, Any

from tests.support import SLACK, eventually, wait_gone, zombies
from tests.support.store import everything, line_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cases.drive import Seen

Record = dict[str, Any]

_STREAM_LINES = re.compile(r"^\.\.\.truncated (\d+) lines\.\.\.$", re.MULTILINE)
_CHARACTERS = re.compile(r"\.\.\.truncated (\d+) characters\.\.\.")
_SAME = ("stdout_tail", "stderr_tail", "truncations", "bytes", "exit_code")
_ELSEWHERE = {"gate", "verdict", "note", "record_from"}
"""``record_from`` says where the record comes from; the gate has tests of its own; a note is for people."""


def check(expect: dict[str, Any], seen: Seen) -> None:
    """Check every key, those that wait for a moment after the return in the order of their moments."""
    unknown = set(expect) - set(_OF_RECORD) - set(_OF_RUN) - _ELSEWHERE
    assert not unknown, f"keys of expect that nothing checks: {sorted(unknown)}"
    for key, check_run in _OF_RUN.items():
        if key in expect:
            check_run(expect[key], seen)
    for key, check_record in _OF_RECORD.items():
        if key in expect:
            for record in seen.records:
                check_record(expect[key], record)


# What must hold of each record.


def _equal(key: str) -> Callable[[Any, Record], None]:
    def check_equal(wanted: Any, record: Record) -> None:
        assert wanted == "any" or record[key] == wanted, f"{key} is {record[key]!r}, not {wanted!r}"

    return check_equal


def _one_of(key: str) -> Callable[[Any, Record], None]:
    def check_one_of(wanted: list[Any], record: Record) -> None:
        assert record[key] in wanted, f"{key} is {record[key]!r}, none of {wanted!r}"

    return check_one_of


def _has(key: str) -> Callable[[Any, Record], None]:
    def check_has(wanted: list[str], record: Record) -> None:
        missing = [text for text in wanted if text not in (record[key] or "")]
        assert not missing, f"{missing} not in {key}: {record[key]!r}"

    return check_has


def _has_not(key: str) -> Callable[[Any, Record], None]:
    def check_has_not(unwanted: list[str], record: Record) -> None:
        found = [text for text in unwanted if text in record[key]]
        assert not found, f"{found} in {key}: {record[key]!r}"

    return check_has_not


def _is(key: str) -> Callable[[Any, Record], None]:
    def check_is(wanted: str, record: Record) -> None:
        assert record[key].removesuffix("\n") == wanted.removesuffix("\n")

    return check_is


def _bytes(wanted: dict[str, int], record: Record) -> None:
    assert {stream: record["bytes"][stream] for stream in wanted} == wanted


def _truncated(wanted: dict[str, int], record: Record) -> None:
    assert {stream: record["truncations"][stream] for stream in wanted} == wanted
    for stream, lines in wanted.items():
        assert _STREAM_LINES.findall(record[f"{stream}_tail"]) == [str(lines)]


def _chars(wanted: dict[str, int], record: Record) -> None:
    text = record["stdout_tail"]
    cut = sum(map(int, _CHARACTERS.findall(text)))
    kept = _CHARACTERS.sub("", text)
    assert {char: kept.count(char) + cut for char in wanted} == wanted


def _strays(wanted: list[str], record: Record) -> None:
    stopped = [stray["command"] for stray in record["strays"] if stray["action"] == "stopped"]
    missing = [text for text in wanted if not any(text in command for command in stopped)]
    assert not missing, f"{missing} not among the stopped strays: {record['strays']}"


# What must hold of the run as a whole, and of what is around it.


def _gone(tokens: list[str], seen: Seen) -> None:
    left = {token: found for token in tokens if (found := wait_gone(token, 0.5))}
    assert not left, f"still alive: {left}"


def _zombies(wanted: int, seen: Seen) -> None:
    time.sleep(max(0.0, seen.returned + 1.0 - time.monotonic()))
    found = eventually(lambda: zombies(seen.root), lambda now: len(now) == wanted, 1.0)
    assert len(found) == wanted, f"zombies: {found}"


def _max_seconds(most: float, seen: Seen) -> None:
    assert seen.seconds <= most * SLACK


def _min_seconds(least: float, seen: Seen) -> None:
    assert seen.seconds >= least


def _max_rss(most: float, seen: Seen) -> None:
    assert 0 < seen.max_rss_mb <= most


def _stdin_left(wanted: bool, seen: Seen) -> None:
    assert (seen.stdin_left == seen.stdin_text) is wanted, f"of its stdin {seen.stdin_left!r} is left"


def _same_fds(wanted: bool, seen: Seen) -> None:
    first, last = seen.fds
    assert (first == last) is wanted, f"open descriptors: {first} after the first run, {last} after the last"


def _same_twice(wanted: bool, seen: Seen) -> None:
    assert seen.again is not None
    first, second = ({key: record[key] for key in _SAME} for record in (seen.records[0], seen.again))
    assert (first == second) is wanted


def _max_record_bytes(most: int, seen: Seen) -> None:
    lengths = [len(line_of(seen.store, record["command_id"])) for record in seen.records]
    assert max(lengths) <= most


def _record_not(unwanted: list[str], seen: Seen) -> None:
    files = everything(seen.store)
    assert files, "no store was written"
    files["the returned records"] = json.dumps(seen.records, ensure_ascii=False).encode("utf-8")
    found = [(text, name) for text in unwanted for name, data in files.items() if text.encode() in data]
    assert not found, f"stands in the clear: {found}"


def _file_present(name: str, seen: Seen) -> None:
    assert (seen.folder / name).exists()


def _file_absent(name: str, seen: Seen) -> None:
    time.sleep(max(0.0, seen.returned + 4.0 - time.monotonic()))
    assert not (seen.folder / name).exists(), f"{name} was made after the end"


_OF_RECORD: dict[str, Callable[[Any, Record], None]] = {
    "exit_code": _equal("exit_code"),
    "error": _equal("error"),
    "exit_code_in": _one_of("exit_code"),
    "error_in": _one_of("error"),
    "detail_has": _has("error_detail"),
    "stdout_has": _has("stdout_tail"),
    "stderr_has": _has("stderr_tail"),
    "stdout_not": _has_not("stdout_tail"),
    "stderr_not": _has_not("stderr_tail"),
    "stdout_is": _is("stdout_tail"),
    "stderr_is": _is("stderr_tail"),
    "bytes": _bytes,
    "truncated": _truncated,
    "chars": _chars,
    "exit_masked_by": _equal("exit_masked_by"),
    "environment": _equal("environment"),
    "strays_has": _strays,
}

_OF_RUN: dict[str, Callable[[Any, Seen], None]] = {
    "gone": _gone,
    "zombies": _zombies,
    "max_s": _max_seconds,
    "min_s": _min_seconds,
    "max_rss_mb": _max_rss,
    "stdin_left": _stdin_left,
    "fds_same": _same_fds,
    "same_twice": _same_twice,
    "max_record_bytes": _max_record_bytes,
    "record_not": _record_not,
    "file_present": _file_present,
    "file_absent_after_4s": _file_absent,
}
