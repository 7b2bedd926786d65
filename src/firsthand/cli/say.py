"""Everything that the command line writes: UTF-8 whatever the locale, and quiet when the reader has gone."""

from __future__ import annotations

import os

from firsthand.record import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.errors import FirsthandError

STDERR = 2

ERROR_SCHEMA = "firsthand.error/1"


def write(fd: int, text: str | bytes) -> None:
    """Write all of it; a reader that has gone away is no error (``| head``), a full disk is a remark."""
    view = memoryview(text.encode("utf-8", "replace") if isinstance(text, str) else text)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except (BrokenPipeError, ConnectionResetError):
        _forget(fd)
    except OSError as problem:
        _forget(fd)
        if fd != STDERR:
            note(f"standard output cannot be written ({problem.strerror}); firsthand show has it all")


def _forget(fd: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    if null != fd:  # a closed one is the first that is free
        os.dup2(null, fd)
        os.close(null)


def out(text: str) -> None:
    """Write lines to standard output."""
    write(1, text if text.endswith("\n") else text + "\n")


def obj(value: Any) -> None:
    """Write one JSON object on one line to standard output."""
    write(1, encode(value) + b"\n")


def note(text: str) -> None:
    """Write one remark to standard error."""
    write(2, f"firsthand: note: {_clean(text)}\n")


def error(problem: FirsthandError, as_json: bool = False) -> None:
    """Say what is wrong and what to do next: two lines on stderr, or one object on stdout."""
    message, hint = _clean(problem.message), _clean(problem.hint)
    if as_json:
        obj({"schema": ERROR_SCHEMA, "code": problem.code, "message": message, "hint": hint})
    else:
        write(2, f"firsthand: error: {message}\n" + (f"hint: {hint}\n" if hint else ""))


def _clean(text: str) -> str:
    """Return our own words redacted and printable: they quote what the caller wrote."""
    from firsthand.redact import Redactor

    return Redactor().raw(text)
