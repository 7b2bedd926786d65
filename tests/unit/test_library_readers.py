"""``failures`` and ``retry_chain`` of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import firsthand

if TYPE_CHECKING:
    from pathlib import Path


def test_failures_and_their_chain(own_store: Path) -> None:
    """Oldest first; null is a failure; the chain holds the success too, and nothing else."""
    first = firsthand.run(["false"], contain="group", session="a")
    firsthand.run(["true"], contain="group")
    second = firsthand.run(["fh-no-such-program"], contain="group", parent=first.command_id)
    third = firsthand.run(["true"], contain="group", parent=second.command_id)
    assert firsthand.failures() == [first, second]
    assert firsthand.failures(1) == [second]
    assert firsthand.failures(session="a") == [first]
    assert firsthand.retry_chain(second.command_id) == [first, second, third]
    assert firsthand.retry_chain(third.command_id) == [first, second, third]


def test_misuse(own_store: Path) -> None:
    """An unknown id, and a number that is none."""
    with pytest.raises(firsthand.UsageError) as caught:
        firsthand.retry_chain("01a22bc1")
    assert caught.value.hint
    for wrong in (0, True, "5"):
        with pytest.raises(firsthand.UsageError):
            firsthand.failures(wrong)  # type: ignore[arg-type]
    assert not own_store.exists()
