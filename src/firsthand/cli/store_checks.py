"""What ``firsthand doctor`` looks at in a store, without writing anything into it."""

from __future__ import annotations

import os
import time

from firsthand.cli.checks import BROKEN, OK, WARNING, Finding
from firsthand.errors import StoreError
from firsthand.record import timestamp
from firsthand.store import creation, folder, lock
from firsthand.store.readers import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from firsthand.store.folder import Folder
    from firsthand.store.place import Place

LEAST_FREE = 64 << 20
"""Bytes: three times what a full store takes (6 MiB of records, 16 MiB of output)."""

YEARS = (2024, 2100)
"""No record is older than this program; a clock beyond either was never set."""


def of_store(where: Place, why: str) -> Iterator[Finding]:
    """Look at the place of a store and, where there is one, at its files."""
    yield Finding("store", OK, where.notice or f"{where.folder} ({why})")
    if not os.path.isdir(where.root):
        yield Finding("project", BROKEN, f"there is no folder {where.root}", "name another with --project")
        return
    try:
        reader = Reader(where)
        newest = reader.last(1)
    except StoreError as problem:
        yield Finding("records", BROKEN, problem.message, problem.hint)
        return
    yield _records(reader, there=bool(newest))
    yield from _files(where)
    yield _space(_existing(where.folder))
    yield _clock(newest[0]["started_at"] if newest else "")


def _records(reader: Reader, *, there: bool) -> Finding:
    if reader.skipped:
        return Finding(
            "records", WARNING, f"bad lines that are no records: {reader.skipped}", "firsthand verify"
        )
    return Finding("records", OK, "they can be read" if there else "none yet")


def _files(where: Place) -> Iterator[Finding]:
    try:
        opened = folder.open_folder(where)
    except FileNotFoundError:
        yield _writable([_existing(where.folder)])
        return
    with opened:
        ours = [opened.path + "/" + name for name in _names(opened)]
        yield _writable([opened.path, *ours])
        yield _private(ours + ([opened.path] if creation.is_only_ours(opened) else []))
        yield _lock(opened)


def _names(opened: Folder) -> list[str]:
    return sorted(name for name in os.listdir(opened.fd) if name.startswith(creation.OUR_NAMES))


def _writable(paths: list[str]) -> Finding:
    closed = [path for path in paths if not os.access(path, os.W_OK) and os.path.exists(path)]
    if closed:
        action = "mend its permissions, or set FIRSTHAND_DIR to another folder"
        return Finding("writable", BROKEN, f"{closed[0]} cannot be written", action)
    return Finding("writable", OK, "the store can be written")


def _private(paths: list[str]) -> Finding:
    shown = [path for path in paths if _mode(path) & 0o077]
    if shown:
        return Finding("private", BROKEN, f"{shown[0]} is open to others", f"chmod go= {shown[0]}")
    return Finding("private", OK, "nobody else can read it")


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return 0  # rotated meanwhile


def _lock(opened: Folder) -> Finding:
    if lock.LOCK_NAME not in os.listdir(opened.fd):
        return Finding("lock", OK, "not made yet")
    try:
        with lock.Locked(opened):
            return Finding("lock", OK, "it can be taken")
    except StoreError as problem:
        return Finding("lock", BROKEN, problem.message, problem.hint)
    except OSError as problem:
        return Finding("lock", BROKEN, f"it cannot be opened ({problem.strerror})", "mend its permissions")


def _space(path: str) -> Finding:
    disk = os.statvfs(path)
    free = disk.f_bavail * disk.f_frsize
    message = f"{free >> 20} MiB free at {path}"
    if free < LEAST_FREE:
        return Finding(
            "space", WARNING, message, f"free some: below {LEAST_FREE >> 20} MiB a store may fill it"
        )
    return Finding("space", OK, message)


def _clock(newest: str) -> Finding:
    now, year = timestamp(), time.gmtime().tm_year
    if not YEARS[0] <= year <= YEARS[1]:
        return Finding("clock", BROKEN, f"it says {now}", "set the clock")
    if now < newest:
        behind = f"it says {now}, but the newest record began at {newest}"
        return Finding(
            "clock", BROKEN, behind, "set the clock: ids and times of new records would not be in order"
        )
    return Finding("clock", OK, now)


def _existing(path: str) -> str:
    """Return the path, or the nearest folder above it that exists."""
    while not os.path.exists(path) and path != "/":
        path = os.path.dirname(path)
    return path
