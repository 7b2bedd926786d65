"""Find secrets in text and replace each by ``[REDACTED:rule#n]``."""

from __future__ import annotations

from firsthand.redact.rules import RULES
from firsthand.redact.text import display

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    Span = tuple[int, int, str]

LONG_TOKEN = 20
"""Characters from which a word of letters alone is no word of prose."""

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
        spans = [
            span
            for name, literals, pattern, kind in RULES
            if any(literal in folded for literal in literals)
            for span in _spans(name, pattern, kind, text)
        ]
        return self._hide(text, spans) if spans else text

    def raw(self, raw: bytes | str) -> str:
        """Return printable, redacted text for an argument or a path."""
        return self.text(display(raw))

    def _hide(self, text: str, spans: list[Span]) -> str:
        """Replace the spans, in the order in which they stand; of two that overlap the first goes on."""
        parts, done = [], 0
        for begin, end, name in sorted(spans):
            if end <= done:
                continue
            start = max(begin, done)
            number = self.order.setdefault(text[start:end], len(self.order) + 1)
            self.counts[name] = self.counts.get(name, 0) + 1
            parts += [text[done:start], f"[REDACTED:{name}#{number}]"]
            done = end
        return "".join([*parts, text[done:]])


def _spans(name: str, pattern: str, kind: str, text: str) -> Iterator[Span]:
    import re

    if name not in _compiled:
        _compiled[name] = re.compile(pattern)
    marker = re.compile(r"\[REDACTED:[a-z-]+#\d+\]")
    for match in _compiled[name].finditer(text):
        if kind == "whole":
            yield match.start(), match.end(), name
            continue
        start, end = (_token if kind == "token" else _assigned)(text, match.end())
        if start < end and not marker.fullmatch(text, start, end):
            yield start, end, name


def _token(text: str, start: int) -> tuple[int, int]:
    """Return the word at ``start``, or nothing where it is prose (``no bearer token is available``)."""
    end = start
    while end < len(text) and text[end] not in " \t\n\"'<>,;":
        end += 1
    word = text[start:end].rstrip("\\)")
    plain = word.isalpha() and (word.islower() or word.istitle()) and len(word) < LONG_TOKEN
    return start, start if plain or not word or word == "realm=" else start + len(word)


def _assigned(text: str, start: int) -> tuple[int, int]:
    """Return the value at ``start``: to its closing quote where that ends it, else to the end of the line.

    An unquoted pass phrase may hold blanks, ``&`` and whatever else, and what looks like the next
    assignment may belong to it: a value that cannot be delimited takes the rest of its line.
    """
    stop = text.find("\n", start)
    stop = len(text) if stop < 0 else stop
    while start < stop and text[start] in " \t":
        start += 1
    first = start
    while start < stop and text[start] == "\\":
        start += 1
    quote = text[first : start + 1]
    if quote[-1:] in ('"', "'"):
        close = text.find(quote, start + 1, stop)
        following = text[close + len(quote) : close + len(quote) + 1]
        if close > start + 1 and text[close - 1] != "\\" and following in ("", *" \t\n,;)}]&|<>\"'"):
            return start + 1, close
    while stop > first and text[stop - 1] in " \t\r":
        stop -= 1
    return first, stop


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
