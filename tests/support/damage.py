"""Stores that are changed behind firsthand's back, and what ``verify`` says of them."""

from __future__ import annotations

from pathlib import Path

from tests.programs.store_sample import sample

from firsthand.procfs import boot_id
from firsthand.store.append import Store
from firsthand.store.files import LIVE_NAME, NAMES
from firsthand.store.place import Place
from firsthand.store.verification import verify

OTHER_BOOT = "00000000-1111-2222-3333-444444444444"


Found = tuple[str, bool | None, tuple[str, int] | None]


def found(place: Place) -> Found:
    """Return what verify says: the status, the answer, and where the first change is."""
    result = verify(place)
    bad = None if result.first_bad is None else result.first_bad[:2]
    return result.status, result.ok, bad


def lines_of(folder: Path) -> list[bytes]:
    return (folder / LIVE_NAME).read_bytes().splitlines(keepends=True)


def put_lines(folder: Path, lines: list[bytes]) -> None:
    (folder / LIVE_NAME).write_bytes(b"".join(lines))


def reboot(folder: Path, boot: str = OTHER_BOOT) -> None:
    """Let ``head`` say that an earlier boot wrote it."""
    path = folder / "head"
    path.write_bytes(path.read_bytes().replace(boot_id().encode(), b"%-36b" % boot.encode()))


def fill(store: Store, folder: Path, names: int) -> int:
    """Append until so many rotated files exist; return how many records were appended."""
    count = 0
    while not (folder / NAMES[names]).exists():
        count = store.append(sample(99_000))["seq"]
    return count
