"""Redaction rules: a name, literals of which one must occur, where a secret may begin, and how it ends.

The literals are compared in lower case and stand before everything else: the run path imports ``re`` only
when one of them occurs. A pattern only finds the beginning, or a secret of one alphabet, so no line can
make it run for long; the end is found by ``engine`` in one pass.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Rule = tuple[str, tuple[str, ...], str, Literal["whole", "assigned", "token"]]

RULES: tuple[Rule, ...] = (
    # name in the marker, literals, pattern, what is secret
    ("bearer", ("bearer ",), r"(?i)\bbearer[ \t]+[\\]*[\"'<(]?", "token"),
    ("password", ("password=",), r"(?i)password=", "assigned"),
    ("api-key", ("api_key=", "api-key=", "apikey="), r"(?i)api[_-]?key=", "assigned"),
    ("aws-access-key", ("akia",), r"AKIA[0-9A-Z]{16}", "whole"),
    ("slack-token", ("xox",), r"xox[baprs]-[0-9A-Za-z-]+", "whole"),
)
"""``whole``: what the pattern matches. ``assigned``: the value behind it. ``token``: the word behind it."""
