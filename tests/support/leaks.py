"""What a whole test run left alive, found by the folders that only it uses."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from tests.support.alive import Process, children, descendants, processes
from tests.support.slack import eventually

if TYPE_CHECKING:
    from pathlib import Path

_WITHIN = 2.0


def leaks(base: Path) -> list[Process]:
    """Return the children of this process, and whoever lives in ``base`` or has it in its environment."""
    return eventually(lambda: children(os.getpid()) + _strangers(base), lambda found: not found, _WITHIN)


def _idle_warm_process(process: Process) -> bool:
    """Tell whether this waits for the next run of the library in this very process; it ends with it."""
    ours = "keeper_main" in process.command and process.command.endswith(f" {os.getpid()}")
    return ours and not descendants(process.pid)


def _strangers(base: Path) -> list[Process]:
    ours = {os.getpid(), *(process.pid for process in children(os.getpid()))}
    found = [p for p in processes() if p.state != "Z" and p.pid not in ours and _belongs(p.pid, base)]
    return [process for process in found if not _idle_warm_process(process)]


def _belongs(pid: int, base: Path) -> bool:
    try:
        cwd = os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        cwd = ""
    return _started_here(pid, base) or cwd.startswith(f"{base}/")


def _started_here(pid: int, base: Path) -> bool:
    """Tell whether HOME or FIRSTHAND_DIR of a process lies in ``base``, as only the tests set them."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as environ:
            variables = environ.read().split(b"\0")
    except OSError:
        return False
    folder = os.fsencode(base) + b"/"
    return any(v.startswith((b"HOME=" + folder, b"FIRSTHAND_DIR=" + folder)) for v in variables)


def kill(left: list[Process], base: Path) -> None:
    """Kill those whose environment shows that the tests started them, by id; others are only named."""
    for process in left:
        if process.parent == os.getpid() or _started_here(process.pid, base):
            try:
                os.kill(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
