"""The caps of a record's fields, so that no stored line ever exceeds 128 KiB; ``shorten`` cuts."""

from __future__ import annotations

from firsthand.record import canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.record import Record

KIB = 1024

LINE_CAP = 128 * KIB
"""Bytes of a stored line: the sum of all caps below and of the short keys stays under it."""

TEXT_CAPS = {
    "stdout_tail": 32 * KIB,
    "stderr_tail": 32 * KIB,
    "agent_note": 4 * KIB,
    "error_detail": 4 * KIB,
    "cwd": 4 * KIB,
    "executable": 4 * KIB,
    "session_id": 1 * KIB,
    "log_error": 1 * KIB,
}
"""Bytes of each text as written in JSON, quotes included (DESIGN: the record)."""

COMMAND_CAP, COMMAND_ARGUMENTS, ARGUMENT_CHARACTERS = 24 * KIB, 200, 2000
"""``command``: bytes in all, arguments, characters of one."""

STRAYS_CAP, STRAYS_SHOWN, STRAY_CHARACTERS = 8 * KIB, 20, 200
"""``strays``: bytes in all, entries, characters of one command."""

PIPESTATUS_CAP, MEMBERS_SHOWN, MEMBER_CHARACTERS = 2 * KIB, 20, 200
"""``pipestatus``: bytes in all, members, characters of one command."""

EXPECT_CAP, REDACTIONS_CAP = 4 * KIB, 4 * KIB

INPUTS_SHOWN = 20
"""``input_command_ids``: more is a usage error."""


def size(value: Any) -> int:
    """Return the bytes of a value as written in the record."""
    return len(canonical(value).encode("utf-8", "replace"))


def cut_text(text: str, cap: int) -> str:
    """Return ``text``, its middle replaced by a marker where it takes more than ``cap`` bytes in JSON."""
    if len(text) * 6 + 2 <= cap or size(text) <= cap:
        return text
    from firsthand.caps import shorten

    return shorten.text(text, cap)


def cut_command(arguments: list[str]) -> list[str]:
    """Return an argv within its caps: long arguments cut in their middle, a long list in its own."""
    if (
        len(arguments) <= COMMAND_ARGUMENTS
        and max(map(len, arguments)) <= ARGUMENT_CHARACTERS
        and size(arguments) <= COMMAND_CAP
    ):
        return arguments
    from firsthand.caps import shorten

    return shorten.command(arguments)


def fit(record: Record) -> Record:
    """Cut every field of ``record`` to its cap, in place, and return it."""
    for key, cap in TEXT_CAPS.items():
        if record[key] is not None:
            record[key] = cut_text(record[key], cap)
    if record["pipestatus"]:
        from firsthand.caps import shorten

        record["pipestatus"] = shorten.members(record["pipestatus"])
    if record["strays"] or record["redactions"] or (record["expect"] and size(record["expect"]) > EXPECT_CAP):
        from firsthand.caps import shorten

        record["strays"] = shorten.strays(record["strays"])
        record["redactions"] = shorten.counts(record["redactions"])
        record["expect"] = shorten.expect(record["expect"])
    return record
