"""Whole messages between our own processes: a length, then ``marshal`` (same interpreter at both ends)."""

from __future__ import annotations

import marshal
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LENGTH_BYTES = 8


def send(fd: int, message: Any) -> bool:
    """Write one message; False when the reader is gone."""
    body = marshal.dumps(message)
    data = memoryview(len(body).to_bytes(LENGTH_BYTES, "big") + body)
    try:
        while data:
            data = data[os.write(fd, data) :]
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


class Inbox:
    """Collects one message from a pipe that may deliver it in pieces."""

    __slots__ = ("data",)

    def __init__(self) -> None:
        self.data = bytearray()

    def take(self, fd: int) -> bool:
        """Read once; False at end-of-file or when the message is whole."""
        missing = self._missing()
        chunk = os.read(fd, min(missing, 1 << 16)) if missing else b""
        self.data += chunk
        return bool(chunk) and self._missing() > 0

    def message(self) -> Any | None:
        """Return the message, or None when its sender died before it was whole."""
        if self._missing():
            return None
        return marshal.loads(bytes(self.data[LENGTH_BYTES:]))  # noqa: S302  # from a process of our own

    def _missing(self) -> int:
        if len(self.data) < LENGTH_BYTES:
            return LENGTH_BYTES - len(self.data)
        return LENGTH_BYTES + int.from_bytes(self.data[:LENGTH_BYTES], "big") - len(self.data)


def receive(fd: int) -> Any | None:
    """Read one message, waiting for it; None when its sender died first."""
    inbox = Inbox()
    while inbox.take(fd):
        pass
    return inbox.message()
