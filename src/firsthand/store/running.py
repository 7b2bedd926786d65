"""``running/``: what is going on, so that a run whose processes all died still leaves its record.

Whoever runs a command holds a flock on ``running/<command_id>`` for as long; who gets that lock has found
an orphan, see ``adoption``.
"""

from __future__ import annotations

import fcntl
import os
import time

from firsthand.errors import StoreError
from firsthand.record import KEYS, Record, encode_record
from firsthand.store.folder import open_folder, write_whole
from firsthand.store.lock import try_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.store.folder import Folder
    from firsthand.store.place import Place

RUNNING_NAME = "running"

TRIES, PAUSE = 100, 0.002
"""How often, and at which distance in seconds, a name is tried that an adopter is just looking at."""

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


class Running:
    """A command that is being run; its descriptor, inherited over a fork, holds the lock.

    ``fd`` is the locked file, or -1 once closed; ``path`` its full path; ``alone`` says that no other file
    was there when it began, so there is nothing to adopt.
    """

    __slots__ = ("alone", "fd", "path")

    def __init__(self, fd: int, path: str, *, alone: bool) -> None:
        self.fd = fd
        self.path = path
        self.alone = alone

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
        fd, self.fd = self.fd, -1  # given up first: an interrupt must not close it twice
        if fd >= 0:
            os.close(fd)


def begin(place: Place, record: Record) -> Running | None:
    """Write and lock ``running/<command_id>`` before a command starts.

    The file holds the null record as it shall be if we die. Returns ``None`` when the store cannot be
    written: the command runs all the same, without this net.
    """
    try:
        with open_folder(place, create=True) as folder, folder.enter(RUNNING_NAME, create=True) as running:
            return _begin(running, record["command_id"], encode_record(died(record)) + b"\n")
    except OSError:
        return None


def died(record: Record) -> Record:
    """Return the null record ``runner_died`` that belongs to the record of a command just begun."""
    return Record(dict.fromkeys(KEYS) | record | DIED)


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
    return Running(fd, f"{running.path}/{command_id}", alone=os.listdir(running.fd) == [command_id])


def _open_locked(running: Folder, hidden: str) -> int:
    for _ in range(TRIES):
        fd = running.create(hidden, os.O_RDWR | os.O_APPEND)
        if is_free(fd):
            return fd
        os.close(fd)  # an adopter took it for one that was left behind, and unlinks it
        time.sleep(PAUSE)
    raise StoreError(f"{running.path}/{hidden} is busy", "end the process that holds it")


def is_free(fd: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Take the lock of a running file that is still there, and say whether that worked."""
    return try_lock(fd, kind) and os.fstat(fd).st_nlink > 0
