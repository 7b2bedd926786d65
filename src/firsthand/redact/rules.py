"""Redaction rules: a name, literals of which one must occur, and a pattern whose ``secret`` group is hidden.

Every quantifier is bounded, so that no line can make a pattern run for long. The literals are compared
in lower case and stand before the pattern: the run path imports ``re`` only when one of them occurs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    class Rule(NamedTuple):
        """``name`` appears in the marker ``[REDACTED:name#n]`` and in ``redactions``."""

        name: str
        literals: tuple[str, ...]
        pattern: str


_QUOTED_OR_REST = (
    r"""(?:"(?P<q>[^"\n]{1,262144})"|'(?P<a>[^'\n]{1,262144})'"""
    r"""|(?P<u>[^\s"'&][^\n"'&]{0,262144}?)(?=[ \t]{1,8}[\w.-]{1,64}[=:]|["'&\n]|$))"""
)
"""A value in quotes up to the closing one, else up to the next ``name=``, ``&``, quote or the line's end.
An unquoted pass phrase may hold blanks. The bound is above any window of a stream."""

RULES: tuple[Rule, ...] = (
    (
        "bearer",
        ("bearer ",),
        (
            r"(?i)\bbearer[ \t]{1,8}"
            r"(?P<secret>(?=[^\s\"',;]{0,200}[0-9A-Z_~+/=-])[A-Za-z0-9._~+/=:|-]{8,262144})"
        ),
    ),
    ("password", ("password=",), r"(?i)password=" + _QUOTED_OR_REST),
    ("api-key", ("api_key=", "api-key=", "apikey="), r"(?i)api[_-]?key=" + _QUOTED_OR_REST),
    ("aws-access-key", ("akia",), r"(?P<secret>AKIA[0-9A-Z]{16})"),
    ("slack-token", ("xox",), r"(?P<secret>xox[baprs]-[0-9A-Za-z-]{1,262144})"),
)  # type: ignore[assignment]  # plain tuples: NamedTuple costs 2 ms of start-up
