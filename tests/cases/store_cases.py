"""The rows that are cases of the store: done with real processes, told as facts, compared with the row."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.cases.hosts import Host, hosts
from tests.support import (
    CommandLine,
    Result,
    bad_lines,
    store_files,
    store_lines,
    store_records,
)
from tests.support.store import LIVE, parse
from tests.support.whole import check_quiet, check_stored, check_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cases.rows import Row

Facts = dict[str, Any]

_WRITERS = 8
_CONTAIN = ("keeper", "group")
"""Who writes the record: a process of firsthand's own, or the host."""
_ANY_TIME = float("inf")
_SIX_KB = {"lines": 30, "width": 90}
_SIXTEEN_KB = {"lines": 60, "width": 128}
"""All 60 lines are kept, so the sizes are known: each line stands in ``command`` and in the tail."""
_EIGHT_KB = {"lines": 40, "width": 90}
_LONG = {"lines": 60, "width": 265}
"""Just below what a stream may keep: the longest record without a cut."""
_TWO_FILES = 2 * 1024 * 1024
"""Writing so much must have rotated the file."""
_NAMES = [LIVE, *(f"{LIVE}.{age}" for age in range(1, 6))]
_MOST = {"max_total_bytes": "total_bytes", "max_files": "files", "max_file_bytes": "largest_file"}
_EXIT_3 = ["sh", "-c", "echo ran > ran; exit 3"]


def store_case(row: Row, cli: CommandLine) -> None:
    """Do what the row names and compare every key of its ``expect``."""
    kind, name = row["argv"]
    assert (kind, name) == ("@STORE", row["id"])
    facts = _CASES[name](cli)
    assert facts, "a case that found out nothing"
    for key, wanted in row["expect"].items():
        if key in _MOST:
            assert facts[_MOST[key]] <= wanted, f"{_MOST[key]} is {facts[_MOST[key]]}"
        elif key != "note":
            assert facts[key] == wanted, f"{key} is {facts[key]!r}, not {wanted!r}"
    check_quiet(cli.store)


def _at_once(cli: CommandLine, **order: Any) -> list[str]:
    """Let eight hosts work on one order at the same time; return the ids of all their records, all stored."""
    with hosts(cli, _WRITERS) as writers:
        for number, writer in enumerate(writers):
            writer.tell(**order, mark=f"writer{number}", contain="group")
        records = [record for writer in writers for record in writer.records()]
    assert [record["log_error"] for record in records] == [None] * len(records)
    return [record["command_id"] for record in records]


def _facts(folder: Path) -> Facts:
    """Return what the files of a store tell; every record in them must be whole."""
    records = store_records(folder)
    for record in records:
        check_whole(record, via=record["via"], took_ms=_ANY_TIME)
    twice = [one for one, times in Counter(record["command_id"] for record in records).items() if times > 1]
    assert not twice, f"stored twice: {twice}"
    numbers = [record["seq"] for record in records]
    assert numbers == sorted(set(numbers)), "the numbers of the records are not unique and growing"
    sizes = [path.stat().st_size for path in folder.glob(f"{LIVE}*")]
    assert {path.name for path in folder.glob(f"{LIVE}*")} <= set(_NAMES)
    return {
        "all_lines_valid": not bad_lines(folder),
        "records": len(records),
        "files": len(sizes),
        "largest_file": max(sizes),
        "total_bytes": sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
    }


def _check_sizes(folder: Path, least: int) -> None:
    """Without records of the size that the row names, the case would prove less than it says."""
    lengths = [len(line) for line in store_lines(folder)]
    assert min(lengths) >= least, f"records of only {min(lengths)} bytes"


def _many_writers(cli: CommandLine) -> Facts:
    facts = _complete(cli, _at_once(cli, runs=60, **_SIX_KB))
    _check_sizes(cli.store, 6_000)
    return facts


def _many_long_writers(cli: CommandLine) -> Facts:
    facts = _complete(cli, _at_once(cli, runs=40, **_SIXTEEN_KB))
    _check_sizes(cli.store, 16_000)
    return facts


def _rotation_race(cli: CommandLine) -> Facts:
    facts = _complete(cli, _at_once(cli, runs=60, **_EIGHT_KB))
    assert facts["files"] >= 4, "too few rotations to prove anything"
    return facts


def _complete(cli: CommandLine, ids: list[str]) -> Facts:
    found = [record["command_id"] for record in store_records(cli.store)]
    assert not set(found) - set(ids), "records that nobody wrote"
    return _facts(cli.store) | {"lost": len(set(ids) - set(found))}


def _run(cli: CommandLine, *argv: str, status: int = 0, **options: Any) -> dict[str, Any]:
    """Run one command on the command line; return its record, which must be whole."""
    result = cli("run", "--json", "--", *argv, **options)
    assert "Traceback" not in result.stderr
    assert result.status == status
    check_whole(result.record, via="cli", took_ms=result.seconds * 1000)
    return result.record


def _stored(cli: CommandLine, *argv: str) -> dict[str, Any]:
    record = _run(cli, *argv)
    check_stored(record, cli.store)
    return record


def _last(cli: CommandLine, *options: str) -> tuple[list[dict[str, Any]], Result]:
    result = cli("last", "--json", *options)
    assert result.status == 0
    return result.objects, result


def _counted(result: Result) -> int:
    """Return how many bad lines a reader says that it skipped."""
    told = [line for line in result.stderr.splitlines() if "line" in line]
    assert len(told) <= 1, told
    numbers = [int(number) for line in told for number in re.findall(r"\b\d+\b", line)]
    return numbers[0] if numbers else 0


def _torn_tail(cli: CommandLine) -> Facts:
    wrote = [_stored(cli, "echo", "one"), _stored(cli, "echo", "two")]
    fragment = store_lines(cli.store)[0][:400]
    with (cli.store / LIVE).open("ab") as file:
        file.write(fragment)
    wrote.append(_stored(cli, "echo", "three"))
    assert wrote[-1]["torn"] == hashlib.sha256(fragment).hexdigest()
    assert bad_lines(cli.store) == [fragment], "the fragment does not stand alone on its line"
    found, result = _last(cli)
    assert found == wrote
    return {"records_readable": len(found), "bad_lines": _counted(result)}


def _bad_line_in_the_middle(cli: CommandLine) -> Facts:
    wrote = [_stored(cli, "echo", f"{number}") for number in range(4)]
    broken = b'{"schema":"firsthand.record/1","command_id":'
    with (cli.store / LIVE).open("ab") as file:
        file.write(broken + b"\n")
    wrote += [_stored(cli, "echo", f"{number}") for number in range(4, 9)]
    assert bad_lines(cli.store) == [broken]
    found, result = _last(cli, "-n", "20")
    assert found == wrote
    newest, _ = _last(cli, "-n", "1")
    assert newest == wrote[-1:]
    return {"records_readable": len(found), "bad_lines": _counted(result)}


def _rotation(cli: CommandLine) -> Facts:
    with hosts(cli, 2) as writers:
        for writer in writers:
            writer.tell(bytes=10_000_000, contain="group", **_LONG)
        ids = [record["command_id"] for writer in writers for record in writer.records()]
        before = _facts(cli.store)
        kept = {record["command_id"] for record in store_records(cli.store)}
        assert ids[-1] in kept, "the newest record is not kept"
        assert before["files"] == 6
        (cli.store / LIVE).unlink()
        (record,) = writers[0].ask(contain="group")
    assert record["log_error"] is None
    assert _ids(cli.store / LIVE) == [record["command_id"]], "the record is not in a new live file"
    after = _facts(cli.store)
    assert before["all_lines_valid"]
    assert after["all_lines_valid"]
    return {key: max(before[key], after[key]) for key in ("files", "largest_file", "total_bytes")}


def _ids(path: Path) -> list[str]:
    return [(parse(line) or {}).get("command_id", "bad line") for line in path.read_bytes().splitlines()]


def _rotated_by_another(cli: CommandLine) -> Facts:
    """One host before and after another one rotates; in group mode its own process is the writer."""
    with hosts(cli, 2) as (first, second):
        early = [record for contain in _CONTAIN for record in first.ask(contain=contain)]
        second.ask(until=str(cli.store / f"{LIVE}.1"), bytes=_TWO_FILES, contain="group", **_LONG)
        assert (cli.store / f"{LIVE}.1").exists(), "the file was not rotated"
        late = [record for contain in _CONTAIN for record in first.ask(contain=contain)]
    assert _facts(cli.store)["all_lines_valid"]
    assert _places(cli, early) == {f"{LIVE}.1"}
    return {"last_in": "live" if _places(cli, late) == {LIVE} else _places(cli, late)}


def _places(cli: CommandLine, records: list[dict[str, Any]]) -> set[str]:
    """Return the names of the files in which these records stand; "nowhere" for one that is lost."""
    place = {one: path.name for path in store_files(cli.store) for one in _ids(path)}
    return {place.get(record["command_id"], "nowhere") for record in records}


def _unwritable(cli: CommandLine) -> Facts:
    """Run a command that exits 3, on the command line and in the library: it ran, and nothing was stored."""
    _check_unstored(_run(cli, *_EXIT_3, status=3), exit_code=3)
    (cli.tmp / "ran").unlink()
    with hosts(cli, 1) as (host,):
        for contain in _CONTAIN:
            (record,) = host.ask(argv=_EXIT_3, contain=contain)
            _check_unstored(record, exit_code=3)
            (cli.tmp / "ran").unlink()
    return {"raises": False}


def _check_unstored(record: dict[str, Any], *, exit_code: int) -> None:
    assert (record["exit_code"], record["error"]) == (exit_code, None)
    assert record["log_error"], "it could not be stored, and does not say so"
    assert (record["seq"], record["prev_hash"], record["hash"]) == (None, None, None)


def _full_device(cli: CommandLine) -> Facts:
    cli.store.mkdir(mode=0o700)
    try:
        os.mknod(cli.store / LIVE, stat.S_IFCHR | 0o600, os.makedev(1, 7))
    except PermissionError:  # only root makes device nodes; a link to one serves as well
        (cli.store / LIVE).symlink_to("/dev/full")
    return _unwritable(cli)


def _no_such_place(cli: CommandLine) -> Facts:
    cli.env["FIRSTHAND_DIR"] = "/proc/firsthand"
    return _unwritable(cli)


def _full_for_a_while(cli: CommandLine) -> Facts:
    """A file that may not grow: on the command line, and in hosts that live on, for both ways to contain."""
    with hosts(cli, 1) as (host,):
        for contain in _CONTAIN:
            written = _ids(cli.store / LIVE) if contain == "group" else []
            written += _told(host, contain, stored=True, runs=1, fsize=None, **_SIX_KB)
            _told(host, contain, stored=False, runs=3, fsize=_a_little_more(cli))
            written += _told(host, contain, stored=True, runs=2, fsize=None)
            _check_file(cli, written)
    limits = {"RLIMIT_FSIZE": _a_little_more(cli)}
    for number in range(3):
        _check_unstored(_run(cli, "echo", f"{number}", limits=limits), exit_code=0)
    written += [_stored(cli, "echo", "again")["command_id"] for _ in range(2)]
    _check_file(cli, written)
    return {"raises": False}


def _told(host: Host, contain: str, *, stored: bool, **order: Any) -> list[str]:
    records = host.ask(contain=contain, **order)
    for record in records:
        assert (record["exit_code"], record["error"]) == (0, None)
        if not stored:
            _check_unstored(record, exit_code=0)
        else:
            assert record["log_error"] is None, "still not written, with room again"
    return [record["command_id"] for record in records]


def _a_little_more(cli: CommandLine) -> int:
    return (cli.store / LIVE).stat().st_size + 200


def _check_file(cli: CommandLine, written: list[str]) -> None:
    assert _ids(cli.store / LIVE) == written
    assert (cli.store / LIVE).read_bytes().endswith(b"}\n"), "half a line stays behind"
    assert _facts(cli.store)["all_lines_valid"]


_CASES: dict[str, Callable[[CommandLine], Facts]] = {
    "K01": _many_writers,
    "K02": _many_long_writers,
    "K03": _torn_tail,
    "K05": _bad_line_in_the_middle,
    "K06": _rotation,
    "K07": _rotation_race,
    "K08": _rotated_by_another,
    "K09": _full_device,
    "K10": _full_for_a_while,
    "K11": _no_such_place,
}
