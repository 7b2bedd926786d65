"""Runs that go on and runs that were left behind, as the tests of the store make them."""

from __future__ import annotations

import os
from pathlib import Path

from firsthand.record import Record
from firsthand.store.place import Place
from firsthand.store.running import Running, begin


def begun(place: Place, record: Record) -> Running:
    """Begin a run that goes on."""
    running = begin(place, record)
    assert running
    return running


def left_behind(place: Place, record: Record) -> None:
    """Begin a run and let go of it, as the kernel does for one that died."""
    begun(place, record).close_fd()


def names(folder: Path) -> list[str]:
    """Return what stands in ``running/`` of a store."""
    return sorted(os.listdir(folder / "running"))
