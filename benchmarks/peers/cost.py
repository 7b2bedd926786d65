"""What it costs to put ``true`` through each peer."""

from __future__ import annotations

import statistics
import sys
from typing import TYPE_CHECKING

from benchmarks.measure import cost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.peers.scratch import Answer, Place, Scratch

ROUNDS = 10
CALLS = 50
"""Calls of a library in one process, after one that warms up."""


def command_lines(places: Sequence[Place], python: str) -> list[list[str]]:
    """Time one start after the other, each peer once a round; two references in the same rounds."""
    references = {"`true` alone": ["true"], "`python3 -c pass`": [python, "-c", "pass"]}
    scratches = {place.peer.name: place.fresh() for place in places}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in (*references, *scratches)}
    for number in range(ROUNDS):
        _progress(number)
        for name, argv in references.items():
            spent = cost(argv)
            found[name].append((spent.wall, spent.cpu))
        for name, scratch in scratches.items():
            found[name].append(_spent(scratch.run(["true"])))
    return [_row(name, spent) for name, spent in found.items()]


def libraries(places: Sequence[Place]) -> list[list[str]]:
    """Time calls inside one process, a fresh one each round, each peer once a round."""
    scratches: dict[str, Scratch] = {place.peer.name: place.fresh() for place in places}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in scratches}
    for number in range(ROUNDS):
        _progress(number)
        for name, scratch in scratches.items():
            found[name].append(_spent(scratch.run(["true"], calls=CALLS)))
    return [_row(name, spent) for name, spent in found.items()]


def _spent(answer: Answer) -> tuple[float, float]:
    return answer.took, answer.cpu


def _row(name: str, spent: list[tuple[float, float]]) -> list[str]:
    wall, cpu = (statistics.median(column) * 1000 for column in zip(*spent, strict=True))
    return [name, f"{wall:.1f}", f"{cpu:.1f}"]


def _progress(number: int) -> None:
    print(f"peers: cost, round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
