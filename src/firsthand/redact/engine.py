"""Find secrets in text and replace each by ``[REDACTED:rule#n]``."""

from __future__ import annotations

from firsthand.redact.rules import RULES
from firsthand.redact.text import display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from firsthand.redact.spans import Span


class Redactor:
    """Redacts the fields of one record.

    ``n`` in the marker is the order in which a value first appeared in the record: equality can be seen,
    nothing is derived from the secret. ``counts`` says how often each rule has hidden something. ``after`` so
    many numbers were given in that record already, to values that are not known any more.
    """

    __slots__ = ("after", "counts", "order")

    def __init__(self, after: int = 0) -> None:
        self.after = after
        self.counts: dict[str, int] = {}
        self.order: dict[str, int] = {}

    def copy(self) -> Redactor:
        """Return one that has seen the same, to make a record from the same start again."""
        other = Redactor(self.after)
        other.counts, other.order = dict(self.counts), dict(self.order)
        return other

    def text(self, text: str) -> str:
        """Return ``text`` with every secret replaced."""
        folded = text.lower()
        rules = [rule for rule in RULES if any(literal in folded for literal in rule[1])]
        if not rules:
            return text
        from firsthand.redact import spans

        return self._hide(text, spans.find(rules, text))

    def raw(self, raw: bytes | str) -> str:
        """Return printable, redacted text for an argument or a path."""
        return self.text(display(raw))

    def command(self, words: Iterable[bytes | str]) -> str:
        """Return an argv on one line, printable and redacted."""
        return " ".join(map(self.raw, words)).replace("\n", "\u2424")

    def _hide(self, text: str, spans: list[Span]) -> str:
        """Replace the spans, in the order in which they stand; of two that overlap the first goes on."""
        parts, done = [], 0
        for begin, end, name in sorted(spans):
            if end <= done:
                continue
            start = max(begin, done)
            number = self.order.setdefault(text[start:end], self.after + len(self.order) + 1)
            self.counts[name] = self.counts.get(name, 0) + 1
            parts += [text[done:start], f"[REDACTED:{name}#{number}]"]
            done = end
        return "".join([*parts, text[done:]])


def redact_text(text: str) -> tuple[str, dict[str, int]]:
    """Return ``text`` with every secret replaced by ``[REDACTED:rule#n]``, and how often each rule did so.

    >>> redact_text("login password=" + "hunter2")
    ('login password=[REDACTED:password#1]', {'password': 1})

    Raises:
        UsageError: it is no text.
    """
    if not isinstance(text, str):
        from firsthand.errors import UsageError

        raise UsageError(f"redact_text got {type(text).__name__}, not a text", "decode bytes first")
    redactor = Redactor()
    return redactor.text(text), redactor.counts
