"""``head`` and ``gaps``: a crash, a loss and a change are told apart."""

from __future__ import annotations

import resource
import stat
from pathlib import Path

import pytest
from tests.programs.store_sample import refused, sample
from tests.support.store import store_lines, store_records

from firsthand.procfs import boot_id
from firsthand.record import encode
from firsthand.store.append import Store
from firsthand.store.files import LIVE_NAME, NAMES
from firsthand.store.place import Place


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def head(folder: Path) -> list[bytes]:
    return (folder / "head").read_bytes().split()


def test_head_names_the_last_record(store: Store, folder: Path) -> None:
    """It has one fixed shape, whatever the number."""
    for _ in range(2):
        record = store.append(sample())
    assert head(folder) == [b"%020d" % 2, record["hash"].encode(), boot_id().encode()]
    assert (folder / "head").stat().st_size == 123


def test_a_file_ahead_of_head_is_gone_on_from(store: Store, folder: Path) -> None:
    """A writer died between its two writes: nothing is missing, no gap is noted."""
    store.append(sample())
    old = (folder / "head").read_bytes()
    second = store.append(sample())
    (folder / "head").write_bytes(old)
    third = store.append(sample())
    assert (third["seq"], third["prev_hash"]) == (3, second["hash"])
    assert not (folder / "gaps").exists()


@pytest.mark.parametrize("damage", [b"", b"x", b"0" * 123, b"\0" * 123, b"\xff" * 123])
def test_a_damaged_head_is_written_anew(store: Store, folder: Path, damage: bytes) -> None:
    """The files tell where the chain ends."""
    first = store.append(sample())
    (folder / "head").write_bytes(damage)
    second = store.append(sample())
    assert (second["seq"], second["prev_hash"]) == (2, first["hash"])
    assert head(folder)[1] == second["hash"].encode()


def test_a_file_behind_head_leaves_a_gap(store: Store, folder: Path) -> None:
    """Records are gone: it is noted, once, and the chain goes on from ``head``."""
    first = store.append(sample())
    lost = store.append(sample())
    (folder / LIVE_NAME).write_bytes(encode(first) + b"\n")
    record = store.append(sample())
    store.append(sample())
    assert (record["seq"], record["prev_hash"], record["torn"]) == (3, lost["hash"], None)
    assert (folder / "gaps").read_text() == f"2 1 {boot_id()} {boot_id()}\n"
    assert mode(folder / "gaps") == 0o600


def test_a_gap_is_noted_with_the_boot_of_the_head(store: Store, folder: Path) -> None:
    """So that a power loss can be told from a cut."""
    first = store.append(sample())
    store.append(sample())
    (folder / LIVE_NAME).write_bytes(encode(first) + b"\n")
    other = "0" * 8 + "-" + "1" * 27
    (folder / "head").write_text((folder / "head").read_text().replace(boot_id(), other))
    store.append(sample())
    assert (folder / "gaps").read_text() == f"2 1 {other} {boot_id()}\n"


def test_all_files_gone_is_a_gap_too(store: Store, folder: Path) -> None:
    """The numbers go on: a seq is never given twice."""
    last = [store.append(sample()) for _ in range(3)][-1]
    (folder / LIVE_NAME).unlink()
    record = store.append(sample())
    assert (record["seq"], record["prev_hash"]) == (4, last["hash"])
    assert (folder / "gaps").read_text() == f"3 0 {boot_id()} {boot_id()}\n"


def test_the_last_record_of_an_older_file_is_found(store: Store, folder: Path) -> None:
    """A writer died after the renames: without a live file the chain goes on from ``.1``."""
    records = [store.append(sample()), store.append(sample())]
    (folder / LIVE_NAME).rename(folder / NAMES[1])
    record = store.append(sample())
    assert (record["seq"], record["prev_hash"]) == (3, records[1]["hash"])
    assert not (folder / "gaps").exists()


def test_a_changed_last_record_is_not_gone_on_from(store: Store, folder: Path) -> None:
    """A forged last line, its hash right for its bytes, stays visible: the next record links to ``head``."""
    store.append(sample())
    real = store.append(sample())
    line = store_lines(folder)[0]
    forger = Store(Place(str(folder.parent), str(folder.parent / "forger")))
    forger.append(sample())
    forged = forger.append(sample())
    (folder / LIVE_NAME).write_bytes(line + b"\n" + encode(forged) + b"\n")
    assert store.append(sample())["prev_hash"] == real["hash"]


def test_gaps_are_bounded(store: Store, folder: Path) -> None:
    """A thousand lines are kept, the newest."""
    store.append(sample())
    old = [f"{number + 1} {number} - -\n" for number in range(1000)]
    (folder / "gaps").write_text("".join(old))
    (folder / LIVE_NAME).unlink()
    store.append(sample())
    expected = [*old[1:], f"1 0 {boot_id()} {boot_id()}\n"]
    assert (folder / "gaps").read_text().splitlines(keepends=True) == expected


def test_a_head_that_cannot_be_written_refuses_the_next_record(store: Store, folder: Path) -> None:
    """The files are never ahead by more than one record, or a cut could pass for a crash."""
    first = store.append(sample())
    (folder / "head").unlink()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        record = store.append(sample())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    refused(record)
    assert store_records(folder) == [first]
