"""What tests of the reading verbs share: records put into the store of a command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.programs.store_sample import sample

from firsthand.store.append import Store
from firsthand.store.place import Place

if TYPE_CHECKING:
    from tests.support.cli import CommandLine

    from firsthand.record import Record

STARTED = "2026-11-30T08:31:58.042Z"


def stored(cli: CommandLine, number: int, **changes: Any) -> Record:
    """Store a record of ``make`` with an id that ends in this number, and return it."""
    usual: dict[str, Any] = {"command": ["make"], "started_at": STARTED, "duration_ms": 840}
    record = sample(command_id=name(number), **(usual | changes))
    return Store(Place(str(cli.tmp), str(cli.store))).append(record)


def name(number: int) -> str:
    return f"01a22bc1-e22e-7376-a95e-{number:012}"


def short(text: str) -> str:
    """Return output with ``#7`` in place of such an id."""
    return text.replace("01a22bc1-e22e-7376-a95e-00000000000", "#")
