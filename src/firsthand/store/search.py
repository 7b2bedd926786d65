"""Look through the record files line by line: for a record, or for where they end after a crash."""

from __future__ import annotations

import os

from firsthand.record import GENESIS_HASH
from firsthand.store.chain import digest
from firsthand.store.files import NAMES
from firsthand.store.links import is_intact, links
from firsthand.store.snapshot import OpenFile
from firsthand.store.tail import Tail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.store.folder import Folder


def is_stored(folder: Folder, command_id: str) -> bool:
    """Say whether a whole record of this id is in one of the files."""
    mark = b',"command_id":"%b"' % command_id.encode()
    lines = (line for name in NAMES for line in _lines(folder, name, mark) if mark in line)
    return any(map(is_intact, lines))


def last_usable(folder: Folder, *, unended: bool) -> Tail:
    """Return where the files end, with what stands behind the last line that is whole and linked."""
    behind: list[bytes] = []
    for name in NAMES:
        for line in reversed(_lines(folder, name)):
            found = links(line)
            if found is not None and is_intact(line):
                return Tail(found[0], found[2], _covering(behind), unended=unended)
            behind.append(line)
    return Tail(0, GENESIS_HASH, _covering(behind), unended=unended)


def _covering(newest_first: list[bytes]) -> str | None:
    return digest(b"\n".join(reversed(newest_first))) if newest_first else None


def _lines(folder: Folder, name: str, mark: bytes = b"") -> list[bytes]:
    """Return the lines of a file, none where it is missing or does not hold the mark."""
    try:
        file = OpenFile(folder, name)
    except FileNotFoundError:
        return []
    try:
        return file.lines(mark)
    finally:
        os.close(file.fd)
