"""Empties the pipes of kept strays until every writer has gone, so that they never meet SIGPIPE."""

from __future__ import annotations

import os
import select

from firsthand.process import boot, spawn

BUFFER_SIZE = 64 * 1024
"""Bytes of one read; what is read is thrown away."""


def leave(kept: list[int]) -> None:
    """Leave a reader behind for these descriptors and close them here; nobody has to wait for it."""
    if kept:
        boot.start("firsthand.process.reader", "main", [None, None, None, *kept])
        for fd in kept:
            os.close(fd)


def main() -> None:
    """Be the reader, to the end of all streams."""
    kept = {int(name) for name in os.listdir("/proc/self/fd") if int(name) >= spawn.FIRST_FREE_FD}
    poller = select.poll()
    for fd in kept:
        poller.register(fd, select.POLLIN)
    buffer = bytearray(BUFFER_SIZE)
    while kept:
        for fd, _ in poller.poll():
            if not _read(fd, buffer):
                poller.unregister(fd)
                kept.discard(fd)
    os._exit(0)


def _read(fd: int, buffer: bytearray) -> bool:
    try:
        return os.readv(fd, [buffer]) > 0
    except BlockingIOError:
        return True
    except OSError:
        return False
