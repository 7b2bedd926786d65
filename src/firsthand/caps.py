"""Cut a record's fields to their caps, so that no stored line ever exceeds 128 KiB."""

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

EXPECT_CAP, REDACTIONS_CAP = 4 * KIB, 4 * KIB

INPUTS_SHOWN = 20
"""``input_command_ids``: more is a usage error."""

SHORTEST_STRAY = 20
"""Characters below which a stray's command is not cut further to meet the cap."""

MARKER_ROOM = len("...truncated 1234567890 characters...")


def size(value: Any) -> int:
    """Return the bytes of a value as written in the record."""
    return len(canonical(value).encode("utf-8", "replace"))


def cut_text(text: str, cap: int) -> str:
    """Return ``text``, its middle replaced by a marker where it takes more than ``cap`` bytes in JSON."""
    if len(text) * 6 + 2 <= cap or size(text) <= cap:
        return text
    low, high = 0, min(len(text) - 1, cap)
    while low < high:  # the most characters that fit
        keep = (low + high + 1) // 2
        if size(_ends(text, keep)) <= cap:
            low = keep
        else:
            high = keep - 1
    return _ends(text, low)


def cut_characters(text: str, limit: int) -> str:
    """Return ``text``, its middle replaced by a marker where it has more than ``limit`` characters."""
    return text if len(text) <= limit else _ends(text, max(0, limit - MARKER_ROOM))


def _ends(text: str, keep: int) -> str:
    """Return the first and the last of ``keep`` characters of ``text`` with the marker between them."""
    tail = keep // 2
    return f"{text[: keep - tail]}...truncated {len(text) - keep} characters...{text[len(text) - tail :]}"


def cut_command(arguments: list[str]) -> list[str]:
    """Return an argv within its caps: long arguments cut in their middle, a long list in its own."""
    words = [cut_characters(argument, ARGUMENT_CHARACTERS) for argument in arguments]
    keep = min(len(words), COMMAND_ARGUMENTS)
    while True:
        shown = _cut_list(words, keep)
        if size(shown) <= COMMAND_CAP or keep <= 1:
            return shown
        keep = keep * 3 // 4


def _cut_list(words: list[str], keep: int) -> list[str]:
    if len(words) <= keep:
        return words
    head = max(1, keep // 2)
    tail = max(0, keep - head - 1)
    left_out = len(words) - head - tail
    return [*words[:head], f"...truncated {left_out} arguments...", *words[len(words) - tail :]]


def cut_strays(strays: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return at most 20 entries and one that counts the rest, commands shortened to fit."""
    shown = strays[:STRAYS_SHOWN]
    if len(strays) > STRAYS_SHOWN:
        shown = [*shown, _rest(strays[STRAYS_SHOWN:])]
    characters = STRAY_CHARACTERS
    while True:
        cut = [entry | {"command": cut_characters(entry["command"], characters)} for entry in shown]
        if size(cut) <= STRAYS_CAP or characters <= SHORTEST_STRAY:
            return cut
        characters = characters * 3 // 4


def _rest(strays: list[dict[str, Any]]) -> dict[str, Any]:
    worst = min((entry["action"] for entry in strays), key=["left", "kept", "stopped"].index)
    command = f"and {len(strays)} more"
    return {
        "pid": None,
        "start": None,
        "command": command,
        "action": worst,
        "reason": "not listed one by one",
    }


def cut_counts(counts: dict[str, int]) -> dict[str, int]:
    """Return redaction counts within their cap; the rules that do not fit are summed under ``other``."""
    shown = dict(sorted(counts.items()))
    while size(shown) > REDACTIONS_CAP:
        name = max((key for key in shown if key != "other"), key=len)
        shown["other"] = shown.get("other", 0) + shown.pop(name)
    return shown


def cut_expect(expect: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a prediction within its cap; only its text can be long."""
    if expect is None or size(expect) <= EXPECT_CAP or "contains" not in expect:
        return expect
    room = EXPECT_CAP - size(expect | {"contains": ""}) + 2
    return expect | {"contains": cut_text(expect["contains"], room)}


def fit(record: Record) -> Record:
    """Cut every field of ``record`` to its cap, in place, and return it."""
    for key, cap in TEXT_CAPS.items():
        if record[key] is not None:
            record[key] = cut_text(record[key], cap)
    record["strays"] = cut_strays(record["strays"])
    record["redactions"] = cut_counts(record["redactions"])
    record["expect"] = cut_expect(record["expect"])
    return record
