"""Find secrets in text and replace each by ``[REDACTED:rule#n]``."""

from __future__ import annotations

from firsthand.redact.rules import RULES
from firsthand.redact.text import display

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_compiled: dict[str, re.Pattern[str]] = {}


class Redactor:
    """Redacts the fields of one record.

    ``n`` in the marker is the order in which a value first appeared in the record: equality can be seen,
    nothing is derived from the secret. ``counts`` says how often each rule has hidden something.
    """

    __slots__ = ("counts", "order")

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.order: dict[str, int] = {}

    def copy(self) -> Redactor:
        """Return one that has seen the same, to make a record from the same start again."""
        other = Redactor()
        other.counts, other.order = dict(self.counts), dict(self.order)
        return other

    def text(self, text: str) -> str:
        """Return ``text`` with every secret replaced."""
        folded = text.lower()
        for name, literals, pattern in RULES:
            if any(literal in folded for literal in literals):
                text = self._apply(name, pattern, text)
        return text

    def raw(self, raw: bytes | str) -> str:
        """Return printable, redacted text for an argument or a path."""
        return self.text(display(raw))

    def _apply(self, name: str, pattern: str, text: str) -> str:
        if name not in _compiled:
            import re

            _compiled[name] = re.compile(pattern, re.MULTILINE)
        return _compiled[name].sub(lambda match: self._hide(name, match), text)

    def _hide(self, name: str, match: re.Match[str]) -> str:
        group = next(key for key, value in match.groupdict().items() if value is not None)
        secret = match[group]
        if secret.startswith("[REDACTED:"):
            return match[0]
        number = self.order.setdefault(secret, len(self.order) + 1)
        self.counts[name] = self.counts.get(name, 0) + 1
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        return f"{match[0][:start]}[REDACTED:{name}#{number}]{match[0][end:]}"


def redact_text(text: str) -> tuple[str, dict[str, int]]:
    """Return ``text`` with every secret replaced by ``[REDACTED:rule#n]``, and how often each rule did so.

    >>> redact_text("login password=" + "hunter2")
    ('login password=[REDACTED:password#1]', {'password': 1})
    """
    redactor = Redactor()
    return redactor.text(text), redactor.counts
