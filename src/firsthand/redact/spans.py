"""Where the secrets in a text are; apart, because it needs ``re`` and most texts hold none."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from firsthand.redact.rules import Rule

    Span = tuple[int, int, str]

LONG_TOKEN = 20
"""Characters from which a word of letters alone is no word of prose."""

_compiled: dict[str, re.Pattern[str]] = {}


def find(rules: Sequence[Rule], text: str) -> list[Span]:
    """Return start, end and rule name of everything in ``text`` that these rules call secret."""
    return [span for name, _, pattern, kind in rules for span in _spans(name, pattern, kind, text)]


def _spans(name: str, pattern: str, kind: str, text: str) -> Iterator[Span]:
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
