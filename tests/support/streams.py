"""The pipes, or the terminal, between a test and one program: all bytes kept, every wait bounded."""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING

from tests.support.slack import SLACK

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 65536
_LOOK_AGAIN_MS = 100


class Streams:
    """Both ends of a program's stdin, stdout and stderr; ``theirs`` are the three that it gets.

    ``stdin`` is fed into its standard input, which stays open where ``stdin_open``. With ``terminal``
    stdin and stderr are one terminal, with ``"all"`` stdout too; what shows on it is kept as ``err``.
    """

    def __init__(self, stdin: bytes, *, stdin_open: bool, terminal: bool | str) -> None:
        self.kept: dict[str, bytes] = {}
        self._read: dict[int, str] = {}
        self._to_feed = stdin
        self._stdin_open = stdin_open
        self._stdin: tuple[int, int] | None = None
        out, out_theirs = os.pipe()
        self.add("out", out)
        if terminal:
            err, err_theirs = os.openpty()
            if terminal == "all":
                os.close(out_theirs)
                out_theirs = err_theirs
            self.theirs = [err_theirs, out_theirs, err_theirs]
        else:
            err, err_theirs = os.pipe()
            self._stdin = os.pipe()
            os.set_blocking(self._stdin[1], False)
            self.theirs = [self._stdin[0], out_theirs, err_theirs]
        self.add("err", err)
        self._feed()

    def add(self, name: str, fd: int) -> None:
        """Keep what comes on one more descriptor; it is closed at its end of file."""
        self.kept[name] = b""
        self._read[fd] = name

    def open(self, *names: str) -> bool:
        """Tell whether one of these has not yet come to its end of file."""
        return any(name in names for name in self._read.values())

    def release_theirs(self) -> None:
        """Close the program's ends here; its stdin stays, to see later what was not read."""
        for fd in set(self.theirs) - set(self._stdin or ()):
            os.close(fd)

    def fd(self, name: str) -> int:
        """Return our end of one that is open."""
        return next(fd for fd, known in self._read.items() if known == name)

    def drop(self, name: str) -> None:
        """Close our end of one: its reader goes away."""
        fd = self.fd(name)
        del self._read[fd]
        os.close(fd)

    def pump(self, done: Callable[[], bool], seconds: float) -> bool:
        """Move bytes until ``done``; false when that takes longer than ``seconds`` times the slack."""
        until = time.monotonic() + seconds * SLACK
        while not done():
            if time.monotonic() > until:
                return False
            self._move()
        return True

    def _move(self) -> None:
        poll = select.poll()
        for fd in self._read:
            poll.register(fd, select.POLLIN)
        if self._to_feed and self._stdin:
            poll.register(self._stdin[1], select.POLLOUT)
        for fd, _ in poll.poll(_LOOK_AGAIN_MS):
            if fd in self._read:
                self._take(fd)
            else:
                self._feed()

    def _take(self, fd: int) -> None:
        try:
            data = os.read(fd, _CHUNK)
        except OSError:  # a terminal that nobody else holds any more
            data = b""
        self.kept[self._read[fd]] += data
        if not data:
            del self._read[fd]
            os.close(fd)

    def _feed(self) -> None:
        if self._to_feed and self._stdin:
            try:
                self._to_feed = self._to_feed[os.write(self._stdin[1], self._to_feed) :]
            except BlockingIOError:
                return
        if not self._to_feed and not self._stdin_open:
            self.end_stdin()

    def end_stdin(self) -> None:
        """Give the program the end of file on its standard input."""
        if self._stdin and self._stdin[1] >= 0:
            os.close(self._stdin[1])
            self._stdin = (self._stdin[0], -1)

    def unread(self) -> bytes:
        """Return what the program left in its standard input."""
        found = b""
        if self._stdin:
            os.set_blocking(self._stdin[0], False)
            try:
                while data := os.read(self._stdin[0], _CHUNK):
                    found += data
            except BlockingIOError:
                pass
        return found

    def close(self) -> None:
        """Close all that is still open here."""
        self.end_stdin()
        if self._stdin:
            os.close(self._stdin[0])
            self._stdin = None
        for fd in self._read:
            os.close(fd)
        self._read.clear()
