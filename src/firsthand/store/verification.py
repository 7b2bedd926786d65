"""``verify``: whether the files still hold what was written, and whether they end where they should."""

from __future__ import annotations

from firsthand.errors import RecordFormatError, StoreError
from firsthand.procfs import boot_id
from firsthand.record import GENESIS_HASH, decode
from firsthand.store import outputs
from firsthand.store.chain import digest
from firsthand.store.files import LIVE_NAME, ROTATED_NAMES
from firsthand.store.gaps import other_boot
from firsthand.store.head import HEAD_NAME
from firsthand.store.links import field, is_intact, links
from firsthand.store.readers import is_newer
from firsthand.store.snapshot import READ_MOST, Snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from firsthand.store.place import Place
    from firsthand.store.snapshot import OpenFile

    Status = Literal["empty", "intact", "healed", "unknown", "cut_off", "broken"]

SEVERITY: tuple[Status, ...] = ("intact", "healed", "unknown", "cut_off", "broken")
"""What was found last stands only if it is worse than what was found before."""

OK = {"intact": True, "healed": True, "cut_off": False, "broken": False}
"""The statuses that answer yes or no; the others cannot tell."""


class Verification:
    """What ``verify`` found.

    ``status``: ``intact``; ``healed`` (a writer died between its two writes, nothing is missing);
    ``unknown`` (cannot tell, as after a power loss); ``cut_off`` (the newest records of some moment are
    missing); ``broken`` (bytes were changed, removed or put in); ``empty`` (no record was ever here).
    ``ok``: true for the first two, false for ``cut_off`` and ``broken``, else ``None``.
    ``records``: how many whole records there are. ``first_bad``: ``(file, line number from 1 or 0 for the
    file as a whole, reason)`` of the oldest change, or ``None``. ``notes``: sentences on what is worth
    knowing and no change: torn fragments, gaps, files rotated away, kept outputs that are gone.
    """

    __slots__ = ("first_bad", "notes", "records", "status")

    def __init__(self) -> None:
        self.status: Status = "intact"
        self.records = 0
        self.first_bad: tuple[str, int, str] | None = None
        self.notes: list[str] = []

    @property
    def ok(self) -> bool | None:
        """Whether the store is as it was written; ``None`` where that cannot be told."""
        return OK.get(self.status)

    def found(self, status: Status, note: str) -> None:
        """Take up a status that is no change of bytes, with a sentence about it."""
        if SEVERITY.index(status) > SEVERITY.index(self.status):
            self.status = status
        self.notes.append(note)

    def bad(self, file: str, line: int, reason: str) -> None:
        """Take up a change; the first one is named."""
        self.status = "broken"
        if self.first_bad is None:
            self.first_bad = (file, line, reason)


def verify(place: Place) -> Verification:
    """Check every byte of the records, the links between them, where they end, and the kept outputs.

    It shows accidental or clumsy change only: who may write the files can forge them.

    Raises:
        StoreError: the store or a file of it is a link or foreign, or may not be read.
    """
    with Snapshot(place) as store:
        walk = _Walk(place, store)
        for file in reversed(store.files):
            walk.file(file)
        walk.end()
    return walk.result


class _Walk:
    """One pass over the lines, oldest first; ``seq`` and ``hash`` are those of the record before."""

    def __init__(self, place: Place, store: Snapshot) -> None:
        self.place = place
        self.store = store
        self.names = {file.name for file in store.files}
        self.result = Verification()
        self.seq = 0
        self.hash = GENESIS_HASH
        self.before_last = GENESIS_HASH
        self.pending: list[tuple[str, int, bytes]] = []
        self.fragments = self.outputs_gone = self.newer = 0

    def file(self, file: OpenFile) -> None:
        if file.size > READ_MOST:
            self.result.bad(file.name, 0, "it is larger than this store ever writes")
        for number, line in enumerate(file.lines(), 1):
            found = links(line)
            if found is not None and is_intact(line):
                self._record(file.name, number, line, found)
            else:
                self.pending.append((file.name, number, line))

    def end(self) -> None:
        self._end_of_lines()
        self._compare_with_head()
        self._summary()

    def _record(self, name: str, number: int, line: bytes, found: tuple[int, str, str]) -> None:
        seq, prev_hash, own_hash = found
        first = not self.result.records
        excused = first and prev_hash != GENESIS_HASH and self._rotated_away(seq)
        self._fragments(name, number, line, excused=excused)
        if not excused and (seq, prev_hash) != (self.seq + 1, self.hash):
            self._break(name, number, seq)
        self._content(name, number, line)
        self.result.records += 1
        self.seq, self.hash, self.before_last = seq, own_hash, prev_hash

    def _rotated_away(self, seq: int) -> bool:
        missing = [name for name in ROTATED_NAMES if name not in self.names]
        if not missing:
            self.result.notes.append(f"The records before number {seq} were rotated away.")
            return True
        if len(missing) == 1 and missing[0] != ROTATED_NAMES[-1]:
            self.result.found(
                "unknown", f"{missing[0]} is missing, as after a crash while files were renamed."
            )
            return True
        return False

    def _fragments(self, name: str, number: int, line: bytes, *, excused: bool) -> None:
        torn = field(line, b"torn")
        pending, self.pending = self.pending, []
        # The record that names a fragment may be in another file than the fragment's beginning.
        if pending and (excused or _covers(torn, [fragment for _, _, fragment in pending])):
            self.fragments += len(pending)
        elif pending:
            file, at, fragment = pending[0]
            self.result.bad(file, at, _why_bad(fragment))
        elif torn not in {None, b"null"} and not excused:
            self.result.bad(name, number, "the torn fragment that it names is gone")

    def _break(self, name: str, number: int, seq: int) -> None:
        power_lost = self.store.gaps.get((self.seq, seq - 1))
        if power_lost is None:
            self.result.bad(name, number, _why_unlinked(self.seq, seq))
            return
        lost = f"Between records {self.seq} and {seq} some are missing: {name} ended too early"
        if power_lost:
            self.result.found("unknown", f"{lost} after another boot, as after a power loss.")
        else:
            self.result.found("cut_off", f"{lost} within one boot: it was cut off.")

    def _content(self, name: str, number: int, line: bytes) -> None:
        try:
            record = decode(line, strict=True)
        except RecordFormatError as error:
            if is_newer(line):
                self.newer += 1
            else:
                self.result.bad(name, number, str(error))
            return
        try:
            if record["kept_output"] is not None and outputs.read(self.place, record) is None:
                self.outputs_gone += 1
        except StoreError as error:
            self.result.bad(f"{outputs.OUTPUT_NAME}/{record['command_id']}.json", 0, str(error))
            self.result.notes.append(f"A kept output was changed: {error}.")

    def _end_of_lines(self) -> None:
        """Judge what stands behind the last record: a fragment of a writer that died, or a changed record."""
        if not self.pending:
            return
        file, number, line = self.pending[0]
        ended = self.pending if self.store.is_ended else self.pending[:-1]
        head = self.store.head
        expected = head is not None and head.seq > self.seq and not other_boot(head.boot, boot_id())
        if any(expected or links(fragment) is not None for _, _, fragment in ended):
            self.result.bad(file, number, _why_bad(line))
        else:
            self.result.notes.append(f"{file} ends with a torn fragment; the next append heals it.")

    def _compare_with_head(self) -> None:
        head = self.store.head
        behind = 0 if head is None else head.seq
        if self.seq == behind:
            if head is not None and head.hash != self.hash:
                self.result.bad(HEAD_NAME, 1, "it names another record as the last one")
        elif self.seq == behind + 1 and self.before_last == (GENESIS_HASH if head is None else head.hash):
            self.result.found("healed", f"Record {self.seq} was the last act of a writer that died.")
        elif head is None:
            self.result.found("unknown", "The head file is missing or damaged: records may lack at the end.")
        else:
            self._apart(head.seq, power_lost=other_boot(head.boot, boot_id()))

    def _apart(self, head_seq: int, *, power_lost: bool) -> None:
        if self.seq > head_seq and not power_lost:
            self.result.bad(HEAD_NAME, 1, f"it says {head_seq}, and the last record is {self.seq}")
        elif self.seq > head_seq:
            self.result.found("unknown", f"{HEAD_NAME} is older than the records, as after a power loss.")
        else:
            lost = f"{head_seq} records were written, and the last one here is {self.seq}"
            status: Status = "unknown" if power_lost else "cut_off"
            end = "as after a power loss" if power_lost else f"{LIVE_NAME} was cut off"
            self.result.found(status, f"{lost}: {end}.")

    def _summary(self) -> None:
        result = self.result
        if self.fragments:
            result.notes.append(f"{self.fragments} torn fragments stand on lines of their own.")
        if self.newer:
            result.notes.append(f"{self.newer} records are of a newer schema; only their links were checked.")
        if self.outputs_gone:
            result.notes.append(f"{self.outputs_gone} kept outputs are gone; the oldest are dropped.")
        if result.status == "intact" and not result.records and self.store.head is None and not self.pending:
            result.status = "empty"


def _covers(torn: bytes | None, fragments: list[bytes]) -> bool:
    return torn == b'"%b"' % digest(b"\n".join(fragments)).encode()


def _why_bad(line: bytes) -> str:
    """Say what is wrong with a line whose hash is not that of its bytes."""
    try:
        decode(line, strict=True)
    except RecordFormatError as error:
        return f"{error}, and no record after it names it"
    if links(line) is None:
        return "it has no number or hash, and no record after it names it"
    return "its hash is not that of its bytes"


def _why_unlinked(before: int, seq: int) -> str:
    if seq == before + 1:
        return "it does not link to the record before it"
    if seq > before:
        return f"{seq - before - 1} records before it are missing"
    return f"it is number {seq} and stands behind number {before}"
