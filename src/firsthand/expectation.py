"""A prediction that a machine can check: its form, and whether it was met."""

from __future__ import annotations

from firsthand.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

KEYS = ("contains", "exit_code")

MOST_CODES = 64
"""Exit codes in one prediction; more predicts nothing."""

FORM = 'give a text, or {"exit_code": [0], "contains": "12 passed"}'


def normal(expect: Mapping[str, Any] | str | None) -> dict[str, Any] | None:
    """Return a prediction as the record holds it: ``{"contains": text, "exit_code": [codes]}``.

    Raises:
        UsageError: an unknown key, a wrong type, or nothing predicted.
    """
    if expect is None:
        return None
    if isinstance(expect, str):
        expect = {"contains": expect}
    unknown = sorted(set(expect) - set(KEYS))
    if unknown or not expect:
        raise UsageError(f"expect has no key {unknown[0]!r}" if unknown else "expect is empty", FORM)
    result: dict[str, Any] = {}
    if "contains" in expect:
        result["contains"] = _text(expect["contains"])
    if "exit_code" in expect:
        result["exit_code"] = _codes(expect["exit_code"])
    return result


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise UsageError("expect: contains is not a text", FORM)
    return value


def _codes(value: Any) -> list[int]:
    codes = [value] if isinstance(value, int) else list(value)
    if (
        not codes
        or len(codes) > MOST_CODES
        or not all(type(code) is int and 0 <= code <= 255 for code in codes)
    ):
        raise UsageError("expect: exit_code is not a list of codes from 0 to 255", FORM)
    return sorted(set(codes))


OUR_WORDS = r"\.\.\.truncated \d+ (?:lines|characters)\.\.\.|\[REDACTED:[a-z-]+#\d+\]"
"""What firsthand itself writes into a kept text; it fulfils no prediction."""


def met(
    expect: dict[str, Any], shown: dict[str, Any], exit_code: int | None, texts: Sequence[str], cut: bool
) -> bool | None:
    """Tell whether a prediction came true; None where its text may stand in what was cut or hidden.

    ``expect`` is the prediction as it was made, ``shown`` as the record holds it, redacted.
    """
    if "exit_code" in expect and exit_code not in expect["exit_code"]:
        return False
    if "contains" not in expect:
        return True
    import re

    if any(expect["contains"] in re.sub(OUR_WORDS, "\0", text) for text in texts):
        return True
    hidden = shown["contains"] != expect["contains"]
    if hidden and any(shown["contains"] in text for text in texts):
        return True
    return None if cut or hidden else False
