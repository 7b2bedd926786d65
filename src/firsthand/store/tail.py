"""Where the record files end: the last usable record, and what a writer that died left behind it."""

from __future__ import annotations

from firsthand.store.chain import LINE_MOST
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
    from firsthand.store import search

    return search.last_usable(folder, unended=size > 0 and read_range(fd, size - 1, 1) != b"\n")


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
