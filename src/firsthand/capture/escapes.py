"""Terminal sequences, removed; apart, because it needs ``re`` and most streams hold none."""

from __future__ import annotations

import re

_PASSES = 4
"""A removal can join the halves of another sequence; nobody but an attacker nests them deeper."""

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"  # CSI: colours, cursor, modes
    r"|\x1b[]PX^_k][^\x07\x1b\x9c\r\n]*+(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC, screen's title
    r"|\x1b[ -/]++[0-~]"  # character sets and the like
    r"|\x1b[0-~]"  # two characters, or the introducer alone of one that does not end in its line
    r"|\x9b"
)


def remove(text: str) -> str:
    """Return ``text`` without terminal sequences; what is left of ESC stands alone and is no sequence."""
    for _ in range(_PASSES):
        before, text = text, _SEQUENCE.sub("", text)
        if text == before:
            break
    return text
