"""The text of ``--help``, made of a verb's table of arguments.

argparse's own differs between Python versions and terminals; this one is also what docs/cli.md shows.
"""

from __future__ import annotations

import textwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Action
    from collections.abc import Sequence

    from firsthand.cli.common import Parser

WIDTH = 100
"""Columns of a help text, whatever the terminal has."""

GLUE = "\0"
"""Stands for the blank between an option and its value, where no line may break."""


def text_of(parser: Parser) -> str:
    """Return usage, description, arguments, and what the verb says at the end."""
    blocks = [_usage(parser), parser.description or "", _rows(parser.table), parser.epilog or ""]
    return "\n\n".join(filter(None, blocks)) + "\n"


def value_of(action: Action) -> str:
    """Return how the value of an argument is called, nothing for a flag."""
    if action.nargs == 0:
        return ""
    return str(action.metavar or "|".join(map(str, action.choices or ())))


def _usage(parser: Parser) -> str:
    first = f"usage: {parser.prog} "
    words = [_in_usage(action).replace(" ", GLUE) for action in parser.table if action.dest != "help"]
    lines = textwrap.wrap(
        " ".join(words),
        WIDTH,
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace(GLUE, " ") or first.rstrip()


def _rows(table: Sequence[Action]) -> str:
    indent = max(len(_shown(action)) for action in table) + 4
    return "\n".join(
        textwrap.fill(
            action.help or "",
            WIDTH,
            initial_indent=f"  {_shown(action)}".ljust(indent),
            subsequent_indent=" " * indent,
        )
        for action in table
    )


def _shown(action: Action) -> str:
    return f"{', '.join(action.option_strings)} {value_of(action)}".strip()


def _in_usage(action: Action) -> str:
    optional = action.option_strings or action.nargs == "?"
    return f"[{_shown(action)}]" if optional else _shown(action)
