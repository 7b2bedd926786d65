"""``running/``: what is left of a run whose processes died, and who may take it up."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.programs.store_sample import sample
from tests.support.store import store_records

from firsthand.errors import StoreError
from firsthand.record import KEYS, Record, encode, new_id, timestamp
from firsthand.store.append import Store
from firsthand.store.chain import verify
from firsthand.store.kernel import boot_id, process_start
from firsthand.store.place import Place
from firsthand.store.running import DIED, Running, adopt, begin, died, orphans


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store folder that is not there yet."""
    return tmp_path / "store"


@pytest.fixture
def place(folder: Path) -> Place:
    """The place of that folder."""
    return Place(str(folder.parent), str(folder))


@pytest.fixture
def store(place: Place) -> Store:
    """A store to adopt into."""
    return Store(place)


def begun(place: Place, record: Record) -> Running:
    running = begin(place, record)
    assert running
    return running


def left_behind(place: Place, record: Record) -> None:
    """Begin a run and let go of it, as the kernel does for one that died."""
    begun(place, record).close_fd()


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder / "running"))


def the_null_record(record: Record, **changes: Any) -> dict[str, Any]:
    return dict(record) | DIED | changes


def linked(record: dict[str, Any]) -> dict[str, Any]:
    """Return the links of a stored record, which differ from run to run."""
    return {key: record[key] for key in ("seq", "prev_hash", "hash")}


def test_begin_writes_the_null_record(place: Place, folder: Path) -> None:
    """As it shall be if we die, in a file that only we can read."""
    record = sample(100)
    before = dict(record)
    running = begun(place, record)
    path = folder / "running" / record.command_id
    assert running.path == str(path)
    assert path.read_bytes() == encode(the_null_record(record)) + b"\n"
    assert dict(record) == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert (folder / ".gitignore").exists()
    running.finish()


def test_the_null_record_is_null() -> None:
    """No code, no counts, one sentence with the next action; all keys are there."""
    record = died(sample(100, stdout_tail="so far"))
    assert set(record) == set(KEYS)
    assert (record.exit_code, record.error, record.duration_ms) == (None, "runner_died", None)
    assert record.truncations == record.bytes == {"stdout": None, "stderr": None}
    assert "run it again" in (record.error_detail or "")
    assert record.stdout_tail == "so far"


def test_the_running_file_is_not_inherited_by_programs(place: Place) -> None:
    """The command itself must not hold the lock; a fork of ours does."""
    running = begun(place, sample())
    assert not os.get_inheritable(running.fd)
    running.finish()


def test_finish_takes_it_away(place: Place, store: Store, folder: Path) -> None:
    """Unlinked and closed; twice is once."""
    running = begun(place, sample())
    running.child(1, None)
    running.finish()
    running.finish()
    assert (names(folder), running.fd) == ([], -1)
    assert adopt(store) == 0
    assert not store_records(folder)


def test_a_living_run_is_left_alone(place: Place, store: Store, folder: Path) -> None:
    """Also by the very process that runs it."""
    record = sample()
    running = begun(place, record)
    assert adopt(store) == 0
    assert orphans(place) == []
    assert names(folder) == [record.command_id]
    running.finish()


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


def test_a_child_that_lives_on_is_named(place: Place, store: Store, folder: Path) -> None:
    """As a stray that was left, while its pid and its start still match."""
    record = sample(command=["sleep", "x" * 300])
    with subprocess.Popen(["sleep", "600"]) as child:
        start = process_start(child.pid)
        running = begun(place, record)
        running.child(child.pid, start)
        running.close_fd()
        expected = {
            "pid": child.pid,
            "start": start,
            "command": ("sleep " + "x" * 300)[:200],
            "action": "left",
            "reason": "its runner died",
        }
        assert [orphan.strays for orphan in orphans(place)] == [[expected]]
        assert adopt(store) == 1
        child.kill()
    assert store_records(folder)[0]["strays"] == [expected]


@pytest.mark.parametrize("start", [None, "", "no-boot:1", "zombie", "gone"])
def test_another_process_of_that_pid_is_not_named(
    place: Place, store: Store, folder: Path, start: str | None
) -> None:
    """A pid is used again; a zombie is no survivor."""
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        if start == "zombie":
            with open(f"/proc/{child.pid}/stat", encoding="ascii") as file:
                start = f"{boot_id()}:{file.read().rpartition(')')[2].split()[19]}"
        if start == "gone":
            child.wait()
        running = begun(place, sample())
        running.child(os.getpid() if start == "no-boot:1" else child.pid, start)
        running.close_fd()
        assert adopt(store) == 1
    assert store_records(folder)[0]["strays"] == []


def test_process_start_names_one_process() -> None:
    """Boot and start time, from the kernel's own table."""
    start = process_start(os.getpid())
    assert start
    boot, _, ticks = start.partition(":")
    assert (boot, ticks.isdigit()) == (boot_id(), True)
    assert process_start(1 << 30) is None


@pytest.mark.parametrize("text", [b"", b"\0" * 500, b'{"schema":', b"[]\n", b"\xff\n1 2\n"])
def test_a_file_that_a_power_loss_emptied_still_makes_a_record(
    place: Place, store: Store, folder: Path, text: bytes
) -> None:
    """Of the command only its id is known, and from the id its time."""
    store.append(sample())
    command_id = new_id(1_764_490_000_123_000_000)
    (folder / "running").mkdir()
    (folder / "running" / command_id).write_bytes(text)
    assert adopt(store) == 1
    record = store_records(folder)[-1]
    known = (record["command_id"], record["started_at"], record["error"], record["command"])
    assert known == (command_id, timestamp(1_764_490_000_123_000_000), "runner_died", [])
    assert set(record) == set(KEYS)
    assert names(folder) == []


def test_other_files_are_left_alone(place: Place, store: Store, folder: Path) -> None:
    """Only names that are ids are looked at."""
    left_behind(place, sample())
    others = ["notes.txt", ".swp", "0" * 36, "zzzzzzzz-0000-7000-8000-000000000000"]
    for name in others:
        (folder / "running" / name).touch()
    assert adopt(store) == 1
    assert names(folder) == sorted(others)


def test_a_run_that_died_while_it_began_is_swept(place: Place, store: Store, folder: Path) -> None:
    """Its hidden file is taken away, and no record is made: the command was never started."""
    left_behind(place, sample())
    adopt(store)
    hidden = folder / "running" / f".{new_id()}"
    hidden.write_bytes(b"half")
    with hidden.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        adopt(store)
        assert hidden.exists()
    assert orphans(place) == []
    assert adopt(store) == 0
    assert not hidden.exists()
    assert len(store_records(folder)) == 1


def test_links_and_folders_in_running_are_refused(
    place: Place, store: Store, folder: Path, tmp_path: Path
) -> None:
    """Nothing outside of the store is read, stored or unlinked."""
    precious = tmp_path / "precious"
    precious.write_bytes(encode(died(sample())) + b"\n")
    (folder / "running").mkdir(parents=True)
    (folder / "running" / new_id()).symlink_to(precious)
    (folder / "running" / new_id()).mkdir()
    assert adopt(store) == 0
    assert precious.exists()
    assert len(names(folder)) == 2
    with pytest.raises(StoreError):
        orphans(place)


def test_a_linked_running_folder_is_refused(place: Place, store: Store, folder: Path, tmp_path: Path) -> None:
    """A run goes on without its net, and nothing is adopted from there."""
    (tmp_path / "elsewhere").mkdir()
    folder.mkdir()
    (folder / "running").symlink_to(tmp_path / "elsewhere")
    assert begin(place, sample()) is None
    (tmp_path / "elsewhere" / new_id()).touch()
    assert adopt(store) == 0
    assert len(os.listdir(tmp_path / "elsewhere")) == 1


def test_without_a_store_a_run_has_no_net() -> None:
    """The command runs all the same."""
    place = Place("/", "/proc/firsthand")
    assert begin(place, sample()) is None
    assert adopt(Store(place)) == 0
    assert orphans(place) == []


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
