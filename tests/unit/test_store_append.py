"""Appending: what stands in the files, what comes back, and what is refused."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.programs.store_sample import FIRST, UNLINKED, sample
from tests.support.store import store_lines, store_records

from firsthand.record import Record, decode, encode
from firsthand.store import lock, tail
from firsthand.store.append import OUTPUT_MOST, Store
from firsthand.store.files import FILE_MOST, LIVE_NAME, NAMES
from firsthand.store.folder import open_folder
from firsthand.store.kernel import boot_id
from firsthand.store.place import Place

FOREIGN = 65533 if os.geteuid() == 65534 else 65534
"""A user who is neither we, nor root, nor the owner of the project."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store folder that is not there yet."""
    return tmp_path / "store"


@pytest.fixture
def store(folder: Path) -> Store:
    """A store whose folder is not there yet."""
    return Store(Place(str(folder.parent), str(folder)))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def refused(record: Record, *words: str) -> None:
    """Check that a record came back whole, unlinked, and with a sentence that has these words."""
    assert {key: record[key] for key in UNLINKED} == UNLINKED | {"log_error": record["log_error"]}
    assert record["exit_code"] == 0
    assert record["log_error"].startswith("not recorded, ")
    assert "\n" not in record["log_error"]
    for word in words:
        assert word in record["log_error"]


def numbers(folder: Path) -> list[Any]:
    return [record["seq"] for record in store_records(folder)]


def foreign(path: Path) -> bool:
    """Give a file away if we may; say whether it belongs to a foreign user now."""
    try:
        os.chown(path, FOREIGN, FOREIGN)
    except PermissionError:
        return False
    return True


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


def test_rotation_keeps_six_files_of_a_mebibyte(store: Store, folder: Path) -> None:
    """K06: 20 MB of records; the newest are kept, whole, in order, each file just below the cap."""
    for _ in range(20_000_000 // 100_000):
        last = store.append(sample(99_000))
    sizes = {path.name: path.stat().st_size for path in folder.glob(f"{LIVE_NAME}*")}
    assert sorted(sizes) == sorted(NAMES)
    assert max(sizes.values()) <= FILE_MOST
    assert min(size for name, size in sizes.items() if name != LIVE_NAME) > FILE_MOST - 110_000
    found = numbers(folder)
    assert found == list(range(found[0], last["seq"] + 1))
    (folder / LIVE_NAME).unlink()
    record = store.append(sample())
    assert (folder / LIVE_NAME).read_bytes() == encode(record) + b"\n"
    assert (record["seq"], record["prev_hash"]) == (last["seq"] + 1, last["hash"])


@pytest.mark.parametrize("hole", [1, 2, 3, 4])
def test_an_interrupted_rotation_is_finished(store: Store, folder: Path, hole: int) -> None:
    """Where a writer died between two renames, the free name is filled and no record is dropped."""
    while not (folder / NAMES[5]).exists():
        store.append(sample(99_000))
    before = numbers(folder)
    for at in range(5, hole, -1):
        (folder / NAMES[at - 1]).rename(folder / NAMES[at])
    left = numbers(folder)
    assert left == before[-len(left) :]
    while not (folder / NAMES[hole]).exists():
        store.append(sample(99_000))
    assert numbers(folder)[: len(left)] == left


def test_a_torn_tail_is_healed(store: Store, folder: Path) -> None:
    """K03: the half line stays alone on its line, and the next record names its hash."""
    records = [store.append(sample()), store.append(sample())]
    fragment = store_lines(folder)[0][:300]
    with (folder / LIVE_NAME).open("ab") as file:
        file.write(fragment)
    records.append(store.append(sample()))
    assert store_lines(folder) == [encode(records[0]), encode(records[1]), fragment, encode(records[2])]
    assert records[2]["torn"] == hashlib.sha256(fragment).hexdigest()
    assert (records[2]["seq"], records[2]["prev_hash"]) == (3, records[1]["hash"])


def test_a_torn_tail_is_healed_before_a_rotation(store: Store, folder: Path) -> None:
    """The fragment ends the full file, and the record that names it begins the new one."""
    while (folder / LIVE_NAME).stat().st_size < FILE_MOST - 110_000 if folder.exists() else True:
        store.append(sample(99_000))
    fragment = b'{"schema":"firsthand.record/1"' + b" " * 50_000
    with (folder / LIVE_NAME).open("ab") as file:
        file.write(fragment)
    record = store.append(sample(99_000))
    assert (folder / NAMES[1]).read_bytes().endswith(b"}\n" + fragment + b"\n")
    assert (folder / LIVE_NAME).read_bytes() == encode(record) + b"\n"
    assert record["torn"] == hashlib.sha256(fragment).hexdigest()


def test_a_record_that_lacks_only_its_line_end_is_kept(store: Store, folder: Path) -> None:
    """It is whole, so it is no fragment: the next one is linked to it."""
    records = [store.append(sample()), store.append(sample())]
    path = folder / LIVE_NAME
    os.truncate(path, path.stat().st_size - 1)
    records.append(store.append(sample()))
    assert records[2]["torn"] is None
    assert store_lines(folder) == [encode(record) for record in records]


def test_two_fragments_in_a_row_are_covered_together(store: Store, folder: Path) -> None:
    """Two writers died one after the other: both fragments, joined by the line end, are what is named."""
    store.append(sample())
    with (folder / LIVE_NAME).open("ab") as file:
        file.write(b"one\ntwo")
    record = store.append(sample())
    assert record["torn"] == hashlib.sha256(b"one\ntwo").hexdigest()


@pytest.mark.parametrize(
    "line",
    [
        b"no JSON",
        b"",
        b"{}",
        b'{"seq":2,"hash":"x","prev_hash":"y"}',
        b'{"hash":"%b","prev_hash":"%b","seq":99999999999999999999}' % (b"0" * 64, b"0" * 64),
        b'{"hash":"%b","prev_hash":"%b","schema":"firsthand.record/9","seq":2}' % (b"0" * 64, b"0" * 64),
        b"\xff\0" * 100,
    ],
)
def test_a_bad_line_does_not_stop_the_chain(store: Store, folder: Path, line: bytes) -> None:
    """K05: whatever stands on the last line, the next record links to the last usable one."""
    first = store.append(sample())
    with (folder / LIVE_NAME).open("ab") as file:
        file.write(line + b"\n")
    record = store.append(sample())
    assert (record["seq"], record["prev_hash"], record["log_error"]) == (2, first["hash"], None)
    assert store_lines(folder) == [encode(first), line, encode(record)]


@pytest.mark.parametrize("size", [0, 5_000, 20_000, 120_000])
def test_the_usual_append_only_glances_at_the_end(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Where the last line is the one that ``head`` names, no file is read line by line."""
    store.append(sample(size))
    monkeypatch.setattr(tail, "_search", None)
    records = [store.append(sample(size)), store.append(sample())]
    assert [record["seq"] for record in records] == [2, 3]


def test_a_line_of_a_newer_schema_is_linked_to(store: Store, folder: Path) -> None:
    """A newer firsthand wrote the last line and the head; we go on from it."""
    store.append(sample(schema="firsthand.record/2", new_key={"seq": 7, "hash": "x"}))
    record = store.append(sample())
    newer, _ = (json.loads(line) for line in store_lines(folder))
    assert (record["seq"], record["prev_hash"]) == (2, newer["hash"])


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


@pytest.mark.parametrize("size", [131_072, 200_000, 2_000_000])
def test_an_overlong_record_is_refused(store: Store, folder: Path, size: int) -> None:
    """A line of more than 128 KiB is a bug of ours and does not reach the file."""
    refused(store.append(sample(stdout_tail="x" * size)), "bytes long", "bug")
    assert not folder.exists()


def test_the_longest_record_fits(store: Store, folder: Path) -> None:
    """A line may be just below 128 KiB, and is found again as the last one."""
    records = [store.append(sample(stdout_tail="x" * (130_500 - len(encode(sample()))))) for _ in range(3)]
    assert [record["seq"] for record in records] == [1, 2, 3]
    assert store_records(folder) == records


def test_a_record_that_is_no_json_is_refused(store: Store, folder: Path) -> None:
    """A float is a bug of ours; the record comes back all the same."""
    refused(store.append(sample(duration_ms=1.5)), "float", "bug")
    assert not folder.exists()


def link_to_full(path: Path) -> None:
    path.symlink_to("/dev/full")


def device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 7))
    except PermissionError:
        link_to_full(path)


@pytest.mark.parametrize("name", [LIVE_NAME, "head", "lock"])
@pytest.mark.parametrize("put", [link_to_full, device, os.mkfifo, Path.mkdir])
def test_a_file_of_another_kind_is_refused(store: Store, folder: Path, name: str, put: Any) -> None:
    """K09: a device, a link, a pipe or a folder in a file's place is never written to."""
    folder.mkdir()
    put(folder / name)
    kind = stat.S_IFMT((folder / name).lstat().st_mode)
    refused(store.append(sample()), name if put is not Path.mkdir else "directory")
    assert stat.S_IFMT((folder / name).lstat().st_mode) == kind


def test_a_linked_file_of_our_own_is_refused(store: Store, folder: Path, tmp_path: Path) -> None:
    """A link in a store that came with a repository must not make us write elsewhere."""
    target = tmp_path / "precious"
    target.write_text("precious")
    folder.mkdir()
    (folder / LIVE_NAME).symlink_to(target)
    refused(store.append(sample()), "symbolic link", "remove it")
    assert target.read_text() == "precious"


def test_a_linked_folder_is_refused(store: Store, folder: Path, tmp_path: Path) -> None:
    """The same for the folder itself, also where the link leads nowhere."""
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    refused(store.append(sample()), "symbolic link")
    assert not list((tmp_path / "elsewhere").iterdir())
    folder.unlink()
    folder.symlink_to(tmp_path / "nowhere")
    refused(store.append(sample()))
    assert not (tmp_path / "nowhere").exists()


def test_a_foreign_folder_is_refused(store: Store, folder: Path) -> None:
    """It may have been put there to be filled, or to be believed."""
    folder.mkdir()
    given = foreign(folder)
    record = store.append(sample())
    assert (record["log_error"] is not None) == given
    if given:
        refused(record, f"user {FOREIGN}", "FIRSTHAND_DIR")
        assert not list(folder.iterdir())


@pytest.mark.parametrize("name", [LIVE_NAME, "head", "lock"])
def test_a_foreign_file_is_refused(store: Store, folder: Path, name: str) -> None:
    """The same for each file; once it is gone the store works."""
    folder.mkdir()
    (folder / name).touch()
    given = foreign(folder / name)
    record = store.append(sample())
    assert (record["log_error"] is not None) == given
    if given:
        refused(record, name, f"user {FOREIGN}")
        (folder / name).unlink()
        assert store.append(sample())["seq"] == 1


def test_the_owner_of_the_project_may_own_its_store(tmp_path: Path) -> None:
    """A store of the project's owner is no foreign one."""
    folder = tmp_path / "store"
    folder.mkdir()
    foreign(folder)
    foreign(tmp_path)
    assert Store(Place(str(tmp_path), str(folder))).append(sample())["seq"] == 1


@pytest.mark.parametrize("path", ["/proc/firsthand", "/proc/self/firsthand", "/dev/null", "/dev/null/x"])
def test_an_impossible_place_is_an_answer(path: str) -> None:
    """K11: nothing is raised where no folder can be."""
    refused(Store(Place("/", path)).append(sample()), path)


def test_a_path_that_is_no_text_can_be_named(tmp_path: Path) -> None:
    """The sentence is valid UTF-8 and short, however odd and long the path is."""
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n" + b"/" + b"\x01" * 250) + "/\u20ac" * 600
    record = Store(Place(str(tmp_path), odd + "\0")).append(sample())
    assert record["log_error"].startswith("not recorded, ")
    record = Store(Place("/", "/proc/" + odd)).append(sample())
    assert len(encode(record["log_error"])) <= 1024
    assert "...truncated " in record["log_error"]
    assert "\udcff" not in record["log_error"]


def test_a_long_sentence_is_cut_in_its_middle() -> None:
    """Its beginning and its end, the next action, stay; the marker counts what is gone."""
    path = "/proc/" + "x" * 5000
    whole = (
        f"not recorded, the store {path} cannot be written (File name too long): "
        "mend its permissions, or set FIRSTHAND_DIR to another folder"
    )
    sentence = Store(Place("/", path)).append(sample())["log_error"]
    start, count, end = re.split(r"\.\.\.truncated (\d+) characters\.\.\.", sentence)
    assert (whole[: len(start)], whole[len(whole) - len(end) :]) == (start, end)
    assert len(start) + int(count) + len(end) == len(whole)
    assert min(len(start), len(end)) >= 200
    assert len(encode(sentence)) <= 1024


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


def test_kept_output_is_canonical(store: Store, folder: Path) -> None:
    """The returned name and hash are those of the file."""
    content = {"stderr": {"tail": "ü\n"}, "stdout": {"head": "x", "lines": 3}}
    kept = store.keep_output("0190-id", content)
    data = (folder / "output" / "0190-id.json").read_bytes()
    assert data == encode(content)
    assert kept == {"name": "0190-id.json", "sha256": hashlib.sha256(data).hexdigest()}
    assert (mode(folder / "output"), mode(folder / "output" / "0190-id.json")) == (0o700, 0o600)
    assert (folder / ".gitignore").exists()


def test_kept_outputs_are_bounded_oldest_dropped_first(store: Store, folder: Path) -> None:
    """Ids begin with their time, so the order of names is the order of age; the new one always stays."""
    size = 3 << 20
    names = [f"{number}.json" for number in (5, 1, 4, 2, 3, 6)]
    for name in names:
        assert store.keep_output(name.removesuffix(".json"), {"text": "x" * size})
    assert sorted(os.listdir(folder / "output")) == ["2.json", "3.json", "4.json", "5.json", "6.json"]
    assert store.keep_output("0", {"text": "x" * size})
    assert sorted(os.listdir(folder / "output")) == ["0.json", "3.json", "4.json", "5.json", "6.json"]
    assert sum(path.stat().st_size for path in (folder / "output").iterdir()) <= OUTPUT_MOST


def test_an_output_that_cannot_be_kept_is_none(store: Store, folder: Path, tmp_path: Path) -> None:
    """Too large by itself, not JSON, a place that cannot be, a link: the record then says null."""
    assert store.keep_output("x", {"text": "x" * (17 << 20)}) is None
    assert store.keep_output("x", {"number": 0.5}) is None
    assert Store(Place("/", "/proc/firsthand")).keep_output("x", {}) is None
    assert not folder.exists()
    folder.mkdir()
    (folder / "output").symlink_to(tmp_path)
    assert store.keep_output("x", {}) is None
    assert not (tmp_path / "x.json").exists()


def test_a_half_written_output_is_swept(store: Store, folder: Path) -> None:
    """What a writer that died left behind does not stay, and no half file is ever seen."""
    store.keep_output("a", {})
    (folder / "output" / ".z.json").write_text("half")
    store.keep_output("b", {"x": 1})
    assert sorted(os.listdir(folder / "output")) == ["a.json", "b.json"]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        assert store.keep_output("c", {"text": "x" * 200}) is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert sorted(os.listdir(folder / "output")) == ["a.json", "b.json"]


def test_the_run_path_imports_almost_nothing(folder: Path) -> None:
    """What an append, a running file and its adoption load is on the budget of every run."""
    program = (
        "import os, sys; before = set(sys.modules)\n"
        "import firsthand.store.append, firsthand.store.running, firsthand.store.place\n"
        "import firsthand.store.chain, firsthand.store.lock\n"
        "from tests.programs.store_sample import sample\n"
        "place = firsthand.store.place.find_place('/', None, {'FIRSTHAND_DIR': sys.argv[1], 'HOME': '/x'})\n"
        "store = firsthand.store.append.Store(place)\n"
        "running = firsthand.store.running.begin(place, sample())\n"
        "firsthand.store.running.adopt(store)\n"
        "assert store.append(sample())['seq'] == 1\n"
        "running.finish()\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    root = Path(__file__).parent.parent.parent
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, str(folder)],
        env={"PYTHONPATH": f"{root / 'src'}:{root}"},
        capture_output=True,
        text=True,
        check=True,
    )
    allowed = {"__future__", "encodings", "firsthand", "tests", "fcntl", "errno", "_json", "_sha256", "_sha2"}
    assert {name.partition(".")[0] for name in done.stdout.split()} - allowed == set()
    assert not {"readers", "verification"} & {name.rpartition(".")[2] for name in done.stdout.split()}
