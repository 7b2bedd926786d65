"""The store's one lock: a file that is never rotated, opened anew for each use."""

from __future__ import annotations

import errno
import fcntl
import os
import time

from firsthand.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from firsthand.store.folder import Folder

LOCK_NAME = "lock"

LOCK_PATIENCE = 5.0
"""Seconds after which a writer gives up: its holder is stopped, not slow."""

YIELDS = 100
"""Tries that only give way to others: an append is over sooner than the shortest sleep."""

FIRST_PAUSE, LONGEST_PAUSE = 0.0002, 0.01
"""Seconds between two tries: an append holds the lock for some 0.1 ms; a stuck holder costs no CPU."""


class Locked:
    """Hold the lock of a folder for a ``with`` block; the kernel frees it when the holder dies.

    A ``shared`` lock is for readers and is taken where that is possible: one that is missing, not ours to
    open, or busy for ``patience`` seconds is done without.

    Raises:
        StoreError: it stayed busy for ``patience`` seconds, or is a link or foreign.
        OSError: the lock file cannot be opened.
    """

    __slots__ = ("_fd", "_folder", "_patience", "_shared")

    def __init__(self, folder: Folder, *, shared: bool = False, patience: float | None = None) -> None:
        self._folder = folder
        self._shared = shared
        self._patience = LOCK_PATIENCE if patience is None else patience
        self._fd = -1

    def __enter__(self) -> Self:
        try:
            taken = self._take(time.monotonic() + self._patience)
        except (FileNotFoundError, PermissionError):
            if not self._shared:
                raise
            return self
        if not taken and not self._shared:
            raise StoreError(
                f"the store {self._folder.path} is busy: its lock was held for {self._patience:g} s",
                f"end or resume the process that holds it (fuser {self._folder.path}/{LOCK_NAME})",
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd < 0:
            return
        # Closing alone would leave it locked where another thread has forked meanwhile.
        fd, self._fd = self._fd, -1
        fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)

    def _take(self, deadline: float) -> bool:
        while True:
            fd = self._open()
            taken = False
            try:
                if not self._wait(fd, deadline):
                    return False
                taken = os.fstat(fd).st_nlink > 0  # else it was deleted meanwhile and excludes nobody
            finally:
                if not taken:
                    os.close(fd)
            if taken:
                self._fd = fd
                return True

    def _open(self) -> int:
        if self._shared:
            return self._folder.open(LOCK_NAME)
        return self._folder.open(LOCK_NAME, os.O_RDWR, create=True)

    def _wait(self, fd: int, deadline: float) -> bool:
        kind = fcntl.LOCK_SH if self._shared else fcntl.LOCK_EX
        for _ in range(YIELDS):
            if try_lock(fd, kind):
                return True
            os.sched_yield()
        pause = FIRST_PAUSE
        while not try_lock(fd, kind):
            if time.monotonic() >= deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)
        return True


def try_lock(fd: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Take a lock on an open file without waiting; say whether it is ours."""
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
            return False
        raise
    return True
