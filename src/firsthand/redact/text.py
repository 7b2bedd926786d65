"""Make bytes and short texts printable, whatever they hold, the same way in every locale."""

from __future__ import annotations

ESCAPED = {number: chr(0x2400 + number) for number in range(0x20)} | {0x7F: "\u2421"}
"""Control characters as their visible Unicode pictures, NUL as U+2400."""

_VISIBLE = str.maketrans(ESCAPED | {number: f"\\x{number:02x}" for number in range(0x80, 0xA0)})
_VISIBLE_TEXT = {key: value for key, value in _VISIBLE.items() if key not in (0x09, 0x0A)}


def display(raw: bytes | str) -> str:
    r"""Return text for an argument or a path: undecodable bytes as ``\xff``, control characters visible.

    Tab and line feed stay: a ``bash -c`` argument of several lines stays readable.
    """
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogateescape" if not _has_other_surrogates(raw) else "backslashreplace")
    return raw.decode("utf-8", "backslashreplace").translate(_VISIBLE_TEXT)


def is_exact(raw: bytes) -> bool:
    """Tell whether ``display`` shows these bytes so that they can be typed again."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return text == text.translate(_VISIBLE_TEXT)


def one_line(text: str) -> str:
    """Return a note or an error sentence on one line: every control character visible, edges trimmed."""
    flat = " ".join(part.strip() for part in text.strip().split("\n"))
    return display(flat).translate(_VISIBLE).strip()


def _has_other_surrogates(text: str) -> bool:
    return any(
        "\ud800" <= character <= "\udfff" and not "\udc80" <= character <= "\udcff" for character in text
    )
