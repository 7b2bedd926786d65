"""``verify``: whether the files begin and end where they should."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.programs.store_sample import sample
from tests.support.damage import OTHER_BOOT, Found, fill, found, lines_of, put_lines, reboot

from firsthand.procfs import UNKNOWN_BOOT
from firsthand.record import Record
from firsthand.store.append import Store
from firsthand.store.files import LIVE_NAME, NAMES
from firsthand.store.place import Place
from firsthand.store.verification import verify

if TYPE_CHECKING:
    pass


def test_a_first_record_that_is_not_the_first_is_found(store: Store, place: Place, folder: Path) -> None:
    """It is excused only while all five rotated files are there."""
    fill(store, folder, 5)
    for _ in range(20):
        store.append(sample(99_000))
    assert found(place)[0] == "intact"
    (folder / NAMES[5]).unlink()
    assert found(place) == ("broken", False, (NAMES[4], 1))


@pytest.mark.parametrize("hole", [1, 2, 3, 4])
def test_a_removed_file_is_found(store: Store, place: Place, folder: Path, hole: int) -> None:
    """Its neighbours do not link to each other."""
    fill(store, folder, 5)
    (folder / NAMES[hole]).unlink()
    assert found(place) == ("broken", False, (NAMES[hole - 1], 1))


def test_a_crash_between_renames_is_not_called_a_change(store: Store, place: Place, folder: Path) -> None:
    """One name is free and nothing is missing behind it: it cannot be told, until the next rotation."""
    fill(store, folder, 5)
    for _ in range(3):
        (folder / NAMES[5]).unlink(missing_ok=True)
        (folder / NAMES[4]).rename(folder / NAMES[5])
        assert found(place) == ("unknown", None, None)
        while not (folder / NAMES[4]).exists():
            store.append(sample(99_000))
        assert found(place)[0] == "intact"


def test_a_file_ahead_of_head_by_one_is_healed(
    store: Store, place: Place, folder: Path, five: list[Record]
) -> None:
    """A writer died between its two writes: yes, with a note; the next append ends the matter."""
    old = (folder / "head").read_bytes()
    store.append(sample())
    (folder / "head").write_bytes(old)
    result = verify(place)
    assert (result.status, result.ok, result.records) == ("healed", True, 6)
    assert result.notes == ["Record 6 was the last act of a writer that died."]
    (folder / "head").write_bytes(old.replace(five[4]["hash"].encode(), b"0" * 64))
    assert found(place) == ("broken", False, ("head", 1))
    (folder / "head").write_bytes(old)
    store.append(sample())
    assert found(place) == ("intact", True, None)


def test_a_first_record_without_a_head_is_healed(store: Store, place: Place, folder: Path) -> None:
    """The writer died before there was a ``head``."""
    store.append(sample())
    (folder / "head").unlink()
    assert found(place) == ("healed", True, None)
    (folder / "head").touch()
    assert found(place) == ("healed", True, None)


def test_a_file_far_ahead_of_head(store: Store, place: Place, folder: Path, five: list[Record]) -> None:
    """Within one boot ``head`` was put back; over a boot the disk may have kept an old one."""
    old = (folder / "head").read_bytes()
    for _ in range(2):
        store.append(sample())
    (folder / "head").write_bytes(old)
    assert found(place) == ("broken", False, ("head", 1))
    reboot(folder)
    assert found(place) == ("unknown", None, None)


@pytest.mark.parametrize("damage", [None, b"", b"\0" * 123])
def test_without_a_head_the_end_cannot_be_told(
    place: Place, folder: Path, five: list[Record], damage: bytes | None
) -> None:
    """All links hold, and records may lack behind them."""
    (folder / "head").unlink()
    if damage is not None:
        (folder / "head").write_bytes(damage)
    assert found(place) == ("unknown", None, None)


@pytest.mark.parametrize(
    ("boot", "expected"),
    [
        (None, ("cut_off", False, None)),
        (OTHER_BOOT, ("unknown", None, None)),
        (UNKNOWN_BOOT, ("unknown", None, None)),
    ],
)
@pytest.mark.parametrize("appended", [False, True])
def test_a_file_behind_head(
    store: Store,
    place: Place,
    folder: Path,
    five: list[Record],
    boot: str | None,
    expected: Found,
    appended: bool,
) -> None:
    """Cut off within one boot, unknown over a boot; and the same after the next appends."""
    put_lines(folder, lines_of(folder)[:3])
    if boot:
        reboot(folder, boot)
    if appended:
        for _ in range(3):
            store.append(sample())
    assert found(place) == expected
    (note,) = verify(place).notes
    assert ("power loss" in note) == (boot is not None)


def test_a_cut_in_the_middle_of_a_line(store: Store, place: Place, folder: Path, five: list[Record]) -> None:
    """Half of the last line is left, and ``head`` knows that it was whole."""
    path = folder / LIVE_NAME
    os.truncate(path, path.stat().st_size - 100)
    assert found(place) == ("cut_off", False, None)
    store.append(sample())
    assert found(place) == ("cut_off", False, None)


def test_all_files_gone_is_cut_off(store: Store, place: Place, folder: Path, five: list[Record]) -> None:
    """``head`` remembers; and so do the gaps after the next append."""
    (folder / LIVE_NAME).unlink()
    assert found(place) == ("cut_off", False, None)
    store.append(sample())
    assert found(place) == ("cut_off", False, None)
    (folder / "gaps").unlink()
    assert found(place) == ("broken", False, (LIVE_NAME, 1))


def test_a_gap_does_not_excuse_another_break(
    store: Store, place: Place, folder: Path, five: list[Record]
) -> None:
    """Only the very numbers that it names."""
    put_lines(folder, lines_of(folder)[:3])
    store.append(sample())
    lines = lines_of(folder)
    put_lines(folder, [*lines[:2], *lines[3:]])
    assert found(place) == ("broken", False, (LIVE_NAME, 3))


def test_damaged_gaps_are_read_as_far_as_they_go(
    store: Store, place: Place, folder: Path, five: list[Record]
) -> None:
    """A torn line of it excuses nothing and stops nothing."""
    put_lines(folder, lines_of(folder)[:3])
    store.append(sample())
    path = folder / "gaps"
    path.write_bytes(b"\xff\n1 2\n" + path.read_bytes() + b"7 ")
    assert found(place) == ("cut_off", False, None)
