"""Make bytes and short texts printable, whatever they hold, the same way in every locale."""

from __future__ import annotations

from firsthand.plain import VISIBLE


def display(raw: bytes | str) -> str:
    r"""Return text for an argument or a path: undecodable bytes as ``\xff``, control characters visible.

    Tab and line feed stay: a ``bash -c`` argument of several lines stays readable.
    """
    return _text(raw).translate(VISIBLE)


def _text(raw: bytes | str) -> str:
    if isinstance(raw, str):
        raw = _bytes(raw)
    return raw.decode("utf-8", "backslashreplace")


def _bytes(text: str) -> bytes:
    """Return the bytes that Python read, in whatever locale."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "".join(map(_shown, text)).encode("utf-8", "surrogateescape")


def _shown(character: str) -> str:
    """Return a surrogate that carries no byte by its number."""
    lone = "\ud800" <= character <= "\udfff" and not "\udc80" <= character <= "\udcff"
    return f"\\u{ord(character):04x}" if lone else character


def is_exact(raw: bytes) -> bool:
    """Tell whether ``display`` shows these bytes so that they can be typed again."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return text == text.translate(VISIBLE)


def one_line(text: str) -> str:
    """Return a note or an error sentence on one line, printable, its edges trimmed."""
    flat = " ".join(part.strip() for part in display(text).split("\n"))
    return flat.replace("\t", " ").strip()
