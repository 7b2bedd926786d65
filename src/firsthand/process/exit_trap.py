"""Have bash say, as it exits, how the members of its last pipeline ended.

An exit trap before the line writes to a pipe of the keeper through ``/proc``: no command inherits anything.
"""

from __future__ import annotations

import os

from firsthand.process import spawn

REPORT_MOST = 64 * 1024
"""Bytes read of a report, all that its pipe holds; the lines that get a trap are far shorter."""

TRAP = (
    """trap 'printf "%s " "${{PIPESTATUS[@]}}" / "$BASH_COMMAND" """
    """2>/dev/null >/proc/{pid}/fd/{fd}' EXIT; """
)
"""It stands on the line's own line, so that ``$LINENO`` is right. Each status is written by itself: how
words are joined is the line's own affair (``IFS``). The redirections are in this order so that a keeper that
is gone is no message."""


class ExitTrap:
    """The pipe that the trap writes to; only for a line that bash can parse."""

    def __init__(self) -> None:
        self.read_end, self.write_end = spawn.pipe(os.O_NONBLOCK)

    def wrap(self, argv: list[bytes]) -> list[bytes]:
        """Return the argv of a shell line with the trap before the line, its last argument."""
        trap = TRAP.format(pid=os.getpid(), fd=self.write_end).encode()
        return [*argv[:-1], trap + argv[-1]]

    def report(self) -> tuple[list[int], str] | None:
        """Return the statuses and the last command, and close; None where bash did not get so far."""
        try:
            data = os.read(self.read_end, REPORT_MOST)
        except OSError:
            data = b""
        os.close(self.read_end)
        os.close(self.write_end)
        statuses, _, command = data.decode("utf-8", "replace").partition("/ ")
        words = statuses.split()
        if not words or not all(word.isdecimal() and len(word) < 4 for word in words):
            return None
        return [int(word) for word in words], command.removesuffix(" ")
