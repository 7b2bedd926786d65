"""Appending: what stands in the files and what comes back."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

from tests.programs.store_sample import FIRST, refused, sample
from tests.support.store import store_lines, store_records

from firsthand.record import Record, decode, encode
from firsthand.store.append import Store
from firsthand.store.files import LIVE_NAME
from firsthand.store.place import Place

FOREIGN = 65533 if os.geteuid() == 65534 else 65534
"""A user who is neither we, nor root, nor the owner of the project."""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_the_first_record(store: Store, folder: Path) -> None:
    """The same object comes back with its links, and its line is its canonical JSON."""
    record = sample()
    before = dict(record)
    assert store.append(record) is record
    assert dict(record) == before | FIRST | {"hash": record["hash"]}
    (line,) = store_lines(folder)
    assert line == encode(record)
    body = dict(record)
    del body["hash"]
    assert record["hash"] == hashlib.sha256(encode(body)).hexdigest()


def test_records_are_linked(store: Store, folder: Path) -> None:
    """Each names the hash of the one before it, and counts on; another writer too."""
    other = Store(store.place)
    records = [store.append(sample()), other.append(sample()), store.append(sample())]
    assert [record["seq"] for record in records] == [1, 2, 3]
    assert [record["prev_hash"] for record in records[1:]] == [record["hash"] for record in records[:2]]
    assert store_records(folder) == records


def test_nobody_else_can_read_the_store(store: Store, folder: Path) -> None:
    """Folder 0700, files 0600, whatever the umask, and kept out of git."""
    before = os.umask(0)
    try:
        store.append(sample())
    finally:
        os.umask(before)
    assert mode(folder) == 0o700
    names = {".gitignore", LIVE_NAME, "head", "lock"}
    assert {path.name: mode(path) for path in folder.iterdir()} == dict.fromkeys(names, 0o600)
    assert (folder / ".gitignore").read_bytes() == b"*\n"


def test_a_folder_that_is_there_is_closed_and_ignored(store: Store, folder: Path) -> None:
    """A folder made by hand gets its mode and its ``.gitignore``; one that it has is left alone."""
    folder.mkdir(mode=0o755)
    store.append(sample())
    assert mode(folder) == 0o700
    assert (folder / ".gitignore").read_bytes() == b"*\n"
    (folder / ".gitignore").write_bytes(b"mine\n")
    (folder / LIVE_NAME).unlink()
    store.append(sample())
    assert (folder / ".gitignore").read_bytes() == b"mine\n"


def test_a_folder_with_other_things_in_it_is_not_taken_over(store: Store, folder: Path) -> None:
    """FIRSTHAND_DIR names a home folder by mistake: it is used, its mode and its commits are left alone."""
    folder.mkdir(mode=0o755)
    (folder / "thesis.tex").touch()
    record = store.append(sample())
    assert store_records(folder) == [record]
    assert mode(folder) == 0o755
    assert not (folder / ".gitignore").exists()
    assert mode(folder / LIVE_NAME) == 0o600


def test_parent_folders_are_made_for_a_chosen_folder(tmp_path: Path) -> None:
    """FIRSTHAND_DIR may be any depth of folders that are not there."""
    folder = tmp_path / "a" / "b" / "c"
    record = Store(Place(str(tmp_path), str(folder))).append(sample())
    assert store_records(folder) == [record]
    assert [mode(tmp_path / "a"), mode(tmp_path / "a" / "b"), mode(folder)] == [0o700] * 3


def test_a_project_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    """The store's own folder is made in the project, the project is not."""
    project = tmp_path / "gone"
    refused(Store(Place(str(project), str(project / ".firsthand"))).append(sample()), "No such file")
    assert not project.exists()


def test_new_files_get_the_owner_of_the_project(tmp_path: Path) -> None:
    """Where root works in somebody else's project, that user can go on with the store afterwards."""
    owner = (FOREIGN, FOREIGN) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    project = tmp_path / "project"
    project.mkdir()
    os.chown(project, *owner)
    folder = project / "deep" / "store"
    store = Store(Place(str(project), str(folder), owner))
    for _ in range(2):
        record = store.append(sample(70_000))
        assert record["log_error"] is None
    assert store.keep_output("a", {}) is not None
    found = {(path.stat().st_uid, path.stat().st_gid) for path in [folder.parent, folder, *folder.rglob("*")]}
    assert found == {owner}
    assert {path.name for path in folder.iterdir()} == {".gitignore", LIVE_NAME, "head", "lock", "output"}


def test_keys_that_look_like_links_do_not_mislead(store: Store, folder: Path) -> None:
    """A redaction rule may be named ``seq`` or ``hash``, and a text may hold them."""
    trap = '"seq":7,"hash":"' + "1" * 64 + '",'
    first = store.append(sample(redactions={"hash": 3, "prev_hash": 4, "seq": 5}, stdout_tail=trap))
    second = store.append(sample(redactions={"seq": 9}, agent_note=trap))
    third = store.append(sample())
    assert (second["seq"], second["prev_hash"]) == (2, first["hash"])
    assert (third["seq"], third["prev_hash"]) == (3, second["hash"])
    assert store_records(folder) == [first, second, third]


def test_unknown_keys_are_stored_in_their_place(store: Store, folder: Path) -> None:
    """Canonical order holds for keys that a later version may add, by UTF-16 code units."""
    record = store.append(sample(0, **dict.fromkeys(("\ue000", "\U0001f600", "a b"), "x")))
    assert store_lines(folder) == [encode(record)]


def test_a_record_with_missing_keys_is_completed(store: Store, folder: Path) -> None:
    """All keys are always present in the store."""
    record = Record({"schema": "firsthand.record/1", "command_id": "x"})
    store.append(record)
    (line,) = store_lines(folder)
    assert decode(line) == json.loads(line)
    assert record["seq"] == 1


def test_an_old_error_is_not_stored(store: Store, folder: Path) -> None:
    """A record that could not be stored once can be stored later."""
    record = store.append(sample(log_error="not recorded, before", seq=9, hash="x", prev_hash="y", torn="z"))
    assert store_records(folder) == [record]
    assert record["log_error"] is None
    assert record["seq"] == 1


def test_a_lone_surrogate_does_not_reach_the_file(store: Store, folder: Path) -> None:
    """The file stays valid UTF-8."""
    store.append(sample(agent_note="a\udc80b"))
    assert store_records(folder)[0]["agent_note"] == "a?b"


def test_the_longest_record_fits(store: Store, folder: Path) -> None:
    """A line may be just below 128 KiB, and is found again as the last one."""
    records = [store.append(sample(stdout_tail="x" * (130_500 - len(encode(sample()))))) for _ in range(3)]
    assert [record["seq"] for record in records] == [1, 2, 3]
    assert store_records(folder) == records
