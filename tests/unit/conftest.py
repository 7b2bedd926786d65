"""A store for the tests of the store: its folder, its place, and the store itself, none of it there yet."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.programs.store_sample import sample

from firsthand.record import Record
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


@pytest.fixture
def five(store: Store) -> list[Record]:
    """Five records in the live file."""
    return [store.append(sample(50)) for _ in range(5)]
