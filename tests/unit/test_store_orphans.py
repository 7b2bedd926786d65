"""What a dead run leaves: its child, a damaged file, or what is no running file at all."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.programs.store_sample import sample
from tests.support.running import begun, left_behind, names
from tests.support.store import store_records

from firsthand.errors import StoreError
from firsthand.procfs import boot_id, start_stamp
from firsthand.record import KEYS, encode, new_id, timestamp
from firsthand.store.adoption import adopt, child_of, orphans
from firsthand.store.append import Store
from firsthand.store.place import Place
from firsthand.store.running import begin, died


def test_a_child_that_lives_on_is_named(place: Place, store: Store, folder: Path) -> None:
    """As a stray that was left, while its pid and its start still match."""
    record = sample(command=["sleep", "x" * 300])
    with subprocess.Popen(["sleep", "600"]) as child:
        start = start_stamp(child.pid)
        running = begun(place, record)
        running.child(child.pid, start)
        running.close_fd()
        expected = {
            "pid": child.pid,
            "start": start,
            "command": "sleep 600",
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


def test_the_child_of_a_run_can_be_asked_for(place: Place, folder: Path) -> None:
    """As it was noted, while the run is not concluded."""
    record = sample()
    assert child_of(place, record.command_id) is None
    running = begun(place, record)
    assert child_of(place, record.command_id) is None
    running.child(7, "boot:9")
    assert child_of(place, record.command_id) == (7, "boot:9")
    running.finish()
    assert child_of(place, record.command_id) is None


def test_process_start_names_one_process() -> None:
    """Boot and start time, from the kernel's own table."""
    start = start_stamp(os.getpid())
    assert start
    boot, _, ticks = start.partition(":")
    assert (boot, ticks.isdigit()) == (boot_id(), True)
    assert start_stamp(1 << 30) is None


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


def test_what_is_left_is_redacted_in_the_records_own_numbering(
    place: Place, folder: Path, store: Store
) -> None:
    """A number that the record has given already stands for another value; what is hidden is counted."""
    record = sample(redactions={"password": 1}, cwd="/x/password=[REDACTED:password#1]")
    argv = ["sh", "-c", "sleep 600; :", "password" + "=hunter2"]
    with subprocess.Popen(argv, start_new_session=True) as child:
        running = begun(place, record)
        running.child(child.pid, start_stamp(child.pid))
        running.close_fd()
        try:
            assert adopt(store) == 1
        finally:
            os.killpg(child.pid, signal.SIGKILL)
    (stored,) = store_records(folder)
    assert "password=[REDACTED:password#2]" in stored["strays"][0]["command"]
    assert stored["redactions"] == {"password": 2}
