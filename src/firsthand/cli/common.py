"""What the reading verbs share: their argument parser, their way to the store, and honest counts."""

from __future__ import annotations

import argparse
import os

from firsthand.cli import say
from firsthand.errors import StoreError, UsageError
from firsthand.record import Record
from firsthand.store import adoption, place
from firsthand.store.readers import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from firsthand.store.place import Place


SHARED = ("project", "json", "help")
"""Options that most verbs have; they stand last in a help text."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are ours: one ``error:`` and one ``hint:`` line.

    ``table`` has every argument in the order in which help and completions show them.
    """

    def __init__(self, verb: str, description: str, epilog: str = "", *, reads: bool = True) -> None:
        self._arguments: list[argparse.Action] = []
        super().__init__(
            prog=f"firsthand {verb}",
            description=description,
            epilog=epilog,
            add_help=False,
            allow_abbrev=False,
        )
        self.verb = verb
        if reads:
            self.add_argument(
                "--project", metavar="DIR", help="whose store to read (default: the project around here)"
            )
            self.add_argument("--json", action="store_true", help="print JSON, one object a line")
        self.add_argument("-h", "--help", action="help", help="print this text")

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """Add one argument and remember it for ``table``."""
        action = super().add_argument(*names, **settings)
        self._arguments.append(action)
        return action

    @property
    def table(self) -> list[argparse.Action]:
        """Every argument, those that most verbs share last."""
        return sorted(
            self._arguments, key=lambda action: SHARED.index(action.dest) if action.dest in SHARED else -1
        )

    def format_help(self) -> str:
        """Return the text of ``--help``."""
        from firsthand.cli import manual

        return manual.text_of(self)

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, f"firsthand {self.verb} --help")


def find_place(project: str | None) -> Place:
    try:
        here = os.getcwd()
    except FileNotFoundError:
        raise StoreError("the current folder was deleted", "go to a folder that exists") from None
    return place.find_place(here, project)


def open_store(project: str | None) -> Reader:
    """Return a reader; runs that died unrecorded are adopted first, or at least shown."""
    return adoption.reader(find_place(project))


def report_skipped(reader: Reader) -> None:
    """Say on stderr how many lines could not be read."""
    if reader.skipped:
        say.note(f"{count(reader.skipped, 'bad line')} skipped: not a record; firsthand verify tells more")
    if reader.newer:
        say.note(f"{count(reader.newer, 'line')} skipped: written by a newer firsthand; upgrade to read them")


def count(number: int, what: str) -> str:
    """Return ``1 record`` or ``2 records``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def wanted(reader: Reader, text: str | None) -> Record | None:
    """Return the record with this id or unique beginning; without one the newest.

    Raises:
        UsageError: there is no such record.
    """
    if text is None:
        newest = reader.last(1)
        return newest[0] if newest else None
    return found(reader, text)


def found(reader: Reader, text: str) -> Record:
    """Return the record with this id or unique beginning.

    Raises:
        UsageError: there is no such record.
    """
    record = reader.find(text)
    if record is None:
        raise UsageError(f"no record {text}", "firsthand last shows them")
    return record
