"""Rotation, torn tails and bad last lines: how the chain goes on."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.programs.store_sample import sample
from tests.support.store import store_lines, store_records

from firsthand.record import encode
from firsthand.store import search
from firsthand.store.append import Store
from firsthand.store.files import FILE_MOST, LIVE_NAME, NAMES


def numbers(folder: Path) -> list[Any]:
    return [record["seq"] for record in store_records(folder)]


def test_rotation_keeps_six_files_of_a_mebibyte(store: Store, folder: Path) -> None:
    """K06: 20 MB of records; the newest are kept, whole, in order, each file just below the cap."""
    for _ in range(20_000_000 // 100_000):
        last = store.append(sample(99_000))
    sizes = {path.name: path.stat().st_size for path in folder.glob(f"{LIVE_NAME}*")}
    assert sorted(sizes) == sorted(NAMES)
    assert max(sizes.values()) <= FILE_MOST
    assert min(size for name, size in sizes.items() if name != LIVE_NAME) > FILE_MOST - 110_000
    found = numbers(folder)
    assert found == list(range(found[0], last["seq"] + 1))
    (folder / LIVE_NAME).unlink()
    record = store.append(sample())
    assert (folder / LIVE_NAME).read_bytes() == encode(record) + b"\n"
    assert (record["seq"], record["prev_hash"]) == (last["seq"] + 1, last["hash"])


@pytest.mark.parametrize("hole", [1, 2, 3, 4])
def test_an_interrupted_rotation_is_finished(store: Store, folder: Path, hole: int) -> None:
    """Where a writer died between two renames, the free name is filled and no record is dropped."""
    while not (folder / NAMES[5]).exists():
        store.append(sample(99_000))
    before = numbers(folder)
    for at in range(5, hole, -1):
        (folder / NAMES[at - 1]).rename(folder / NAMES[at])
    left = numbers(folder)
    assert left == before[-len(left) :]
    while not (folder / NAMES[hole]).exists():
        store.append(sample(99_000))
    assert numbers(folder)[: len(left)] == left


def test_a_torn_tail_is_healed(store: Store, folder: Path) -> None:
    """K03: the half line stays alone on its line, and the next record names its hash."""
    records = [store.append(sample()), store.append(sample())]
    fragment = store_lines(folder)[0][:300]
    with (folder / LIVE_NAME).open("ab") as file:
        file.write(fragment)
    records.append(store.append(sample()))
    assert store_lines(folder) == [encode(records[0]), encode(records[1]), fragment, encode(records[2])]
    assert records[2]["torn"] == hashlib.sha256(fragment).hexdigest()
    assert (records[2]["seq"], records[2]["prev_hash"]) == (3, records[1]["hash"])


def test_a_torn_tail_is_healed_before_a_rotation(store: Store, folder: Path) -> None:
    """The fragment ends the full file, and the record that names it begins the new one."""
    while (folder / LIVE_NAME).stat().st_size < FILE_MOST - 110_000 if folder.exists() else True:
        store.append(sample(99_000))
    fragment = b'{"schema":"firsthand.record/1"' + b" " * 50_000
    with (folder / LIVE_NAME).open("ab") as file:
        file.write(fragment)
    record = store.append(sample(99_000))
    assert (folder / NAMES[1]).read_bytes().endswith(b"}\n" + fragment + b"\n")
    assert (folder / LIVE_NAME).read_bytes() == encode(record) + b"\n"
    assert record["torn"] == hashlib.sha256(fragment).hexdigest()


def test_a_record_that_lacks_only_its_line_end_is_kept(store: Store, folder: Path) -> None:
    """It is whole, so it is no fragment: the next one is linked to it."""
    records = [store.append(sample()), store.append(sample())]
    path = folder / LIVE_NAME
    os.truncate(path, path.stat().st_size - 1)
    records.append(store.append(sample()))
    assert records[2]["torn"] is None
    assert store_lines(folder) == [encode(record) for record in records]


def test_two_fragments_in_a_row_are_covered_together(store: Store, folder: Path) -> None:
    """Two writers died one after the other: both fragments, joined by the line end, are what is named."""
    store.append(sample())
    with (folder / LIVE_NAME).open("ab") as file:
        file.write(b"one\ntwo")
    record = store.append(sample())
    assert record["torn"] == hashlib.sha256(b"one\ntwo").hexdigest()


@pytest.mark.parametrize(
    "line",
    [
        b"no JSON",
        b"",
        b"{}",
        b'{"seq":2,"hash":"x","prev_hash":"y"}',
        b'{"hash":"%b","prev_hash":"%b","seq":99999999999999999999}' % (b"0" * 64, b"0" * 64),
        b'{"hash":"%b","prev_hash":"%b","schema":"firsthand.record/9","seq":2}' % (b"0" * 64, b"0" * 64),
        b"\xff\0" * 100,
    ],
)
def test_a_bad_line_does_not_stop_the_chain(store: Store, folder: Path, line: bytes) -> None:
    """K05: whatever stands on the last line, the next record links to the last usable one."""
    first = store.append(sample())
    with (folder / LIVE_NAME).open("ab") as file:
        file.write(line + b"\n")
    record = store.append(sample())
    assert (record["seq"], record["prev_hash"], record["log_error"]) == (2, first["hash"], None)
    assert store_lines(folder) == [encode(first), line, encode(record)]


@pytest.mark.parametrize("size", [0, 5_000, 20_000, 120_000])
def test_the_usual_append_only_glances_at_the_end(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Where the last line is the one that ``head`` names, no file is read line by line."""
    store.append(sample(size))
    monkeypatch.setattr(search, "last_usable", None)
    records = [store.append(sample(size)), store.append(sample())]
    assert [record["seq"] for record in records] == [2, 3]


def test_a_line_of_a_newer_schema_is_linked_to(store: Store, folder: Path) -> None:
    """A newer firsthand wrote the last line and the head; we go on from it."""
    store.append(sample(schema="firsthand.record/2", new_key={"seq": 7, "hash": "x"}))
    record = store.append(sample())
    newer, _ = (json.loads(line) for line in store_lines(folder))
    assert (record["seq"], record["prev_hash"]) == (2, newer["hash"])
