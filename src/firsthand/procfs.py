"""What the kernel says of this boot and of processes: the few lines of ``/proc`` that every run reads."""

from __future__ import annotations

import os

UNKNOWN_BOOT = "-"
"""Stands where the kernel gives no boot id; two of these are never taken for the same boot."""

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


def start_stamp(pid: int) -> str | None:
    """Return ``BOOT_ID:STARTTIME``, which with the pid names one process for good; None without one."""
    found = fields(pid)
    return f"{boot_id()}:{int(found[19])}" if len(found) > 19 else None


def status(pid: int | str = "thread-self") -> bytes:
    """Return ``/proc/PID/status``, of this very thread unless told otherwise; nothing where it is gone."""
    return read(f"/proc/{pid}/status", 8192) or b""


def value(status: bytes, key: bytes) -> bytes:
    """Return the value of one line of a status, nothing where the kernel does not have it."""
    return status.partition(b"\n" + key + b":")[2].partition(b"\n")[0].strip()


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


def boot_id() -> str:
    """Return the id of this boot, or ``UNKNOWN_BOOT``: pids and start times mean something only within one.

    It is read once per process.
    """
    if not _boot_id:
        data = read("/proc/sys/kernel/random/boot_id", 64)
        _boot_id.append((data or b"").decode("ascii", "replace").strip() or UNKNOWN_BOOT)
    return _boot_id[0]
