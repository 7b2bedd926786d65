"""Orphans in ``running/``: who gets the lock of such a file may adopt the run that it stands for.

First the null record is stored, then the file is unlinked.
"""

from __future__ import annotations

import fcntl
import os

from firsthand import survey
from firsthand.caps import shorten
from firsthand.errors import RecordFormatError
from firsthand.record import SCHEMA, Record, decode, timestamp
from firsthand.redact import Redactor
from firsthand.store.append import Store
from firsthand.store.folder import open_folder, read_range
from firsthand.store.readers import Reader
from firsthand.store.running import RUNNING_NAME, died, is_free
from firsthand.store.search import is_stored
from firsthand.store.trouble import unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.store.folder import Folder
    from firsthand.store.place import Place
    from firsthand.store.running import Running
    from firsthand.survey import Process

READ_MOST = 256 * 1024
"""Bytes read of a running file: one record's line and one short line."""

_ID_CHARACTERS = frozenset("0123456789abcdef-")


def adopt(store: Store, *, own: Running | None = None, **changes: Any) -> int:
    """Store the null records of runs whose processes all died, and return how many that were.

    ``own`` is a running file that we hold ourselves (a keeper died and its front takes over); it is adopted
    first, and ``changes`` (keys of a record) are made in its record only. Without ``own`` they are made in
    every adopted one. An id that is stored already is only unlinked. A run that cannot be stored now is
    left for the next adopter. Never raises for store trouble.
    """
    adopted = 0
    try:
        with open_folder(store.place) as folder, folder.enter(RUNNING_NAME) as running:
            if own is not None:
                adopted += _adopt(store, running, os.path.basename(own.path), changes)
                changes = {}
            for name in _names(running):
                adopted += _adopt_if_free(store, running, name, changes)
    except OSError:
        pass
    return adopted


def reader(place: Place) -> Reader:
    """Return a reader of a store whose orphans are adopted; what cannot be stored now is shown all the same.

    Raises:
        StoreError: the store or a file of it is a link or foreign, or may not be read.
    """
    made = Reader(place)
    adopt(Store(place))
    made.orphans = orphans(place)
    return made


def orphans(place: Place) -> list[Record]:
    """Return the null records that :func:`adopt` would store, oldest first; nothing is written.

    Raises:
        StoreError: the store is a link or foreign, or may not be read.
    """
    try:
        with open_folder(place) as folder, folder.enter(RUNNING_NAME) as running:
            names = [name for name in _names(running) if not name.startswith(".")]
            dead = {name: record for name in names if (record := _orphan(running, name))}
            return [record for name, record in dead.items() if not is_stored(folder, name)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable(error, place.folder) from None


def child_of(place: Place, command_id: str) -> tuple[int, str] | None:
    """Return pid and start stamp of the direct child of a run that is not concluded, or None."""
    try:
        with open_folder(place) as folder, folder.enter(RUNNING_NAME) as running:
            text = running.read(command_id, READ_MOST)
    except OSError:
        return None
    return _child(text.partition(b"\n")[2]) if text else None


def is_going_on(place: Place, command_id: str) -> bool:
    """Tell whether somebody still holds the running file of this id."""
    try:
        with open_folder(place) as folder, folder.enter(RUNNING_NAME) as running:
            fd = running.open(command_id)
    except OSError:
        return False
    try:
        return not is_free(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def _names(running: Folder) -> list[str]:
    """Return the names of running files, and of the hidden ones before they get their name."""
    return [name for name in sorted(os.listdir(running.fd)) if _is_id(name.removeprefix("."))]


def _is_id(name: str) -> bool:
    return len(name) == 36 and name.count("-") == 4 and _ID_CHARACTERS.issuperset(name)


def _adopt_if_free(store: Store, running: Folder, name: str, changes: dict[str, Any]) -> int:
    try:
        fd = running.open(name, os.O_RDWR)
    except OSError:
        return 0  # finished meanwhile, or foreign
    try:
        if not is_free(fd):
            return 0
        if name.startswith("."):
            running.remove(name)  # its owner died before the command was started
            return 0
        return _adopt(store, running, name, changes)
    finally:
        os.close(fd)


def _adopt(store: Store, running: Folder, name: str, changes: dict[str, Any]) -> int:
    text = running.read(name, READ_MOST)
    if text is None:
        return 0
    record = _null_record(name, text)
    record.update(changes)
    store.append_once(record)
    if record["log_error"] is not None:
        return 0
    running.remove(name)
    return 0 if record["seq"] is None else 1


def _orphan(running: Folder, name: str) -> Record | None:
    try:
        fd = running.open(name)
    except FileNotFoundError:
        return None
    try:
        return _null_record(name, read_range(fd, 0, READ_MOST)) if is_free(fd, fcntl.LOCK_SH) else None
    finally:
        os.close(fd)


def _null_record(name: str, text: bytes) -> Record:
    line, _, rest = text.partition(b"\n")
    try:
        record = decode(line)
    except RecordFormatError:  # the machine lost power before the file reached the disk
        record = _bare(name)
    child = _child(rest)
    left = survey.left_of(*child) if child else []
    if left:
        _name(record, left)
    return record


def _name(record: Record, left: list[Process]) -> None:
    """Name in a null record what its dead runners have left alive."""
    redactor = Redactor(after=sum(record["redactions"].values()))
    entries = [_stray(process, redactor) for process in left]
    record["strays"] = shorten.strays([*record["strays"], *entries])
    for rule, count in redactor.counts.items():
        record["redactions"][rule] = record["redactions"].get(rule, 0) + count


def _child(line: bytes) -> tuple[int, str] | None:
    pid, start, *_ = [*line.decode("ascii", "replace").split(), "", ""]
    return (int(pid), start) if pid.isdigit() and len(pid) < 10 else None


def _stray(process: Process, redactor: Redactor) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "start": process.stamp,
        "command": redactor.command(survey.command_line(process.pid)),
        "action": "left",
        "reason": "its runner died",
    }


def _bare(command_id: str) -> Record:
    """Return a null record of a command of which only the id is known; the id tells its time."""
    milliseconds = int(command_id.replace("-", "")[:12], 16)
    known = {"schema": SCHEMA, "command_id": command_id, "started_at": timestamp(milliseconds * 1_000_000)}
    texts = dict.fromkeys(("cwd", "stdout_tail", "stderr_tail"), "")
    lists: dict[str, Any] = {key: [] for key in ("input_command_ids", "command", "env_names", "strays")}
    return died(Record(known | texts | lists | {"source": "runner", "redactions": {}}))
