"""Reading: what is found, what is skipped and counted, what is refused."""

from __future__ import annotations

import fcntl
import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.programs.store_sample import sample

from firsthand.errors import StoreError, UsageError
from firsthand.record import Record, encode
from firsthand.store import snapshot
from firsthand.store.append import Store
from firsthand.store.files import LIVE_NAME, NAMES
from firsthand.store.place import Place
from firsthand.store.readers import Reader

if TYPE_CHECKING:
    from collections.abc import Callable

FOREIGN = 65533 if os.geteuid() == 65534 else 65534


def put(folder: Path, data: bytes) -> None:
    with (folder / LIVE_NAME).open("ab") as file:
        file.write(data)


def test_a_missing_store_is_empty(place: Place, folder: Path) -> None:
    """Nothing is made, and nothing is wrong."""
    reader = Reader(place)
    assert reader.last() == list(reader.all()) == []
    assert reader.find("0190") is None
    assert (reader.skipped, reader.newer) == (0, 0)
    assert not folder.exists()


def test_last_returns_the_newest_last(store: Store, place: Place) -> None:
    """Twenty by default, oldest first."""
    records = [store.append(sample()) for _ in range(25)]
    reader = Reader(place)
    assert reader.last() == records[-20:]
    assert reader.last(3) == records[-3:]
    assert reader.last(100) == list(reader.all()) == records
    assert reader.last(0) == []
    assert isinstance(reader.last(1)[0], Record)


def test_a_negative_number_is_a_mistake(place: Place) -> None:
    """It has no meaning here."""
    with pytest.raises(UsageError):
        Reader(place).last(-1)


def test_last_goes_to_older_files_only_as_far_as_needed(store: Store, place: Place, folder: Path) -> None:
    """A bad line in an older file is not met while the live file has enough."""
    records = [store.append(sample(99_000)) for _ in range(35)]
    with (folder / NAMES[1]).open("ab") as file:
        file.write(b"broken\n")
    reader = Reader(place)
    assert reader.last(1) == records[-1:]
    assert reader.skipped == 0
    assert reader.last(15) == records[-15:]
    assert reader.skipped == 1
    assert list(reader.all()) == records
    assert reader.skipped == 1


def test_bad_lines_are_skipped_and_counted_once(store: Store, place: Place, folder: Path) -> None:
    """K05: one bad line of ten; the reader that asks twice still counts one."""
    records = [store.append(sample()) for _ in range(4)]
    put(folder, b'{"schema":"firsthand.record/1","command_id":\n')
    records += [store.append(sample()) for _ in range(5)]
    reader = Reader(place)
    assert reader.last(20) == records
    assert reader.last(1) == records[-1:]
    assert list(reader.all()) == records
    assert (reader.skipped, reader.newer) == (1, 0)


@pytest.mark.parametrize(
    ("data", "skipped", "newer"),
    [
        (b"\n", 1, 0),
        (b"null\n[]\n{}\n", 3, 0),
        (b"\xff\xfe\n", 1, 0),
        (b"half", 1, 0),
        (b"[" * 100_000 + b"\n", 1, 0),
        (b'{"schema":"firsthand.record/2","seq":1}\n', 0, 1),
        (b'{"schema":"firsthand.record/","seq":1}\n', 1, 0),
        (b'{"schema":"somebody.record/2","seq":1}\n', 1, 0),
        (b'{"schema":"firsthand.record/2","seq"\n', 1, 0),
        (b'{"schema":2}\n', 1, 0),
    ],
)
def test_what_counts_as_bad(
    store: Store, place: Place, folder: Path, data: bytes, skipped: int, newer: int
) -> None:
    """Lines of a newer firsthand are counted apart, for they are no damage."""
    first = store.append(sample())
    put(folder, data)
    reader = Reader(place)
    assert reader.last() == [first]
    assert (reader.skipped, reader.newer) == (skipped, newer)


def test_a_record_without_its_line_end_is_read(store: Store, place: Place, folder: Path) -> None:
    """It is whole; the next append ends its line."""
    record = store.append(sample())
    os.truncate(folder / LIVE_NAME, (folder / LIVE_NAME).stat().st_size - 1)
    assert Reader(place).last() == [record]


def test_last_narrows(store: Store, place: Place) -> None:
    """To a session, and to what a function picks; over rotation too."""
    records = [store.append(sample(99_000, session_id="ab"[at % 2], exit_code=at % 3)) for at in range(30)]
    reader = Reader(place)
    assert reader.last(4, session="a") == [r for r in records if r["session_id"] == "a"][-4:]
    failed = [r for r in records if r["exit_code"] == 1]
    assert reader.last(9, where=lambda record: record.exit_code == 1) == failed[-9:]
    both = [r for r in failed if r["session_id"] == "b"]
    assert reader.last(100, session="b", where=lambda record: record.exit_code == 1) == both
    assert reader.last(session="c") == []


def test_find_by_id_and_by_prefix(store: Store, place: Place) -> None:
    """In all six files; a prefix is enough where it is the only one."""
    ids = [f"{at:04x}0000-0000-7000-8000-{at:012x}" for at in range(40)]
    records = [store.append(sample(99_000, command_id=one, parent_command_id=ids[0])) for one in ids]
    reader = Reader(place)
    for record in (records[0], records[20], records[39]):
        assert reader.find(record.command_id) == record
        assert reader.find(record.command_id[:4]) == record
        assert reader.find(record.command_id[:9].upper()) == record
    assert reader.find("ffff0000") is None
    assert reader.find("00000000-0000-7000-8000-0000000000000") is None
    assert reader.find("0000\udc80") is None


def test_an_unclear_prefix_is_a_mistake(store: Store, place: Place) -> None:
    """Too short, or the beginning of several."""
    for last in "ab":
        store.append(sample(command_id=f"01900000-0000-7000-8000-00000000000{last}"))
    reader = Reader(place)
    with pytest.raises(UsageError, match="too short"):
        reader.find("019")
    with pytest.raises(UsageError, match="2 ids begin with 0190") as caught:
        reader.find("0190")
    assert "01900000-0000-7000-8000-00000000000a" in caught.value.hint


def test_all_is_one_moment(store: Store, place: Place) -> None:
    """While it is read, files may be rotated away: what was there at the start is what comes."""
    records = [store.append(sample(99_000)) for _ in range(25)]
    stream = Reader(place).all()
    found = [next(stream)]
    for _ in range(80):
        store.append(sample(99_000))
    found += stream
    assert found == records


def test_a_store_that_may_only_be_read(store: Store, place: Place, folder: Path) -> None:
    """No lock is needed, and none is made."""
    record = store.append(sample())
    (folder / "lock").unlink()
    folder.chmod(0o500)
    assert Reader(place).last() == [record]
    assert not (folder / "lock").exists()


def test_a_reader_waits_for_a_writer(
    store: Store, place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It never sees half a line of one that is alive; of one that is stuck it sees what is there."""
    record = store.append(sample())
    found: list[list[Record]] = []
    thread = threading.Thread(target=lambda: found.append(Reader(place).last()))
    monkeypatch.setattr(snapshot, "READ_PATIENCE", 1000.0)
    with (folder / "lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        put(folder, b"half")
        thread.start()
        thread.join(0.1)
        assert found == []
        monkeypatch.setattr(snapshot, "READ_PATIENCE", 0.01)
        reader = Reader(place)
        assert (reader.last(), reader.skipped) == ([record], 1)
        os.truncate(folder / LIVE_NAME, (folder / LIVE_NAME).stat().st_size - 4)
        fcntl.flock(lock, fcntl.LOCK_UN)
        thread.join()
    assert found == [[record]]


def link_folder(folder: Path) -> bool:
    folder.rename(folder.parent / "real")
    folder.symlink_to(folder.parent / "real")
    return True


def link_file(folder: Path) -> bool:
    (folder / LIVE_NAME).rename(folder / "real")
    (folder / LIVE_NAME).symlink_to("real")
    return True


def pipe(folder: Path) -> bool:
    (folder / NAMES[2]).unlink(missing_ok=True)
    os.mkfifo(folder / NAMES[2])
    return True


def give_folder(folder: Path) -> bool:
    return _given(folder)


def give_file(folder: Path) -> bool:
    return _given(folder / LIVE_NAME)


def _given(path: Path) -> bool:
    try:
        os.chown(path, FOREIGN, FOREIGN)
    except PermissionError:
        return False
    return True


@pytest.mark.parametrize("change", [link_folder, link_file, pipe, give_folder, give_file])
def test_what_is_not_ours_is_not_believed(
    store: Store, place: Place, folder: Path, change: Callable[[Path], bool]
) -> None:
    """A link or a foreign owner is refused at once, with what to do about it."""
    record = store.append(sample())
    if change(folder):
        with pytest.raises(StoreError) as caught:
            Reader(place)
        assert caught.value.hint
    else:
        assert Reader(place).last() == [record]


def test_no_descriptor_is_left_open(store: Store, place: Place, folder: Path) -> None:
    """Also where a reader stops in the middle, or is refused."""
    store.append(sample())
    before = os.listdir("/proc/self/fd")
    reader = Reader(place)
    reader.last()
    stream = reader.all()
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    pipe(folder)
    with pytest.raises(StoreError):
        Reader(place)
    assert os.listdir("/proc/self/fd") == before


def test_a_huge_foreign_file_is_read_at_its_end_only(store: Store, place: Place, folder: Path) -> None:
    """Memory stays bounded: what we write never gets so large."""
    store.append(sample())
    record = store.append(sample())
    with (folder / LIVE_NAME).open("r+b") as file:
        file.truncate(1 << 30)
        file.seek(1 << 30)
        file.write(b"\n" + encode(record) + b"\n")
    reader = Reader(place)
    assert reader.last() == [record]
    assert reader.skipped == 1


def test_kept_output_comes_back(store: Store, place: Place) -> None:
    """As it was kept; null stays null."""
    content = {"stdout": {"text": "ü\n"}}
    record = sample()
    record["kept_output"] = store.keep_output(record.command_id, content)
    store.append(record)
    reader = Reader(place)
    assert reader.output(reader.last(1)[0]) == content
    assert reader.output(sample()) is None


def test_a_changed_output_is_refused(store: Store, place: Place, folder: Path) -> None:
    """By its hash; one that was dropped is none."""
    record = sample(command_id="0190")
    record["kept_output"] = store.keep_output("0190", {"stdout": "x"})
    store.append(record)
    path = folder / "output" / "0190.json"
    path.write_text(json.dumps({"stdout": "y"}))
    with pytest.raises(StoreError, match="changed"):
        Reader(place).output(record)
    path.unlink()
    assert Reader(place).output(record) is None


@pytest.mark.parametrize("name", ["../head", "a/b", ".hidden", "/etc/passwd", "", "a\0", None, 7])
def test_a_name_that_leads_elsewhere_is_refused(store: Store, place: Place, name: object) -> None:
    """A record cannot make us read another file."""
    store.append(sample())
    with pytest.raises(StoreError):
        Reader(place).output(sample(kept_output={"name": name, "sha256": "0" * 64}))
