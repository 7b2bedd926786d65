"""The record files as they were at one moment, a view that no writer disturbs."""

from __future__ import annotations

import os

from firsthand.store.files import NAMES
from firsthand.store.folder import open_folder, read_range
from firsthand.store.gaps import read_gaps
from firsthand.store.head import read_head
from firsthand.store.lock import Locked
from firsthand.store.trouble import unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from firsthand.store.folder import Folder
    from firsthand.store.head import Head
    from firsthand.store.place import Place

READ_MOST = 4 << 20
"""Bytes that are read of the end of one file: a larger one was not written by us."""

READ_PATIENCE = 1.0
"""Seconds that a reader waits for the lock; after that its holder is stuck and changes nothing meanwhile."""


class OpenFile:
    """One record file as it was at one moment: later appends are not seen."""

    __slots__ = ("fd", "inode", "name", "size")

    def __init__(self, folder: Folder, name: str) -> None:
        self.name = name
        self.fd = folder.open(name)
        status = os.fstat(self.fd)
        self.size = status.st_size
        self.inode = status.st_ino

    def lines(self, mark: bytes = b"") -> list[bytes]:
        """Return the last ``READ_MOST`` bytes as lines without line ends, none if ``mark`` is not in them.

        A torn tail is the last element.
        """
        start = max(0, self.size - READ_MOST)
        data = read_range(self.fd, start, self.size - start)
        lines = data.split(b"\n") if mark in data else [b""]
        return lines if lines[-1] else lines[:-1]

    def ends_with(self, byte: bytes) -> bool:
        """Say whether this is the last byte; an empty file ends with every byte."""
        return not self.size or read_range(self.fd, self.size - 1, 1) == byte


class Snapshot:
    """A store at one moment, its files open until the ``with`` block ends; a missing store has none.

    ``files`` are newest first; ``head`` and ``gaps`` are what these files say; ``is_ended`` is false where
    the live file has a torn tail. The lock is held for the opening only, and only where that is possible:
    a read-only store has no writers.

    Raises:
        StoreError: the store or a file of it is a link or foreign, or may not be read.
    """

    __slots__ = ("files", "gaps", "head", "is_ended")

    def __init__(self, place: Place) -> None:
        self.files: list[OpenFile] = []
        self.head: Head | None = None
        self.gaps: dict[tuple[int, int], bool] = {}
        self.is_ended = True
        try:
            with open_folder(place) as folder, Locked(folder, shared=True, patience=READ_PATIENCE):
                self._open(folder)
        except FileNotFoundError:
            pass
        except OSError as error:
            self.__exit__()
            raise unreadable(error, place.folder) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self.files:
            os.close(file.fd)
        self.files = []

    def _open(self, folder: Folder) -> None:
        for name in NAMES:
            try:
                self.files.append(OpenFile(folder, name))
            except FileNotFoundError:
                pass
        self.head = read_head(folder)
        self.gaps = read_gaps(folder)
        if self.files:
            self.is_ended = self.files[0].ends_with(b"\n")
