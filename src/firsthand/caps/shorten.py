"""Cut what is over its cap: texts, argument lists, strays, counts and predictions."""

from __future__ import annotations

from firsthand.caps import (
    ARGUMENT_CHARACTERS,
    COMMAND_ARGUMENTS,
    COMMAND_CAP,
    EXPECT_CAP,
    MEMBER_CHARACTERS,
    MEMBERS_SHOWN,
    PIPESTATUS_CAP,
    REDACTIONS_CAP,
    STRAY_CHARACTERS,
    STRAYS_CAP,
    STRAYS_SHOWN,
    size,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHORTEST_STRAY = 20
"""Characters below which a stray's command is not cut further to meet the cap."""

MARKER_ROOM = len("...truncated 1234567890 characters...")


def text(whole: str, cap: int) -> str:
    """Return a text of at most ``cap`` bytes in JSON, its middle replaced by a marker."""
    low, high = 0, min(len(whole) - 1, cap)
    while low < high:  # the most characters that fit
        keep = (low + high + 1) // 2
        if size(_ends(whole, keep)) <= cap:
            low = keep
        else:
            high = keep - 1
    return _ends(whole, low)


def characters(text: str, limit: int) -> str:
    """Return ``text``, its middle replaced by a marker where it has more than ``limit`` characters."""
    return text if len(text) <= limit else _ends(text, max(0, limit - MARKER_ROOM))


def _ends(text: str, keep: int) -> str:
    """Return the first and the last of ``keep`` characters of ``text`` with the marker between them."""
    tail = keep // 2
    return f"{text[: keep - tail]}...truncated {len(text) - keep} characters...{text[len(text) - tail :]}"


def command(arguments: list[str]) -> list[str]:
    """Return an argv within its caps: long arguments cut in their middle, a long list in its own."""
    words = [characters(argument, ARGUMENT_CHARACTERS) for argument in arguments]
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


def strays(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return at most 20 entries and one that counts the rest, commands shortened to fit."""
    shown = found[:STRAYS_SHOWN]
    if len(found) > STRAYS_SHOWN:
        shown = [*shown, _rest(found[STRAYS_SHOWN:])]
    return _commands_cut(shown, STRAY_CHARACTERS, STRAYS_CAP)


def members(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the members of a pipeline within their cap: the middle of a long one counted, commands cut."""
    shown = found
    if len(found) > MEMBERS_SHOWN:
        head, tail = MEMBERS_SHOWN // 2, MEMBERS_SHOWN - MEMBERS_SHOWN // 2 - 1
        between = f"...truncated {len(found) - head - tail} members..."
        shown = [*found[:head], {"command": between, "exit_code": None}, *found[-tail:]]
    return _commands_cut(shown, MEMBER_CHARACTERS, PIPESTATUS_CAP)


def _commands_cut(entries: list[dict[str, Any]], longest: int, cap: int) -> list[dict[str, Any]]:
    while True:
        cut = [entry | {"command": characters(entry["command"], longest)} for entry in entries]
        if size(cut) <= cap or longest <= SHORTEST_STRAY:
            return cut
        longest = longest * 3 // 4


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


def counts(found: dict[str, int]) -> dict[str, int]:
    """Return redaction counts within their cap; the rules that do not fit are summed under ``other``."""
    shown = dict(sorted(found.items()))
    while size(shown) > REDACTIONS_CAP:
        name = max((key for key in shown if key != "other"), key=len)
        shown["other"] = shown.get("other", 0) + shown.pop(name)
    return shown


def expect(predicted: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a prediction within its cap; only its text can be long."""
    if predicted is None or size(predicted) <= EXPECT_CAP or "contains" not in predicted:
        return predicted
    room = EXPECT_CAP - size(predicted | {"contains": ""}) + 2
    return predicted | {"contains": text(predicted["contains"], room)}
