"""A program's terminal as the person before it has it: types, looks, resizes, walks away."""

from __future__ import annotations

import os
import termios
from typing import TYPE_CHECKING, Any

from tests.support.slack import SLACK

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.streams import Streams


class Terminal:
    """The master's side of a pseudo-terminal; nobody reads from it except while a test waits."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    @property
    def shown(self) -> bytes:
        """All that was written to it and has been read so far."""
        return self._streams.kept["err"]

    def until(self, good: Callable[[bytes], Any], seconds: float = 5.0) -> bytes:
        """Read until what was shown is good and return it; more than ``seconds`` x slack fails the test."""
        if not self._streams.pump(lambda: bool(good(self.shown)), seconds):
            raise AssertionError(f"not shown after {seconds} s x {SLACK}: {self.shown!r}")
        return self.shown

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._streams.fd("err"), keys)

    def resize(self, columns: int) -> None:
        """Give the window another width; the kernel tells the foreground by SIGWINCH."""
        termios.tcsetwinsize(self._streams.fd("err"), (24, columns))

    def settings(self) -> list[Any]:
        """Return the line discipline's settings."""
        return termios.tcgetattr(self._streams.fd("err"))

    def hang_up(self) -> None:
        """Close the window."""
        self._streams.drop("err")
