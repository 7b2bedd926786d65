"""Appending: one lock, one write a record, rotation by size, and no exception for trouble with the store."""

from __future__ import annotations

import errno
import os

from firsthand.errors import FirsthandError
from firsthand.record import encode
from firsthand.store.chain import digest, link, split
from firsthand.store.files import FILE_MOST, LIVE_NAME, NAMES
from firsthand.store.folder import open_folder, write_whole
from firsthand.store.head import HeadFile
from firsthand.store.lock import Locked
from firsthand.store.tail import is_stored, read_tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

    from firsthand.record import Record
    from firsthand.store.folder import Folder
    from firsthand.store.place import Place

OUTPUT_NAME = "output"

OUTPUT_MOST = 16 << 20
"""Bytes of all kept outputs together; the oldest are dropped first."""

LOG_ERROR_MOST = 1024
"""Bytes of ``log_error`` as written in JSON; paths in it may be long."""


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
        try:
            data = encode(content)
            if len(data) > OUTPUT_MOST:
                return None
            name = f"{command_id}.json"
            with (
                open_folder(self.place, create=True) as folder,
                Locked(folder),
                folder.enter(OUTPUT_NAME, create=True) as output,
            ):
                _make_room(output, name, len(data))
                output.replace(name, data)
        except (OSError, TypeError, ValueError):
            return None
        return {"name": name, "sha256": digest(data)}

    def _append(self, record: Record, *, once: bool) -> Record:
        try:
            parts = split(record)
            with open_folder(self.place, create=True) as folder, Locked(folder):
                if once and is_stored(folder, record["command_id"]):
                    return record
                with _LiveFile(folder, fsync=self.fsync) as live, HeadFile(folder) as head:
                    record.update(_add(live, head, parts))
        except (OSError, TypeError, ValueError) as error:
            reason = _short(f"not recorded, {_sentence(error, self.place.folder)}")
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
                self.folder.ignore_in_git()
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


def _make_room(output: Folder, name: str, size: int) -> None:
    """Drop the oldest outputs (their names begin with a time) until ``size`` bytes more may be kept."""
    total = size
    sizes = {}
    for other in sorted(os.listdir(output.fd)):
        if other.startswith("."):
            output.remove(other)  # left by a writer that died
        elif other != name:
            sizes[other] = os.stat(other, dir_fd=output.fd, follow_symlinks=False).st_size
            total += sizes[other]
    for other, freed in sizes.items():
        if total <= OUTPUT_MOST:
            return
        output.remove(other)
        total -= freed


def _sentence(error: Exception, folder: str) -> str:
    if isinstance(error, FirsthandError):
        return f"{error.message}: {error.hint}"
    if not isinstance(error, OSError):
        return f"it cannot be encoded ({error}): report this as a bug of firsthand"
    action = "mend its permissions, or set FIRSTHAND_DIR to another folder"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        action = "free some space, then run it again"
    elif error.errno == errno.EFBIG:
        action = "raise the file size limit (ulimit -f), then run it again"
    return f"the store {folder} cannot be written ({error.strerror}): {action}"


def _short(text: str) -> str:
    """Return the text without lone surrogates, cut in its middle to ``LOG_ERROR_MOST`` bytes of JSON."""
    text = text.encode("utf-8", "replace").decode()
    kept, shown = len(text), text
    while len(encode(shown)) > LOG_ERROR_MOST:
        kept = min(kept // 2, LOG_ERROR_MOST)
        lost = len(text) - 2 * (kept // 2)
        shown = f"{text[: kept // 2]}...truncated {lost} characters...{text[len(text) - kept // 2 :]}"
    return shown
