"""``running/``: what a run that has begun leaves for others."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from tests.programs.store_sample import sample
from tests.support.running import begun, names
from tests.support.store import store_records

from firsthand.record import KEYS, Record, encode
from firsthand.store.adoption import adopt, orphans
from firsthand.store.append import Store
from firsthand.store.place import Place
from firsthand.store.running import DIED, died


def the_null_record(record: Record, **changes: Any) -> dict[str, Any]:
    return dict(record) | DIED | changes


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
