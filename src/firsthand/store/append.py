"""Appending: one lock, one write a record, rotation by size, and no exception for trouble with the store."""

from __future__ import annotations

import os

from firsthand.store.chain import link, split
from firsthand.store.files import FILE_MOST, LIVE_NAME, NAMES
from firsthand.store.folder import open_folder, write_whole
from firsthand.store.head import HeadFile
from firsthand.store.lock import Locked
from firsthand.store.tail import read_tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from firsthand.record import Record
    from firsthand.store.folder import Folder
    from firsthand.store.place import Place


class Store:
    """Writes the records of one place. Holds no descriptor between calls, so threads and forks may share it.

    ``fsync`` makes every append wait for the disk (some 2 ms), for those who fear power loss.
    """

    __slots__ = ("fsync", "place")

    def __init__(self, place: Place, *, fsync: bool = False) -> None:
        self.place = place
        self.fsync = fsync

    def append(self, record: Record) -> Record:
        """Store a record and return the same object with ``seq``, ``prev_hash``, ``hash`` and ``torn`` set.

        Where it cannot be stored nothing is raised: ``log_error`` says why and what to do, and ``seq``,
        ``prev_hash`` and ``hash`` are ``None``.
        """
        return self._append(record, once=False)

    def append_once(self, record: Record) -> Record:
        """Do as :meth:`append`, but leave a record as it is whose ``command_id`` is stored already."""
        return self._append(record, once=True)

    def keep_output(self, command_id: str, content: dict[str, Any]) -> dict[str, str] | None:
        """Keep the wider windows of a cut stream as ``output/<command_id>.json``, for ``kept_output``.

        Returns ``{"name", "sha256"}``, or ``None`` when it cannot be written or is over 16 MiB by itself.
        """
        from firsthand.store import outputs

        return outputs.keep(self.place, command_id, content)

    def _append(self, record: Record, *, once: bool) -> Record:
        try:
            parts = split(record)
            with open_folder(self.place, create=True) as folder, Locked(folder):
                if once and _is_stored(folder, record["command_id"]):
                    return record
                with _LiveFile(folder, fsync=self.fsync) as live, HeadFile(folder) as head:
                    record.update(_add(live, head, parts))
        except (OSError, TypeError, ValueError) as error:
            from firsthand.store import trouble

            reason = trouble.not_recorded(error, self.place.folder)
            record.update(seq=None, prev_hash=None, hash=None, torn=None, log_error=reason)
        return record


class _LiveFile:
    """The live file of a locked store."""

    __slots__ = ("fd", "folder", "fsync", "size")

    def __init__(self, folder: Folder, *, fsync: bool) -> None:
        self.folder = folder
        self.fsync = fsync
        self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)

    def _open(self) -> None:
        self.fd = self.folder.open(LIVE_NAME, os.O_RDWR | os.O_APPEND, create=True)
        try:
            self.size = os.fstat(self.fd).st_size
            if not self.size:
                from firsthand.store import creation

                creation.ignore_in_git(self.folder)
        except OSError:
            os.close(self.fd)
            raise

    def write(self, data: bytes) -> None:
        """Add whole lines at the end, or leave the file as it was."""
        write_whole(self.fd, data, self.size, fsync=self.fsync)
        if self.fsync and not self.size:
            os.fsync(self.folder.fd)  # the name of a new file
        self.size += len(data)

    def rotate(self) -> None:
        """Move the live file to ``.1`` and so on, down to the first free name or over the oldest file.

        Where a writer died in the middle of this, the name that it freed is filled, and nothing is dropped.
        """
        fd = self.folder.fd
        present = set(os.listdir(fd))
        free = next((at for at, name in enumerate(NAMES) if name not in present), len(NAMES) - 1)
        for at in range(free, 0, -1):
            os.rename(NAMES[at - 1], NAMES[at], src_dir_fd=fd, dst_dir_fd=fd)
        full = self.fd
        self._open()
        os.close(full)


def _add(live: _LiveFile, head: HeadFile, parts: list[bytes]) -> dict[str, Any]:
    """Write one record at the end of the chain and return its links."""
    tail = read_tail(live.folder, live.fd, live.size, head.last)
    seq, prev_hash = head.settle(tail.seq, tail.hash)
    line, own_hash = link(parts, seq + 1, prev_hash, tail.torn)
    line += b"\n"
    if tail.unended:
        line = b"\n" + line
    if live.size and live.size + len(line) > FILE_MOST:
        if tail.unended:
            live.write(b"\n")
            line = line[1:]
        live.rotate()
    live.write(line)
    try:
        head.write(seq + 1, own_hash)
    except OSError:
        pass  # the record is stored; the next append finds the files ahead of head and says so if it must
    return {"seq": seq + 1, "prev_hash": prev_hash, "hash": own_hash, "torn": tail.torn, "log_error": None}


def _is_stored(folder: Folder, command_id: str) -> bool:
    from firsthand.store import search

    return search.is_stored(folder, command_id)
