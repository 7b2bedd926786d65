"""Make the store folder, and keep it out of commits."""

from __future__ import annotations

import os

from firsthand.store.folder import FOLDER_MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.store.folder import Folder
    from firsthand.store.place import Place

OUR_NAMES = (
    "feedback_record.jsonl", "lock", "head", "gaps", "running", "output", ".gitignore", "verification_report",
)  # fmt: skip
"""How the names begin that firsthand puts into a store folder."""


def make_store(place: Place) -> None:
    """Make the store folder and what is missing above it, readable for its owner only."""
    if os.path.dirname(place.folder) == place.root:
        os.stat(place.root)  # a project that is gone does not come back for its store
    _make(place.folder, place.owner)


def ignore_in_git(folder: Folder) -> None:
    """Make the ``.gitignore`` that keeps records out of commits, unless the folder is not only ours."""
    if is_only_ours(folder):
        fd = folder.open(".gitignore", os.O_RDWR, create=True)
        try:
            if not os.fstat(fd).st_size:
                os.write(fd, b"*\n")
        finally:
            os.close(fd)


def is_only_ours(folder: Folder) -> bool:
    """Say whether nothing is in here but what firsthand puts here.

    FIRSTHAND_DIR may name a home folder by mistake: its mode and its ``.gitignore`` are not ours to set.
    """
    return all(name.startswith(OUR_NAMES) for name in os.listdir(folder.fd))


def _make(path: str, owner: tuple[int, int] | None) -> None:
    parent = os.path.dirname(path)
    if not os.path.isdir(parent) and parent != path:
        _make(parent, owner)
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        return
    if owner is not None:
        os.chown(path, *owner, follow_symlinks=False)
