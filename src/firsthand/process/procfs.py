"""What the kernel says of processes: children, states, sessions, command lines, held pipes."""

from __future__ import annotations

import os

_boot_id: list[str] = []


PF_EXITING = 0x4
"""include/linux/sched.h: the process is on its way out and runs no code of its own any more."""


class Process:
    """One process as ``/proc/PID/stat`` shows it at one moment; ``cpu`` is in clock ticks."""

    __slots__ = ("cpu", "exiting", "group", "parent", "pid", "session", "start", "state")

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        self.pid = pid
        self.state = fields[0].decode("ascii", "replace")
        self.parent, self.group, self.session = int(fields[1]), int(fields[2]), int(fields[3])
        self.exiting = bool(int(fields[6]) & PF_EXITING)
        self.cpu = int(fields[11]) + int(fields[12])
        self.start = int(fields[19])

    @property
    def alive(self) -> bool:
        """False for a zombie: it runs nothing and only waits for its parent."""
        return self.state not in "ZX"


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


def look(pid: int) -> Process | None:
    """Return the process with this pid, zombies included, or None when there is none."""
    data = read(f"/proc/{pid}/stat", 4096)
    if not data:
        return None
    try:
        return Process(pid, data[data.rindex(b")") + 2 :].split())
    except (ValueError, IndexError):
        return None


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
    """Return the kernel's boot id, or ``-``: pids and start times mean something only within one boot."""
    if not _boot_id:
        data = read("/proc/sys/kernel/random/boot_id", 64)
        _boot_id.append(data.decode("ascii", "replace").strip() if data else "-")
    return _boot_id[0]


def start_stamp(process: Process) -> str:
    """Return ``BOOT_ID:STARTTIME``, which with the pid names one process for good."""
    return f"{boot_id()}:{process.start}"
