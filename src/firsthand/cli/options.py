"""Options of ``run`` that take more than their text: numbers, predictions, other records, a shell line.

This is imported only when one of them is given, and what reads the store or a shell line only for those.
"""

from __future__ import annotations

import os
import stat

from firsthand import request
from firsthand.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from firsthand.record import Record
    from firsthand.request import Request


SHELL = ("bash", "-o", "pipefail", "-c")
"""What runs the line of ``--shell``."""

BASH_VARIABLES = ("BASH_ENV", "BASHOPTS", "SHELLOPTS")
"""Each may switch on ``xtrace``, ``lastpipe`` or a trap of its own."""


def values(given: Mapping[str, str], root: str) -> dict[str, Any]:
    """Return the arguments of ``request.build`` that these options stand for.

    Raises:
        UsageError: one of them makes no sense, or names a record that is not there.
    """
    found: dict[str, Any] = {}
    if "--expect" in given or "--expect-exit" in given:
        found["expect"] = _expectation(given)
    if "--timeout" in given:
        found["timeout"] = _seconds(given["--timeout"])
    if "--parent" in given:
        found["parent"] = _whole_id("--parent", given["--parent"], root)
    if "--from" in given:
        found["inputs"] = [_whole_id("--from", each, root) for each in given["--from"].split(",")]
    if "--shell" in given:
        found["trapped"] = is_trapped([*SHELL, given["--shell"]])
    if "--stdin" in given:
        found["has_stdin"] = True
    return found


def is_trapped(argv: Sequence[str]) -> bool:
    """Tell whether this is a line of ``--shell``, and bash can be asked how its members ended."""
    if tuple(argv[:-1]) != SHELL or any(map(os.environ.get, BASH_VARIABLES)):
        return False
    from firsthand.shell import members

    return members.pipelines(argv[-1]) is not None


def _expectation(given: Mapping[str, str]) -> dict[str, Any]:
    expect: dict[str, Any] = {}
    if "--expect" in given:
        expect["contains"] = given["--expect"]
    if "--expect-exit" in given:
        words = given["--expect-exit"].split(",")
        if not all(word.isdecimal() for word in words):
            raise UsageError(f"--expect-exit {given['--expect-exit']} is no list of codes", "give 0, or 0,1")
        expect["exit_code"] = [int(word) for word in words]
    return expect


def _seconds(text: str) -> float | None:
    from firsthand.settings import seconds

    try:
        return seconds(float(text))
    except ValueError:
        raise UsageError(
            f"--timeout {text} is not a number of seconds", "give 30, 0.5, or 0 for none"
        ) from None


def _whole_id(name: str, text: str, root: str) -> str:
    """Return the whole ``command_id`` for one that may be shortened."""
    if len(text) == request.ID_LENGTH:
        return request.is_id(name, text)
    from firsthand.cli import common
    from firsthand.store import adoption, place

    reader = adoption.reader(place.place_of(root, request.from_here(None), os.environ))
    return str(common.found(reader, text)["command_id"])


def retried(wanted: Request) -> str:
    """Return the id of what ``--retry`` retries: the newest record of this command, if it did not succeed.

    Same command, folder and session, as records hold them.

    Raises:
        UsageError: there is none.
    """
    from firsthand import compose
    from firsthand.redact import Redactor
    from firsthand.store import adoption, place

    same = compose.draft(wanted, Redactor())
    keys = ("command", "cwd", "session_id")

    def matches(record: Record) -> bool:
        return record["exit_code"] != 0 and all(record[key] == same[key] for key in keys)

    found = adoption.reader(place.place_of(wanted.root, wanted.root, wanted.folders)).last(1, where=matches)
    if not found:
        raise UsageError(
            "nothing to retry: no failed record of this command, folder and session",
            "leave --retry out, or name the attempt with --parent ID (firsthand last --failed)",
        )
    return str(found[0]["command_id"])


def stdin() -> int:
    """Return a descriptor of the caller's standard input, for the command.

    Raises:
        UsageError: it is a terminal, from which a command of its own session cannot read.
    """
    if stat.S_ISCHR(os.fstat(0).st_mode) and os.isatty(0):
        raise UsageError("--stdin is a terminal", "pipe something in, or redirect a file")
    from firsthand.process import spawn

    return spawn.raise_fd(0)
