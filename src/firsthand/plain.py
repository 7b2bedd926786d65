"""How characters that must not stand in a kept text are shown: one table for streams, arguments and notes."""

from __future__ import annotations

INVISIBLE = (
    0xAD,
    0xFEFF,
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2065),
    *range(0x2066, 0x206A),
)
"""Zero-width and bidi format characters: they are taken out, for they would break up a secret."""

VISIBLE: dict[int, str] = dict.fromkeys(INVISIBLE, "")
"""For ``str.translate``: what is invisible goes, control characters but tab and line feed become visible."""
VISIBLE.update({code: chr(0x2400 + code) for code in range(0x20) if code not in b"\t\n"})
VISIBLE[0x7F] = "\u2421"
VISIBLE.update({code: f"\\x{code:02x}" for code in range(0x80, 0xA0)})
