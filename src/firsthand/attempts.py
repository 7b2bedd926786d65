"""Retry chains: which record is another attempt at the same thing, told from ``parent_command_id`` alone."""

from __future__ import annotations

from firsthand.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Chain:
    """All attempts that hang together, oldest first, and their numbers from 1.

    Two retries of one attempt are both in it, so a number says when an attempt was made, and its
    ``parent_command_id`` which one it retries.
    """

    __slots__ = ("attempts", "numbers")

    def __init__(self, attempts: list[Record]) -> None:
        self.attempts = attempts
        self.numbers = {record["command_id"]: number for number, record in enumerate(attempts, 1)}

    def success_after(self, number: int) -> Record | None:
        """Return the first attempt after this one that ended with exit code 0; null is never success."""
        return next((record for record in self.attempts[number:] if record["exit_code"] == 0), None)

    def missing(self) -> list[str]:
        """Return the ids that an attempt names as its parent and that no record given to us has."""
        parents = dict.fromkeys(record["parent_command_id"] for record in self.attempts)
        return [parent for parent in parents if parent and parent not in self.numbers]


class Chains:
    """The retry chains of a store; ``records`` in the order of the store, each chain is made once."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = {record["command_id"]: record for record in records}
        self._retries: dict[str, list[str]] = {}
        for command_id, record in self.records.items():
            if record["parent_command_id"]:
                self._retries.setdefault(record["parent_command_id"], []).append(command_id)
        self._order = {command_id: position for position, command_id in enumerate(self.records)}
        self._made: dict[str, Chain] = {}

    def of(self, command_id: str) -> Chain:
        """Return the chain that a record belongs to; one without parent and retries is a chain of its own."""
        if command_id not in self._made:
            members = self._below(self._top(command_id))
            chain = Chain([self.records[each] for each in sorted(members, key=self._order.__getitem__)])
            self._made.update(dict.fromkeys(members, chain))
        return self._made[command_id]

    def _top(self, command_id: str) -> str:
        """Climb to the oldest id, which may be that of a missing record; in a cycle every id is as good."""
        seen: set[str] = set()
        while command_id not in seen:
            seen.add(command_id)
            record = self.records.get(command_id)
            command_id = (record and record["parent_command_id"]) or command_id
        return command_id

    def _below(self, top: str) -> set[str]:
        found: set[str] = set()
        waiting = [top]
        while waiting:
            command_id = waiting.pop()
            if command_id not in found:
                found.add(command_id)
                waiting += self._retries.get(command_id, [])
        return found & self.records.keys()


def failed(record: Record) -> bool:
    """Tell whether a record is anything but exit code 0; null is never success."""
    return bool(record["exit_code"] != 0)
