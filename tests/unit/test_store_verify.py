"""``verify``: every kind of change that it must name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.programs.store_sample import sample
from tests.support.damage import fill, found, lines_of, put_lines, reboot
from tests.support.store import store_files

from firsthand.errors import StoreError
from firsthand.procfs import boot_id
from firsthand.record import GENESIS_HASH, Record, encode
from firsthand.store.append import Store
from firsthand.store.chain import digest, link, split
from firsthand.store.files import LIVE_NAME, NAMES
from firsthand.store.place import Place
from firsthand.store.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable


def reason(place: Place) -> str:
    result = verify(place)
    assert result.first_bad
    return result.first_bad[2]


def test_no_store_and_an_empty_store(place: Place, folder: Path) -> None:
    """Nothing was shown, so the answer is neither yes nor no."""
    assert found(place) == ("empty", None, None)
    folder.mkdir()
    assert found(place) == ("empty", None, None)
    (folder / LIVE_NAME).touch()
    assert found(place) == ("empty", None, None)


def test_an_intact_store(place: Place, five: list[Record]) -> None:
    """All is there, and there is nothing to say about it."""
    result = verify(place)
    assert (result.status, result.ok, result.records, result.first_bad) == ("intact", True, 5, None)
    assert result.notes == []


def test_a_store_that_was_rotated(store: Store, place: Place, folder: Path) -> None:
    """With all five rotated files a first ``prev_hash`` that is not zero is excused, and it is said."""
    count = fill(store, folder, 5)
    assert found(place) == ("intact", True, None)
    assert verify(place).records == count
    assert verify(place).notes == []
    for _ in range(20):
        store.append(sample(99_000))
    result = verify(place)
    assert (result.status, result.ok, result.first_bad) == ("intact", True, None)
    assert len(result.notes) == 1
    assert "rotated away" in result.notes[0]


def test_every_changed_byte_is_found(place: Place, folder: Path, five: list[Record]) -> None:
    """In any line, at any place, the last line and its line end included."""
    path = folder / LIVE_NAME
    whole = path.read_bytes()
    for at in range(0, len(whole) - 1, 11):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        line = whole[:at].count(b"\n") + 1
        status, ok, bad = found(place)
        assert (status, ok) == ("broken", False), at
        assert bad == (LIVE_NAME, line), at
    path.write_bytes(whole[:-1] + b"\x0b")
    assert found(place)[1] is not True


def test_a_changed_record_is_still_found_after_more_appends(
    store: Store, place: Place, folder: Path, five: list[Record]
) -> None:
    """Also the last one, whose links are right and which is appended to without a look at its text."""
    lines = lines_of(folder)
    put_lines(folder, [*lines[:4], lines[4].replace(b"a line of output", b"A line of output")])
    store.append(sample())
    assert found(place) == ("broken", False, (LIVE_NAME, 5))
    assert reason(place) == "its hash is not that of its bytes"


def test_a_removed_line_is_found(store: Store, place: Place, folder: Path, five: list[Record]) -> None:
    """In the middle, and at the beginning."""
    lines = lines_of(folder)
    put_lines(folder, lines[:1] + lines[3:])
    assert found(place) == ("broken", False, (LIVE_NAME, 2))
    assert reason(place) == "2 records before it are missing"
    put_lines(folder, lines[1:])
    assert found(place) == ("broken", False, (LIVE_NAME, 1))


def test_swapped_lines_are_found(place: Place, folder: Path, five: list[Record]) -> None:
    """Each is whole by itself, and they stand in the wrong order."""
    one, two, three, four, last = lines_of(folder)
    put_lines(folder, [one, three, two, four, last])
    assert found(place) == ("broken", False, (LIVE_NAME, 2))
    put_lines(folder, [one, two, three, last, four])
    assert found(place)[1] is False


def test_a_line_twice_is_found(place: Place, folder: Path, five: list[Record]) -> None:
    """A copied line links to the wrong place."""
    lines = lines_of(folder)
    put_lines(folder, [*lines[:3], *lines[2:]])
    assert found(place) == ("broken", False, (LIVE_NAME, 4))
    assert reason(place) == "it is number 3 and stands behind number 3"


def test_a_line_put_in_is_found(place: Place, folder: Path, five: list[Record]) -> None:
    """In the middle no record names it."""
    lines = lines_of(folder)
    for foreign in (b"\n", b"hello\n", b'{"schema":"firsthand.record/1"}\n'):
        put_lines(folder, [*lines[:2], foreign, *lines[2:]])
        assert found(place) == ("broken", False, (LIVE_NAME, 3))
        assert reason(place).endswith("no record after it names it")


def test_a_line_in_the_place_of_the_last_record(place: Place, folder: Path, five: list[Record]) -> None:
    """Within one boot somebody put it there; over a boot the disk may have done so."""
    put_lines(folder, [*lines_of(folder)[:4], b"hello\n"])
    assert found(place) == ("broken", False, (LIVE_NAME, 5))
    reboot(folder)
    assert found(place) == ("unknown", None, None)


def test_a_forged_line_is_found(place: Place, folder: Path, five: list[Record]) -> None:
    """Its own hash is right; the next record does not link to it. The last one is held against ``head``."""
    lines = lines_of(folder)
    forged, _ = link(split(sample()), 3, five[1]["hash"], None)
    put_lines(folder, [*lines[:2], forged + b"\n", *lines[3:]])
    assert found(place) == ("broken", False, (LIVE_NAME, 4))
    assert reason(place) == "it does not link to the record before it"
    forged, _ = link(split(sample()), 5, five[3]["hash"], None)
    put_lines(folder, [*lines[:4], forged + b"\n"])
    assert found(place) == ("broken", False, ("head", 1))


def test_a_duplicate_key_is_found(place: Place, folder: Path, store: Store) -> None:
    """Readers differ on which value holds, so a line that hashes well is refused all the same."""
    parts = split(sample())
    parts[4] = parts[4].replace(b'"via":"cli"', b'"via":"cli","via":"mcp"')
    line, own = link(parts, 1, GENESIS_HASH, None)
    store.append(sample())
    put_lines(folder, [line + b"\n"])
    (folder / "head").write_bytes(b"%020d %b %-36b\n" % (1, own.encode(), boot_id().encode()))
    assert found(place) == ("broken", False, (LIVE_NAME, 1))
    assert "duplicate key" in reason(place)


def test_a_healed_fragment_is_covered(store: Store, place: Place, folder: Path, five: list[Record]) -> None:
    """It is noted; a change to it, or its removal, is found."""
    put_lines(folder, [*lines_of(folder), b"hello\n"])
    assert found(place) == ("intact", True, None)
    put_lines(folder, [*lines_of(folder)[:5], b'{"half'])
    assert found(place) == ("intact", True, None)
    (note,) = verify(place).notes
    assert "torn fragment" in note
    store.append(sample())
    result = verify(place)
    assert (result.status, result.ok, result.records) == ("intact", True, 6)
    assert len(result.notes) == 1
    lines = lines_of(folder)
    put_lines(folder, [*lines[:5], b'{"hall\n', lines[6]])
    assert found(place) == ("broken", False, (LIVE_NAME, 6))
    put_lines(folder, [*lines[:5], lines[6]])
    assert found(place) == ("broken", False, (LIVE_NAME, 6))
    assert reason(place) == "the torn fragment that it names is gone"


def test_a_fragment_that_ends_like_a_record_is_no_change(
    store: Store, place: Place, folder: Path, five: list[Record]
) -> None:
    """Cut at a closing brace it has links and the shape of a line, and is a torn tail all the same."""
    line = encode(five[0])
    fragment = line[: line.index(b"}", line.index(b'"torn"')) + 1]
    assert fragment.endswith(b"}")
    with (folder / LIVE_NAME).open("ab") as file:
        file.write(fragment)
    assert found(place) == ("intact", True, None)
    store.append(sample())
    assert found(place) == ("intact", True, None)


def test_a_fragment_at_the_end_of_a_rotated_file_is_covered(store: Store, place: Place, folder: Path) -> None:
    """Its record begins the next file."""
    while not folder.exists() or (folder / LIVE_NAME).stat().st_size < 940_000:
        store.append(sample(99_000))
    with (folder / LIVE_NAME).open("ab") as file:
        file.write(b"half" * 20_000)
    store.append(sample(99_000))
    assert [path.name for path in store_files(folder)] == [NAMES[1], LIVE_NAME]
    assert found(place) == ("intact", True, None)


def test_kept_outputs_are_covered(store: Store, place: Place, folder: Path) -> None:
    """A changed one is found, a dropped one is only noted."""
    for name in ("a", "b"):
        record = sample(command_id=name)
        record["kept_output"] = store.keep_output(name, {"stdout": name})
        store.append(record)
    assert found(place) == ("intact", True, None)
    (folder / "output" / "a.json").unlink()
    result = verify(place)
    assert (result.status, result.notes) == ("intact", ["1 kept outputs are gone; the oldest are dropped."])
    (folder / "output" / "b.json").write_text(json.dumps({"stdout": "B"}))
    assert found(place) == ("broken", False, ("output/b.json", 0))
    assert "A kept output was changed: output/b.json was changed since it was kept." in verify(place).notes
    (folder / "output" / "b.json").unlink()
    (folder / "output" / "b.json").symlink_to("/dev/null")
    assert found(place) == ("broken", False, ("output/b.json", 0))


def test_a_newer_schema_is_checked_by_its_links(
    store: Store, place: Place, folder: Path, five: list[Record]
) -> None:
    """What its keys mean is not known here, which is said."""
    store.append(sample(schema="firsthand.record/2"))
    store.append(sample())
    result = verify(place)
    assert (result.status, result.ok, result.records) == ("intact", True, 7)
    assert result.notes == ["1 records are of a newer schema; only their links were checked."]


def test_another_schema_is_no_record(store: Store, place: Place) -> None:
    """A line that hashes well but is of no schema of ours."""
    store.append(sample(schema="somebody.record/1"))
    assert found(place) == ("broken", False, (LIVE_NAME, 1))


def test_a_file_that_we_never_write_is_found(place: Place, folder: Path, five: list[Record]) -> None:
    """A larger one is not read whole."""
    with (folder / LIVE_NAME).open("ab") as file:
        file.truncate(1 << 30)
    assert found(place) == ("broken", False, (LIVE_NAME, 0))


def test_the_worst_is_what_counts(store: Store, place: Place, folder: Path, five: list[Record]) -> None:
    """A change before, a cut behind: the change is the status, both are told."""
    lines = lines_of(folder)
    put_lines(folder, [lines[0], lines[2], lines[3]])
    result = verify(place)
    assert (result.status, result.ok) == ("broken", False)
    assert result.first_bad
    assert result.first_bad[:2] == (LIVE_NAME, 2)
    assert len(result.notes) == 1


def folder_link(folder: Path) -> None:
    folder.rename(folder.parent / "real")
    folder.symlink_to("real")


def gaps_link(folder: Path) -> None:
    (folder / "gaps").symlink_to("head")


@pytest.mark.parametrize("change", [folder_link, gaps_link])
def test_links_are_refused(
    place: Place, folder: Path, five: list[Record], change: Callable[[Path], None]
) -> None:
    """They are no store of ours."""
    change(folder)
    with pytest.raises(StoreError, match="symbolic link"):
        verify(place)


def test_the_hash_is_over_the_bytes_without_the_hash(five: list[Record]) -> None:
    """Anybody can check it with a text editor and sha256sum."""
    line = encode(five[2])
    assert digest(line.replace(b'"hash":"%b",' % five[2]["hash"].encode(), b"")) == five[2]["hash"]
