"""A caller's stream as a live view writes to it, without ever waiting for it, and the line of a quiet run."""

from __future__ import annotations

import os
import select
import time

from firsthand.process import spawn

PIECE = select.PIPE_BUF
"""Bytes of one write: what a pipe that is writable at all takes without waiting."""

DEFAULT_WIDTH = 80
"""Columns of a terminal that does not say how many it has."""

DIM, RED = "2", "31"
"""Styles, as the parameters of a terminal's SGR sequence."""

EVERY = 1.0
"""Seconds between two states of the line of a quiet run."""


class Sink:
    """One of the caller's streams, written to without ever waiting for it."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.gone = False
        self.terminal = os.isatty(fd)
        self.out = _never_waiting(fd) if self.terminal else fd
        self.place = 0 if self.terminal else fd
        """The same for all that shows on one terminal."""
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
        self.styled = self.terminal and not plain

    def ready(self) -> bool:
        """Tell whether something can be written now, or never any more."""
        poller = select.poll()
        poller.register(self.out, select.POLLOUT)
        return self.gone or bool(poller.poll(0))

    def write(self, data: memoryview) -> int:
        """Write what it takes now and return how much that was; all of it once its reader has gone.

        Raises:
            OSError: it cannot be written, and not because of its reader.
        """
        if self.gone:
            return len(data)
        try:
            return os.write(self.out, data[:PIECE])
        except BlockingIOError:
            return 0
        except OSError as problem:
            self.gone = True
            if not self.terminal and not isinstance(problem, (BrokenPipeError, ConnectionResetError)):
                raise
        return len(data)

    def width(self) -> int:
        """Return how many columns the terminal has now."""
        try:
            return os.get_terminal_size(self.fd).columns or DEFAULT_WIDTH
        except OSError:  # it was closed
            return DEFAULT_WIDTH

    def in_foreground(self) -> bool:
        """Tell whether the terminal's user is waiting for us, not for a prompt or another job."""
        try:
            return os.tcgetpgrp(self.fd) == os.getpgrp()
        except OSError:  # not the terminal of our session, so it has no jobs of ours
            return True

    def style(self, text: str, code: str) -> str:
        """Return the text in a style, whatever the command has left switched on."""
        return f"\x1b[0;{code}m{text}\x1b[0m" if self.styled else text


def _never_waiting(fd: int) -> int:
    """Open a terminal once more: O_NONBLOCK on ``fd`` itself would be the shell's and everybody's."""
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        return spawn.raise_fd_of(os.open(f"/proc/self/fd/{fd}", flags))
    except OSError:  # somebody else's terminal, as after su: a write may wait while it is stopped
        return fd


class Status:
    """The line that says that a quiet run goes on; only for a person who is waiting at a terminal.

    It stands alone on its line, with the cursor at its start, and is rubbed out by blanks.
    """

    def __init__(self, err: Sink, quiet: float) -> None:
        self.err = err
        self.quiet = quiet
        self.shown = 0
        """Columns that it takes up now."""
        self._wanted = err.terminal and not os.environ.get("CI")
        self._began = time.monotonic()
        self.heard()

    def heard(self) -> None:
        """Begin to be quiet: the command has printed something."""
        self._last = time.monotonic()
        self._next = self._last + self.quiet

    def due(self) -> float | None:
        """Return in how many seconds the line must be written again, or None."""
        return max(0.0, self._next - time.monotonic()) if self._wanted and not self.err.gone else None

    def line(self) -> str:
        """Return what writes the line as it is now, or nothing in the background."""
        now = time.monotonic()
        self._next = max(self._next + EVERY, now)
        if not self.err.in_foreground():
            return ""
        columns = self.err.width() - 1  # in the last one the cursor would go on to the next line
        went_on, quiet = span(now - self._began), span(now - self._last)
        text = f"firsthand: {went_on}, quiet for {quiet} (Ctrl+C stops it)"[:columns]
        rest = " " * (min(self.shown, columns) - len(text))
        self.shown = len(text)
        return f"\r{self.err.style(text, DIM)}{rest}\r"

    def rub_out(self) -> str:
        """Return what takes the line away."""
        blanks = " " * min(self.shown, self.err.width() - 1)
        self.shown = 0
        return f"\r{blanks}\r"


def span(seconds: float) -> str:
    """Return ``42 s`` or ``2 min 5 s``."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
