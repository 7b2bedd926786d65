"""Which processes of this machine are alive, as the kernel tells it; a zombie is not."""

from __future__ import annotations

import os
from dataclasses import dataclass

from tests.support.slack import eventually


@dataclass(frozen=True)
class Process:
    """One process of the machine; ``command`` is its arguments joined by blanks, empty for a zombie."""

    pid: int
    parent: int
    state: str
    command: str


def processes() -> list[Process]:
    """Return every process that can be seen, this one too."""
    seen = (_process(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [process for process in seen if process]


def _process(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat, open(f"/proc/{pid}/cmdline", "rb") as cmdline:
            fields = stat.read().rpartition(b")")[2].split()
            command = cmdline.read().replace(b"\0", b" ").decode("utf-8", "surrogateescape").strip()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Process(pid, int(fields[1]), fields[0].decode(), command)


def alive(token: str) -> list[Process]:
    """Return the living processes, other than this one, whose command shows ``token``."""
    return [p for p in processes() if token in p.command and p.state not in "ZX" and p.pid != os.getpid()]


def wait_gone(token: str, seconds: float = 0.5) -> list[Process]:
    """Return who still shows ``token`` after ``seconds`` times the slack; at once when nobody does."""
    return eventually(lambda: alive(token), lambda found: not found, seconds)


def descendants(root: int) -> list[Process]:
    """Return all processes below ``root``, zombies too, ``root`` not."""
    table = processes()
    below = {root}
    grown = 0
    while grown != len(below):
        grown = len(below)
        below |= {process.pid for process in table if process.parent in below}
    return [process for process in table if process.pid in below and process.pid != root]


def zombies(root: int) -> list[Process]:
    """Return the zombies that some process below ``root`` has not reaped; those of ``root`` do not count."""
    return [p for p in descendants(root) if p.state == "Z" and p.parent != root]


def children(pid: int) -> list[Process]:
    """Return the children of one process, zombies too."""
    return [process for process in processes() if process.parent == pid]
