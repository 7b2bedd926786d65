"""``running/``: what is going on, so that a run whose processes all died still leaves its record.

Whoever runs a command holds a flock on ``running/<command_id>`` for as long; who gets that lock has found
an orphan and may adopt it: first the null record is stored, then the file is unlinked.
"""

from __future__ import annotations

import fcntl
import os
import time

from firsthand.errors import RecordFormatError, StoreError
from firsthand.record import KEYS, SCHEMA, Record, decode, encode, timestamp
from firsthand.store.folder import open_folder, read_range, unreadable, write_whole
from firsthand.store.kernel import process_start
from firsthand.store.lock import try_lock
from firsthand.store.tail import is_stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.store.append import Store
    from firsthand.store.folder import Folder
    from firsthand.store.place import Place

RUNNING_NAME = "running"

TRIES, PAUSE = 100, 0.002
"""How often, and at which distance in seconds, a name is tried that an adopter is just looking at."""

READ_MOST = 256 * 1024
"""Bytes read of a running file: one record's line and one short line."""

STRAY_MOST = 200
"""Characters of a stray's command."""

DIED = {
    "exit_code": None,
    "error": "runner_died",
    "error_detail": "firsthand itself was killed before this command ended, so how it ended is unknown: "
    "look at what it left behind, then run it again.",
    "duration_ms": None,
    "truncations": {"stdout": None, "stderr": None},
    "bytes": {"stdout": None, "stderr": None},
    "kept_output": None,
    "expectation_met": None,
    "pipestatus": None,
    "log_error": None,
    "seq": None,
    "torn": None,
    "prev_hash": None,
    "hash": None,
}
"""What makes a record the one of a run whose end nobody saw."""

_ID_CHARACTERS = frozenset("0123456789abcdef-")


class Running:
    """A command that is being run; its descriptor, inherited over a fork, holds the lock.

    ``fd`` is the locked file, or -1 once closed; ``path`` its full path.
    """

    __slots__ = ("fd", "path")

    def __init__(self, fd: int, path: str) -> None:
        self.fd = fd
        self.path = path

    def child(self, pid: int, start: str | None) -> None:
        """Note the direct child (``start`` is ``BOOT_ID:STARTTIME``), so that an orphan can be found."""
        try:
            os.write(self.fd, f"{pid} {start or '-'}\n".encode())
        except OSError:
            pass  # a full disk: the record then does not name the child

    def finish(self) -> None:
        """Unlink and close: the record is stored, or was returned with ``log_error``."""
        try:
            os.unlink(self.path)
        except OSError:
            pass  # adopted already; or left for an adopter, who finds the id stored
        self.close_fd()

    def close_fd(self) -> None:
        """Close the descriptor only; the lock stays while another process holds a copy of it."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def begin(place: Place, record: Record) -> Running | None:
    """Write and lock ``running/<command_id>`` before a command starts.

    The file holds the null record as it shall be if we die. Returns ``None`` when the store cannot be
    written: the command runs all the same, without this net.
    """
    try:
        with open_folder(place, create=True) as folder, folder.enter(RUNNING_NAME, create=True) as running:
            return _begin(running, record["command_id"], encode(died(record)) + b"\n")
    except OSError:
        return None


def died(record: Record) -> Record:
    """Return the null record ``runner_died`` that belongs to the record of a command just begun."""
    return Record(dict.fromkeys(KEYS) | record | DIED)


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


def orphans(place: Place) -> list[Record]:
    """Return the null records that :func:`adopt` would store, oldest first; nothing is written.

    Raises:
        StoreError: the store is a link or foreign, or may not be read.
    """
    try:
        with open_folder(place) as folder, folder.enter(RUNNING_NAME) as running:
            names = (name for name in _names(running) if not name.startswith("."))
            found = [_orphan(running, name) for name in names if not is_stored(folder, name)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable(error, place.folder) from None
    return [record for record in found if record is not None]


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
        return not _is_free(fd, fcntl.LOCK_SH)
    finally:
        os.close(fd)


def _begin(running: Folder, command_id: str, text: bytes) -> Running:
    # Locked before it gets its name, so that nobody ever sees it free while we live.
    hidden = f".{command_id}"
    fd = _open_locked(running, hidden)
    try:
        write_whole(fd, text, 0)
        os.rename(hidden, command_id, src_dir_fd=running.fd, dst_dir_fd=running.fd)
    except OSError:
        running.remove(hidden)
        os.close(fd)
        raise
    return Running(fd, f"{running.path}/{command_id}")


def _open_locked(running: Folder, hidden: str) -> int:
    for _ in range(TRIES):
        fd = running.open(hidden, os.O_RDWR | os.O_APPEND, create=True)
        if _is_free(fd):
            return fd
        os.close(fd)  # an adopter took it for one that was left behind, and unlinks it
        time.sleep(PAUSE)
    raise StoreError(f"{running.path}/{hidden} is busy", "end the process that holds it")


def _is_free(fd: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Take the lock of a running file that is still there, and say whether that worked."""
    return try_lock(fd, kind) and os.fstat(fd).st_nlink > 0


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
        if not _is_free(fd):
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
        return _null_record(name, read_range(fd, 0, READ_MOST)) if _is_free(fd, fcntl.LOCK_SH) else None
    finally:
        os.close(fd)


def _null_record(name: str, text: bytes) -> Record:
    line, _, rest = text.partition(b"\n")
    try:
        record = decode(line)
    except RecordFormatError:  # the machine lost power before the file reached the disk
        record = _bare(name)
    child = _child(rest)
    if child and process_start(child[0]) == child[1]:
        record["strays"] = [*record["strays"], _stray(record, *child)]
    return record


def _child(line: bytes) -> tuple[int, str] | None:
    pid, start, *_ = [*line.decode("ascii", "replace").split(), "", ""]
    return (int(pid), start) if pid.isdigit() and len(pid) < 10 else None


def _stray(record: Record, pid: int, start: str) -> dict[str, Any]:
    command = " ".join(record["command"])[:STRAY_MOST]
    return {"pid": pid, "start": start, "command": command, "action": "left", "reason": "its runner died"}


def _bare(command_id: str) -> Record:
    """Return a null record of a command of which only the id is known; the id tells its time."""
    milliseconds = int(command_id.replace("-", "")[:12], 16)
    known = {"schema": SCHEMA, "command_id": command_id, "started_at": timestamp(milliseconds * 1_000_000)}
    texts = dict.fromkeys(("cwd", "stdout_tail", "stderr_tail"), "")
    lists: dict[str, Any] = {key: [] for key in ("input_command_ids", "command", "env_names", "strays")}
    return died(Record(known | texts | lists | {"source": "runner", "redactions": {}}))
