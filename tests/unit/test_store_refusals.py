"""What is never written to, and what the record says instead."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.programs.store_sample import refused, sample

from firsthand.record import encode
from firsthand.store.append import Store
from firsthand.store.files import LIVE_NAME
from firsthand.store.place import Place

FOREIGN = 65533 if os.geteuid() == 65534 else 65534
"""A user who is neither we, nor root, nor the owner of the project."""


def foreign(path: Path) -> bool:
    """Give a file away if we may; say whether it belongs to a foreign user now."""
    try:
        os.chown(path, FOREIGN, FOREIGN)
    except PermissionError:
        return False
    return True


@pytest.mark.parametrize("size", [131_072, 200_000, 2_000_000])
def test_an_overlong_record_is_refused(store: Store, folder: Path, size: int) -> None:
    """A line of more than 128 KiB is a bug of ours and does not reach the file."""
    refused(store.append(sample(stdout_tail="x" * size)), "bytes long", "bug")
    assert not folder.exists()


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
