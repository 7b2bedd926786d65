"""The lock, and what threads, forks and full disks must not do."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.programs.store_sample import refused, sample
from tests.support.store import store_records

from firsthand.record import Record
from firsthand.store import lock
from firsthand.store.append import Store
from firsthand.store.files import LIVE_NAME
from firsthand.store.folder import open_folder
from firsthand.store.place import Place


def numbers(folder: Path) -> list[Any]:
    return [record["seq"] for record in store_records(folder)]


def test_a_busy_store_is_given_up(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its patience the record comes back; once the lock is free the store works."""
    monkeypatch.setattr(lock, "LOCK_PATIENCE", 0.05)
    store.append(sample())
    with (folder / "lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused(store.append(sample()), "is busy", "fuser")
        assert store.keep_output("x", {}) is None
    assert store.append(sample())["seq"] == 2


def test_a_writer_waits_for_the_lock(store: Store, folder: Path) -> None:
    """A lock that is held for a moment only costs time."""
    store.append(sample())
    with (folder / "lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        found: list[Record] = []
        thread = threading.Thread(target=lambda: found.append(store.append(sample())))
        thread.start()
        thread.join(0.05)
        assert found == []
        fcntl.flock(file, fcntl.LOCK_UN)
        thread.join()
    assert [record["seq"] for record in found] == [2]


def test_a_lock_that_was_deleted_excludes_nobody(store: Store, folder: Path) -> None:
    """Who waited on a deleted lock file takes the new one instead."""
    store.append(sample())
    with (folder / "lock").open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (folder / "lock").unlink()
        assert store.append(sample())["seq"] == 2


def test_who_waited_on_a_deleted_lock_waits_on_the_new_one(store: Store, folder: Path) -> None:
    """Else two writers would be in at once."""
    store.append(sample())
    found: list[Record] = []
    thread = threading.Thread(target=lambda: found.append(store.append(sample())))
    with (folder / "lock").open("rb") as old:
        fcntl.flock(old, fcntl.LOCK_EX)
        thread.start()
        thread.join(0.05)
        (folder / "lock").rename(folder / "lock.old")
        with (folder / "lock").open("wb") as new:
            fcntl.flock(new, fcntl.LOCK_EX)
            (folder / "lock.old").unlink()
            fcntl.flock(old, fcntl.LOCK_UN)
            thread.join(0.1)
            assert found == []
    thread.join()
    assert [record["seq"] for record in found] == [2]


def test_a_fork_under_the_lock_does_not_keep_it(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread of a host may fork while another one appends; that child must not hold everybody up."""
    monkeypatch.setattr(lock, "LOCK_PATIENCE", 0.05)
    with open_folder(store.place, create=True) as opened, lock.Locked(opened):
        pid = os.fork()
        if not pid:
            signal.pause()
    try:
        assert store.append(sample())["seq"] == 1
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_threads_and_forks_may_share_a_store(store: Store, folder: Path) -> None:
    """Each append opens its own descriptors, so eight threads exclude each other."""
    wrong: list[str] = []

    def work() -> None:
        wrong.extend(error for _ in range(50) if (error := store.append(sample(2000))["log_error"]))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert numbers(folder) == list(range(1, 401))


def test_a_descriptor_is_never_left_open(store: Store, folder: Path) -> None:
    """Not after success, rotation, refusal, nor an error on the way."""
    before = os.listdir("/proc/self/fd")
    for _ in range(30):
        store.append(sample(99_000))
    store.keep_output("x", {"a": "b"})
    (folder / LIVE_NAME).unlink()
    assert store.append(sample())["log_error"] is None
    (folder / "head").unlink()
    (folder / "head").symlink_to("x")
    refused(store.append(sample()))
    (folder / LIVE_NAME).unlink()
    (folder / LIVE_NAME).mkdir()
    refused(store.append(sample()))
    (folder / "lock").unlink()
    (folder / "lock").mkdir()
    refused(store.append(sample()))
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize("fragment", [b"", b"half a line"])
def test_a_full_disk_leaves_no_half_line(store: Store, folder: Path, fragment: bytes) -> None:
    """K10: while the file may not grow records come back with ``log_error``; then they are written again."""
    records = [store.append(sample(4000)), store.append(sample(4000))]
    path = folder / LIVE_NAME
    with path.open("ab") as file:
        file.write(fragment)
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in (0, 1, 200):
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + room, hard))
        try:
            record = store.append(sample(4000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        refused(record, "ulimit -f")
        assert path.read_bytes() == before
    records += [store.append(sample(4000)), store.append(sample(4000))]
    assert store_records(folder) == records
    assert [record["seq"] for record in records] == [1, 2, 3, 4]


def test_fsync_writes_the_same(folder: Path) -> None:
    """Waiting for the disk changes no byte, over a rotation too."""
    store = Store(Place(str(folder.parent), str(folder)), fsync=True)
    records = [store.append(sample(99_000)) for _ in range(12)]
    assert store_records(folder) == records
