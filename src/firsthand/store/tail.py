"""Where the record files end: the last usable record, and what a writer that died left behind it."""

from __future__ import annotations

import os

from firsthand.record import GENESIS_HASH
from firsthand.store.chain import LINE_MOST, digest, is_intact, links
from firsthand.store.files import NAMES, OpenFile
from firsthand.store.folder import read_range

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.store.folder import Folder
    from firsthand.store.head import Head

GLANCE = 8192
"""Bytes at the end of the live file in which the last line is looked for first: most records are shorter."""


class Tail:
    """The end of the files: ``seq`` and ``hash`` of the last usable record (0 and zeros without one).

    ``torn`` is the SHA-256 of what stands behind it (lines joined by LF), or ``None``.
    ``unended`` says that the live file does not end with a line end.
    """

    __slots__ = ("hash", "seq", "torn", "unended")

    def __init__(self, seq: int, own_hash: str, torn: str | None, *, unended: bool) -> None:
        self.seq = seq
        self.hash = own_hash
        self.torn = torn
        self.unended = unended


def read_tail(folder: Folder, fd: int, size: int, head: Head) -> Tail:
    """Return where the files end, given the live file and its size.

    The usual case takes one short read: the last line bears the very links that ``head`` names. Anything
    else is a crash, a loss or a change, and is looked at line by line, hashes and all.
    """
    last = _last_line(fd, size)
    if last and b'"hash":"%b",' % head.hash.encode() in last and b'"seq":%d,' % head.seq in last:
        return Tail(head.seq, head.hash, None, unended=False)
    return _search(folder, unended=size > 0 and read_range(fd, size - 1, 1) != b"\n")


def is_stored(folder: Folder, command_id: str) -> bool:
    """Say whether a whole record of this id is in one of the files."""
    mark = b',"command_id":"%b"' % command_id.encode()
    lines = (line for name in NAMES for line in _lines(folder, name, mark) if mark in line)
    return any(map(is_intact, lines))


def _last_line(fd: int, size: int) -> bytes | None:
    for glance in (GLANCE, LINE_MOST + 2):
        start = max(0, size - glance)
        data = read_range(fd, start, size - start)
        if data[-1:] != b"\n":
            return None
        begin = data.rfind(b"\n", 0, -1) + 1
        if begin or not start:
            return data[begin:-1]
    return None


def _search(folder: Folder, *, unended: bool) -> Tail:
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
