"""Reading records back: bad lines are skipped and counted, and no list grows without a bound."""

from __future__ import annotations

from firsthand.errors import RecordFormatError, UsageError
from firsthand.record import SCHEMA, Record, decode
from firsthand.shapes import wrong_key
from firsthand.store import outputs
from firsthand.store.links import field
from firsthand.store.snapshot import Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from firsthand.store.place import Place
    from firsthand.store.snapshot import OpenFile

LAST = 20
"""Records that :meth:`Reader.last` returns by default."""

PREFIX_LEAST = 4
"""Characters of an id that must be given; fewer are a slip of the finger."""

_FAMILY = SCHEMA.rpartition("/")[0].encode()


class Reader:
    """Reads the records of one place; a store that is missing is empty.

    ``skipped`` and ``newer`` count the bad lines and the lines of a newer schema in the files read so far.
    ``orphans`` are null records of dead runs that nobody could store yet (see ``adoption``): they count as
    the newest of all.

    Raises:
        StoreError: the store or a file of it is a link or foreign, or may not be read.
    """

    def __init__(self, place: Place) -> None:
        self.place = place
        self.orphans: list[Record] = []
        self._counts: dict[int, tuple[int, int]] = {}
        with Snapshot(place):
            pass

    @property
    def skipped(self) -> int:
        """Lines that are no record, each counted once."""
        return sum(bad for bad, _ in self._counts.values())

    @property
    def newer(self) -> int:
        """Lines that a newer firsthand wrote, each counted once."""
        return sum(newer for _, newer in self._counts.values())

    def last(
        self, n: int = LAST, *, session: str | None = None, where: Callable[[Record], bool] | None = None
    ) -> list[Record]:
        """Return the newest ``n`` records, the newest last; of one session, and where ``where`` is true.

        The live file is read whole, older ones only until ``n`` are found.

        Raises:
            UsageError: ``n`` is negative.
        """
        if n < 0:
            raise UsageError(f"-n {n} asks for less than nothing", "give a number from 0")
        found = [each for each in reversed(self.orphans) if _matches(each, session, where)][:n]
        with Snapshot(self.place) as store:
            for file in store.files:
                if len(found) >= n:
                    break
                for record in reversed(self._records(file)):
                    if len(found) < n and _matches(record, session, where):
                        found.append(record)
        return found[::-1]

    def all(self) -> Iterator[Record]:
        """Yield every record of all six files as they are now, oldest first, one file in memory at a time."""
        with Snapshot(self.place) as store:
            for file in reversed(store.files):
                yield from self._records(file)
        yield from self.orphans

    def find(self, command_id: str) -> Record | None:
        """Return the record of this id, or of the one id that begins so; ``None`` without one.

        Raises:
            UsageError: the prefix is shorter than ``PREFIX_LEAST``, or several ids begin so.
        """
        wanted = command_id.lower()
        if len(wanted) < PREFIX_LEAST:
            raise UsageError(
                f"{command_id!r} is too short for an id", f"give {PREFIX_LEAST} characters or more"
            )
        mark = b'"command_id":"%b' % wanted.encode("utf-8", "replace")
        found = {each["command_id"]: each for each in self.orphans if each["command_id"].startswith(wanted)}
        with Snapshot(self.place) as store:
            for file in store.files:
                for line in reversed(file.lines(mark)):
                    record = _decoded(line) if mark in line else None
                    if record is not None and str(record["command_id"]).startswith(wanted):
                        found.setdefault(str(record["command_id"]), record)
        if len(found) > 1:
            some = ", ".join(sorted(found)[:3])
            raise UsageError(f"{len(found)} ids begin with {command_id}", f"give more of it, as in: {some}")
        return next(iter(found.values()), None)

    def output(self, record: Record) -> dict[str, Any] | None:
        """Return the kept output of a record; ``None`` where none was kept, or it was dropped as the oldest.

        Raises:
            StoreError: it is not what the record says, by its SHA-256.
        """
        data = outputs.read(self.place, record)
        if data is None:
            return None
        import json

        content: dict[str, Any] = json.loads(data)
        return content

    def _records(self, file: OpenFile) -> list[Record]:
        lines = file.lines()
        records = []
        newer = 0
        for line in lines:
            record = _decoded(line)
            if record is not None:
                records.append(record)
            elif is_newer(line):
                newer += 1
        self._counts[file.inode] = (len(lines) - len(records) - newer, newer)
        return records


def is_newer(line: bytes) -> bool:
    """Say whether a line that cannot be decoded is of a schema that came after ours."""
    schema = (field(line, b"schema") or b"").strip(b'"')
    family, _, version = schema.rpartition(b"/")
    return family == _FAMILY and version.isdigit() and line[-1:] == b"}" and schema != SCHEMA.encode()


def _decoded(line: bytes) -> Record | None:
    """Return the record of a line; None also where no reader could use its values."""
    try:
        record = decode(line)
    except RecordFormatError:
        return None
    return None if wrong_key(record) else record


def _matches(record: Record, session: str | None, where: Callable[[Record], bool] | None) -> bool:
    return (session is None or record["session_id"] == session) and (where is None or where(record))
