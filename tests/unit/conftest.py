"""A store for the tests of the store: its folder, its place, and the store itself, none of it there yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from firsthand.store.append import Store
from firsthand.store.place import Place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store folder that is not there yet."""
    return tmp_path / "store"


@pytest.fixture
def place(folder: Path) -> Place:
    """The place of that folder."""
    return Place(str(folder.parent), str(folder))


@pytest.fixture
def store(place: Place) -> Store:
    """A store of that place."""
    return Store(place)
