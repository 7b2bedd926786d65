"""``gaps``: what was found missing between ``head`` and the record files, a line for each time."""

from __future__ import annotations

import os

from firsthand.procfs import UNKNOWN_BOOT
from firsthand.store.folder import read_range, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.store.folder import Folder

GAPS_NAME = "gaps"

GAPS_MOST = 1000
"""Lines of ``gaps`` that are kept, the newest: the records round an older gap were rotated away long ago."""

GAPS_BYTES = GAPS_MOST * 256
"""More than ``GAPS_MOST`` lines of two numbers and two boot ids can take."""


def note(folder: Folder, line: bytes) -> None:
    """Add one line; the oldest go when there are too many."""
    fd = folder.open(GAPS_NAME, os.O_RDWR | os.O_APPEND, create=True)
    try:
        size = os.fstat(fd).st_size
        lines = read_range(fd, max(0, size - GAPS_BYTES), GAPS_BYTES).splitlines(keepends=True)
        if len(lines) < GAPS_MOST:
            write_whole(fd, line, size)
        else:
            folder.replace(GAPS_NAME, b"".join([*lines[1 - GAPS_MOST :], line]))
    finally:
        os.close(fd)


def read_gaps(folder: Folder) -> dict[tuple[int, int], bool]:
    """Return ``{(file_seq, head_seq): whether the boots differ}`` for every gap, as it was first seen."""
    gaps: dict[tuple[int, int], bool] = {}
    for line in (folder.read(GAPS_NAME, GAPS_BYTES) or b"").splitlines():
        fields = line.decode("ascii", "replace").split()
        if len(fields) == 4 and fields[0].isdigit() and fields[1].isdigit():
            gaps.setdefault((int(fields[1]), int(fields[0])), other_boot(fields[2], fields[3]))
    return gaps


def other_boot(before: str, now: str) -> bool:
    """Say whether the machine may have lost power between these two boots: they differ, or are unknown."""
    return before != now or now == UNKNOWN_BOOT
