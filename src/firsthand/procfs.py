"""What the kernel says of this boot and of processes: the few lines of ``/proc`` that every run reads."""

from __future__ import annotations

import os

UNKNOWN_BOOT = "-"
"""Stands where the kernel gives no boot id; two of these are never taken for the same boot."""

GONE = (b"Z", b"X")
"""States of a process that runs nothing any more and only waits for its parent."""

_boot_id: list[str] = []


def read(path: str, limit: int = 1 << 16) -> bytes | None:
    """Return up to ``limit`` bytes of a ``/proc`` file, or None where it is gone or not for us."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(fd, limit)
    except OSError:
        return None
    finally:
        os.close(fd)


def fields(pid: int) -> list[bytes]:
    """Return ``/proc/PID/stat`` from the state on, zombies included, or nothing when there is no process.

    The command's name before it stands in parentheses and may hold blanks and parentheses of its own.
    """
    return (read(f"/proc/{pid}/stat", 4096) or b"").rpartition(b")")[2].split()


def start_stamp(pid: int, *, living: bool = False) -> str | None:
    """Return ``BOOT_ID:STARTTIME``, which with the pid names one process for good; None where there is none.

    With ``living`` a zombie counts as none.
    """
    found = fields(pid)
    if len(found) < 20 or (living and found[0] in GONE):
        return None
    return f"{boot_id()}:{int(found[19])}"


def children(pid: int) -> list[int]:
    """Return the pids of the direct children of every thread of ``pid``, zombies included."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        data = read(f"/proc/{pid}/task/{thread}/children")
        if data is None:
            continue
        found += map(int, data.split())
    return found


def left_of(leader: int, start: str) -> list[int]:
    """Return the living processes of a session and all below them, given pid and start stamp of its leader.

    For a leader whose parents are dead. Its pid may belong to somebody else by now: then there are none.
    """
    now = start_stamp(leader)
    if start.partition(":")[0] != boot_id() or now not in (None, start):
        return []
    table = {pid: found for pid in _pids() if len(found := fields(pid)) > 19 and found[0] not in GONE}
    below = {pid for pid, found in table.items() if leader in (pid, int(found[3]))}
    grown = -1
    while grown != len(below):
        grown = len(below)
        below |= {pid for pid, found in table.items() if int(found[1]) in below}
    return sorted(below)


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def boot_id() -> str:
    """Return the id of this boot, or ``UNKNOWN_BOOT``: pids and start times mean something only within one.

    It is read once per process.
    """
    if not _boot_id:
        data = read("/proc/sys/kernel/random/boot_id", 64)
        _boot_id.append((data or b"").decode("ascii", "replace").strip() or UNKNOWN_BOOT)
    return _boot_id[0]
