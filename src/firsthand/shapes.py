"""What the values of a stored record must be: another program may have made it, readers rely on them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LARGEST = (1 << 53) - 1
"""The largest integer that every JSON reader keeps exact."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST


def _is_code(value: Any) -> bool:
    return type(value) is int and -LARGEST <= value <= LARGEST


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_counts(value: Any) -> bool:
    return isinstance(value, dict) and all(each is None or _is_count(each) for each in value.values())


def _are_strays(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and all(_is_text(each.get(key)) for key in ("command", "action", "reason"))
        for each in value
    )


def _are_members(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, dict) and _is_text(each.get("command")) for each in value
    )


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


ALWAYS: dict[str, Callable[[Any], bool]] = {
    "command_id": _is_text,
    "started_at": _is_text,
    "command": _are_texts,
    "cwd": _is_text,
    "stdout_tail": _is_text,
    "stderr_tail": _is_text,
    "input_command_ids": _are_texts,
    "strays": _are_strays,
    "redactions": _are_counts,
    "truncations": _are_counts,
    "bytes": _are_counts,
}
"""Keys that are never null."""

ELSE_NULL: dict[str, Callable[[Any], bool]] = {
    "parent_command_id": _is_text,
    "session_id": _is_text,
    "seq": _is_count,
    "duration_ms": _is_count,
    "exit_code": _is_code,
    "error": _is_text,
    "error_detail": _is_text,
    "agent_note": _is_text,
    "kept_output": _is_table,
    "pipestatus": _are_members,
    "log_error": _is_text,
}


def wrong_key(record: dict[str, Any]) -> str | None:
    """Return the first key whose value no reader could use, or None."""
    for key, fits in (ALWAYS | ELSE_NULL).items():
        null_is_fine = record[key] is None and key in ELSE_NULL
        if not null_is_fine and not fits(record[key]):
            return key
    return None
