"""A closer look at processes: who descends from whom, what they hold, whether they still work."""

from __future__ import annotations

import os
import time

from firsthand.procfs import boot_id, children, fields, read, status, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NAME_LIMIT = 4096
"""Bytes read of a command line: 200 characters are shown, so a page is plenty."""


EXEC_LOOKS, EXEC_PAUSE = 3, 0.001
"""Looks, and seconds between them: in the middle of an exec a process shows no command line."""


PF_EXITING = 0x4
"""include/linux/sched.h: the process is on its way out and runs no code of its own any more."""


GONE = (b"Z", b"X")
"""States of a process that runs nothing any more and only waits for its parent."""


class Process:
    """One process as ``/proc/PID/stat`` shows it at one moment; ``cpu`` and ``start`` are in clock ticks."""

    __slots__ = ("cpu", "exiting", "group", "parent", "pid", "session", "start", "state")

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        self.pid = pid
        self.state = fields[0]
        self.parent, self.group, self.session = int(fields[1]), int(fields[2]), int(fields[3])
        self.exiting = bool(int(fields[6]) & PF_EXITING)
        self.cpu = int(fields[11]) + int(fields[12])
        self.start = int(fields[19])

    @property
    def alive(self) -> bool:
        """False for a zombie: it runs nothing and only waits for its parent."""
        return self.state not in GONE

    @property
    def stamp(self) -> str:
        """What with the pid names this process for good; see :func:`firsthand.procfs.start_stamp`."""
        return f"{boot_id()}:{self.start}"


def look(pid: int) -> Process | None:
    """Return the process with this pid, zombies included, or None when there is none."""
    try:
        return Process(pid, fields(pid))
    except (ValueError, IndexError):
        return None


def everyone() -> list[Process]:
    """Return every process that we may see."""
    return [process for pid in pids() if (process := look(pid))]


def pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def has_children_files() -> bool:
    """Tell whether this kernel has ``/proc/PID/task/TID/children`` (CONFIG_PROC_CHILDREN)."""
    return os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")


def descendants(root: int, spared: frozenset[int] = frozenset()) -> list[Process]:
    """Return the living descendants of ``root``, parents first; a ``spared`` pid hides its own as well."""
    return below(root, spared)[0]


def below(root: int, spared: frozenset[int] = frozenset()) -> tuple[list[Process], bool]:
    """Return the same, and whether it is all: False where a child of ``root`` had ended when we looked at it.

    A program that does nothing but fork itself lives shorter than a look: it is missed, but what it has just
    left behind shows it.
    """
    children_of = children if has_children_files() else _children_by_scan()
    queue, seen, found, whole = [root], set(spared), [], True
    while queue:
        parent = queue.pop(0)
        for pid in children_of(parent):
            if pid in seen:
                continue
            seen.add(pid)
            queue.append(pid)
            process = look(pid)
            if process and process.alive:
                found.append(process)
            elif parent == root:
                whole = False
    return found, whole


def _children_by_scan() -> Callable[[int], list[int]]:
    # a kernel without CONFIG_PROC_CHILDREN: one scan of all parents
    by_parent: dict[int, list[int]] = {}
    for process in everyone():
        by_parent.setdefault(process.parent, []).append(process.pid)
    return lambda pid: by_parent.get(pid, [])


def left_of(leader: int, start: str) -> list[Process]:
    """Return the living processes of a session and all below them, given pid and start stamp of its leader.

    For a leader whose parents are dead. Its pid may belong to somebody else by now: then there are none.
    """
    now = look(leader)
    if start.partition(":")[0] != boot_id() or (now is not None and now.stamp != start):
        return []
    alive = [process for process in everyone() if process.alive]
    below = {process.pid for process in alive if leader in (process.pid, process.session)}
    grown = -1
    while grown != len(below):
        grown = len(below)
        below |= {process.pid for process in alive if process.parent in below}
    return [process for process in alive if process.pid in below]


def command_line(pid: int) -> list[bytes]:
    """Return the argv of a process, or its bracketed name where the kernel shows none."""
    for _ in range(EXEC_LOOKS):
        data = read(f"/proc/{pid}/cmdline", NAME_LIMIT)
        if data:
            return data.rstrip(b"\0").split(b"\0")
        time.sleep(EXEC_PAUSE)
    name = read(f"/proc/{pid}/comm", 64)
    return [b"[" + name.strip() + b"]"] if name else [b"?"]


def holds_pipe(pid: int, inodes: frozenset[int]) -> bool:
    """Tell whether the process has one of these pipes open (False where we may not look)."""
    wanted = {f"pipe:[{inode}]" for inode in inodes}
    folder = f"/proc/{pid}/fd"
    try:
        return any(_target(f"{folder}/{name}") in wanted for name in os.listdir(folder))
    except OSError:
        return False


def reads_a_pipe(pid: int) -> bool:
    """Tell whether standard input of the process is a pipe."""
    return _target(f"/proc/{pid}/fd/0").startswith("pipe:")


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def catches(pid: int, signal: int) -> bool:
    """Tell whether the process has a handler of its own for the signal."""
    caught = value(status(pid), b"SigCgt")
    return bool(caught) and bool(int(caught, 16) >> (signal - 1) & 1)


def activity(process: Process) -> tuple[int, int]:
    """Return counters that grow while a process works: CPU (nanoseconds or ticks) and bytes moved."""
    schedule = read(f"/proc/{process.pid}/schedstat", 128)
    cpu = int(schedule.split()[0]) if schedule else process.cpu
    moved = 0
    for line in (read(f"/proc/{process.pid}/io", 512) or b"").splitlines():
        if line.startswith((b"rchar:", b"wchar:")):
            moved += int(line.split()[1])
    return cpu, moved


def leads_its_session(pid: int) -> bool:
    """Tell whether the process is the first of a session of its own, as every command of ours is."""
    process = look(pid)
    return process is not None and process.alive and process.session == pid
