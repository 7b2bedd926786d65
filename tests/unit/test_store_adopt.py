"""Adoption: whose record is stored after its processes died, and by whom."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.programs.store_sample import sample
from tests.support.running import begun, left_behind, names
from tests.support.store import store_records

from firsthand.errors import StoreError
from firsthand.record import Record, encode, new_id
from firsthand.store.adoption import adopt, orphans
from firsthand.store.append import Store
from firsthand.store.place import Place
from firsthand.store.running import DIED, Running, begin
from firsthand.store.verification import verify


def the_null_record(record: Record, **changes: Any) -> dict[str, Any]:
    return dict(record) | DIED | changes


def linked(record: dict[str, Any]) -> dict[str, Any]:
    """Return the links of a stored record, which differ from run to run."""
    return {key: record[key] for key in ("seq", "prev_hash", "hash")}


def test_an_orphan_is_adopted(place: Place, store: Store, folder: Path) -> None:
    """Its null record is stored, its file is gone; a second look finds nothing."""
    record = sample()
    left_behind(place, record)
    assert orphans(place) == [the_null_record(record)]
    assert adopt(store) == 1
    (stored,) = store_records(folder)
    assert stored == the_null_record(record, **linked(stored))
    assert (stored["seq"], names(folder)) == (1, [])
    assert adopt(store) == 0
    assert orphans(place) == []


def test_several_orphans_are_adopted_in_their_order(place: Place, store: Store, folder: Path) -> None:
    """Ids begin with their time."""
    records = [sample() for _ in range(3)]
    for record in reversed(records):
        left_behind(place, record)
    assert adopt(store, via="library") == 3
    assert [record["command_id"] for record in store_records(folder)] == [r.command_id for r in records]
    assert {record["via"] for record in store_records(folder)} == {"library"}


def test_a_stored_run_is_only_unlinked(place: Place, store: Store, folder: Path) -> None:
    """Its owner died between the record and the unlink; the id is in any of the files."""
    record = sample()
    left_behind(place, record)
    stored = store.append(record)
    while not (folder / "feedback_record.jsonl.2").exists():
        store.append(sample(99_000))
    assert orphans(place) == []
    assert adopt(store) == 0
    assert names(folder) == []
    assert [r for r in store_records(folder) if r["command_id"] == record.command_id] == [stored]


def test_a_record_that_lacks_its_line_end_counts_as_stored(place: Place, store: Store, folder: Path) -> None:
    """Its writer died on the last byte: the line is whole, so there is no second record."""
    record = sample()
    left_behind(place, record)
    store.append(record)
    path = folder / "feedback_record.jsonl"
    os.truncate(path, path.stat().st_size - 1)
    assert adopt(store) == 0
    assert names(folder) == []


def test_a_torn_or_mentioned_id_does_not_count_as_stored(place: Place, store: Store, folder: Path) -> None:
    """Half of the line, a child's ``parent_command_id``, a text that quotes it: all are no record of it."""
    record = sample()
    left_behind(place, record)
    quote = f'{{"a":1,"command_id":"{record.command_id}"}}'
    store.append(sample(parent_command_id=record.command_id, stdout_tail=quote))
    with (folder / "feedback_record.jsonl").open("ab") as file:
        file.write(encode(record)[:-9] + b"\n" + quote.encode() + b"\n")
    assert adopt(store) == 1
    assert verify(place).status == "intact"


def test_our_own_run_is_adopted_with_what_we_know(place: Place, store: Store, folder: Path) -> None:
    """The keeper died and the front holds the lock: only this record is changed."""
    mine, other = sample(), sample()
    running = begun(place, mine)
    left_behind(place, other)
    assert adopt(store, own=running, error_detail="the keeper was killed", strays=[{"pid": 7}]) == 2
    first, second = store_records(folder)
    expected = the_null_record(mine, error_detail="the keeper was killed", strays=[{"pid": 7}])
    assert first == expected | linked(first)
    assert second == the_null_record(other, **linked(second))
    running.finish()
    assert names(folder) == []


def test_our_own_stored_run_is_only_unlinked(place: Place, store: Store, folder: Path) -> None:
    """The keeper stored it and died before the unlink."""
    record = sample()
    running = begun(place, record)
    store.append(record)
    assert adopt(store, own=running) == 0
    assert names(folder) == []
    running.finish()


def test_what_cannot_be_stored_now_is_left_for_later(place: Place, store: Store, folder: Path) -> None:
    """First the record, then the unlink: a refused append loses nothing."""
    record = sample()
    left_behind(place, record)
    (folder / "head").symlink_to("/dev/full")
    assert adopt(store) == 0
    assert names(folder) == [record.command_id]
    (folder / "head").unlink()
    assert adopt(store) == 1


def test_the_record_is_stored_before_the_unlink(place: Place, store: Store, folder: Path) -> None:
    """Where the unlink fails the next adopter finds the id stored."""
    record = sample()
    left_behind(place, record)
    path = folder / "running" / record.command_id
    copy = path.read_bytes()
    assert adopt(store) == 1
    path.write_bytes(copy)
    assert adopt(store) == 0
    assert names(folder) == []
    assert len(store_records(folder)) == 1


def test_one_of_many_adopters_gets_it(place: Place, store: Store, folder: Path) -> None:
    """Eight at once, among them beginners: every orphan is stored once, no living run is touched."""
    for _ in range(20):
        left_behind(place, sample())
    counts: list[int] = []
    lost: list[str] = []

    def work() -> None:
        total = 0
        for _ in range(20):
            running = begun(place, sample())
            total += adopt(store)
            if not os.path.exists(running.path):
                lost.append(running.path)
            running.finish()
        counts.append(total)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == []
    assert sum(counts) == 20
    ids = [record["command_id"] for record in store_records(folder)]
    assert len(ids) == len(set(ids)) == 20
    assert names(folder) == []


def test_an_adopter_cannot_spoil_a_beginning(place: Place, folder: Path) -> None:
    """While somebody holds the hidden name of our own id, we wait and then begin."""
    record = sample()
    left_behind(place, sample())
    hidden = folder / "running" / f".{record.command_id}"
    hidden.touch()
    with hidden.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        found: list[Running | None] = []
        thread = threading.Thread(target=lambda: found.append(begin(place, record)))
        thread.start()
        thread.join(0.02)
        hidden.unlink()
    thread.join()
    (running,) = found
    assert running
    assert json.loads(Path(running.path).read_bytes())["command_id"] == record.command_id
    running.finish()


def test_no_descriptor_is_left_open(place: Place, store: Store, folder: Path) -> None:
    """Not by beginning, adopting, looking, nor by a refusal."""
    left_behind(place, sample())
    before = os.listdir("/proc/self/fd")
    left_behind(place, sample())
    orphans(place)
    adopt(store)
    (folder / "running" / new_id()).mkdir()
    adopt(store)
    with pytest.raises(StoreError):
        orphans(place)
    begun(place, sample()).finish()
    assert os.listdir("/proc/self/fd") == before
