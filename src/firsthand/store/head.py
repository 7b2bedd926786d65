"""The ``head`` file, which says where the chain ended."""

from __future__ import annotations

import os

from firsthand.errors import StoreError
from firsthand.procfs import UNKNOWN_BOOT, boot_id
from firsthand.record import GENESIS_HASH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from firsthand.store.folder import Folder

HEAD_NAME = "head"

_SHAPE = b"%020d %b %-36b\n"
_LENGTH = 20 + 1 + 64 + 1 + 36 + 1


class Head:
    """What ``head`` says: ``seq`` and ``hash`` of the last record, and the boot that wrote it."""

    __slots__ = ("boot", "hash", "seq")

    def __init__(self, seq: int, own_hash: str, boot: str) -> None:
        self.seq = seq
        self.hash = own_hash
        self.boot = boot


class HeadFile:
    """The open ``head`` of a locked store; ``last`` is what it says, with ``seq`` 0 where it says nothing."""

    __slots__ = ("_fd", "_folder", "last")

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._fd = folder.open(HEAD_NAME, os.O_RDWR, create=True)
        try:
            self.last = parse_head(os.pread(self._fd, _LENGTH + 1, 0)) or Head(0, GENESIS_HASH, UNKNOWN_BOOT)
        except OSError:
            os.close(self._fd)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def write(self, seq: int, own_hash: str) -> None:
        """Say that the chain now ends with this record; one call, always of the same length."""
        text = _SHAPE % (seq, own_hash.encode(), boot_id().encode())
        if os.pwrite(self._fd, text, 0) != len(text):
            raise StoreError("its head file could not be written", "free some space, then run it again")

    def settle(self, seq: int, own_hash: str) -> tuple[int, str]:
        """Compare with the last record of the files; return seq and hash of what the next links to.

        Files ahead: a writer died between its two writes, so ``head`` follows them first and never is
        behind by more than one. Files behind: records are gone, which ``gaps`` remembers. Where the last
        record differs from ``head`` the next one links to ``head``, so that the break stays in the chain.
        """
        last = self.last
        if seq > last.seq:
            self.write(seq, own_hash)
            return seq, own_hash
        if seq < last.seq:
            from firsthand.store import gaps

            gaps.note(self._folder, f"{last.seq} {seq} {last.boot} {boot_id()}\n".encode())
        return last.seq, last.hash


def read_head(folder: Folder) -> Head | None:
    """Return what ``head`` says, or ``None`` where it is missing or damaged."""
    return parse_head(folder.read(HEAD_NAME, _LENGTH + 1) or b"")


def parse_head(data: bytes) -> Head | None:
    """Return what these bytes of a ``head`` file say, or ``None`` where they have not its fixed shape."""
    fields = data.split()
    if len(data) != _LENGTH or len(fields) != 3 or not fields[0].isdigit() or len(fields[1]) != 64:
        return None
    try:
        return Head(int(fields[0]), fields[1].decode("ascii"), fields[2].decode("ascii"))
    except ValueError:
        return None
