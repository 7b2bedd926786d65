"""``output/``: what is kept beside the records of commands whose output was cut."""

from __future__ import annotations

import os

from firsthand.errors import StoreError
from firsthand.record import encode
from firsthand.store.chain import digest
from firsthand.store.folder import open_folder
from firsthand.store.lock import Locked
from firsthand.store.trouble import unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.record import Record
    from firsthand.store.folder import Folder
    from firsthand.store.place import Place

OUTPUT_NAME = "output"

OUTPUT_MOST = 16 << 20
"""Bytes of all kept outputs together; the oldest are dropped first."""


def keep(place: Place, command_id: str, content: dict[str, Any]) -> dict[str, str] | None:
    """Keep ``content`` as ``output/<command_id>.json``; see :meth:`append.Store.keep_output`."""
    try:
        data = encode(content)
        if len(data) > OUTPUT_MOST:
            return None
        name = f"{command_id}.json"
        with (
            open_folder(place, create=True) as folder,
            Locked(folder),
            folder.enter(OUTPUT_NAME, create=True) as output,
        ):
            _make_room(output, name, len(data))
            output.replace(name, data)
    except (OSError, TypeError, ValueError):
        return None
    return {"name": name, "sha256": digest(data)}


def read(place: Place, record: Record) -> bytes | None:
    """Return the bytes of the kept output that a record names, or ``None`` where there is none any more.

    Raises:
        StoreError: it was changed, or it is a link or foreign or may not be read, or has no plain name.
    """
    kept = record["kept_output"]
    if kept is None:
        return None
    name = kept.get("name") if isinstance(kept, dict) else kept
    if not isinstance(name, str) or not name or name.startswith(".") or "/" in name or "\0" in name:
        raise StoreError(f"{name!r} names no kept output", "run: firsthand verify")
    try:
        with open_folder(place) as folder, folder.enter(OUTPUT_NAME) as output:
            data = output.read(name, OUTPUT_MOST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(error, place.folder) from None
    if data is not None and digest(data) != kept.get("sha256"):
        raise StoreError(f"{OUTPUT_NAME}/{name} was changed since it was kept", "run: firsthand verify")
    return data


def _make_room(output: Folder, name: str, size: int) -> None:
    """Drop the oldest outputs (their names begin with a time) until ``size`` bytes more may be kept."""
    total = size
    sizes = {}
    for other in sorted(os.listdir(output.fd)):
        if other.startswith("."):
            output.remove(other)  # left by a writer that died
        elif other != name:
            sizes[other] = os.stat(other, dir_fd=output.fd, follow_symlinks=False).st_size
            total += sizes[other]
    for other, freed in sizes.items():
        if total <= OUTPUT_MOST:
            return
        output.remove(other)
        total -= freed
