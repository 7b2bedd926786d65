"""The sleeping processes of one probe, known by a length that nobody else sleeps."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def alive(length: str) -> list[int]:
    """Return the processes that are ``sleep LENGTH``; a zombie has no command line, so it is none of them."""
    wanted = f"sleep\0{length}\0".encode()
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _command(pid) == wanted]


def kill(length: str) -> None:
    """End exactly these."""
    for pid in alive(length):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _command(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""
