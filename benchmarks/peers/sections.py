"""The tables: what each is called, what must be known to read it, and who fills its rows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.peers import cost, probes, table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.peers.scratch import Place


class Probe(NamedTuple):
    """A table with one row a peer, each from runs of its own."""

    title: str
    about: str
    headers: Sequence[str]
    cells: Callable[[Place], list[str]]


ENDED = (
    "Exit status of the command line; then what its record says, in the record's own words. A library has no "
    "exit status: what its call returned or raised."
)
HUNG = (
    f"Without a time limit a peer got SIGTERM after {probes.PATIENCE_WITHOUT} s, one that did not keep its "
    f"limit after {probes.PATIENCE_WITH_LIMIT} s. *Left alive*: of two `sleep` processes, at the end."
)
FLOODED = (
    f"{probes.FLOOD_BYTES:,} bytes. *The record* is the file that the peer leaves, or what it hands back if "
    "it leaves none. *Peak*: the largest process; `<=`: it cannot be told from the measuring process."
)
LEAKED = (
    "Two are arguments, two are printed: each time an AWS key and the value of a `password=`. *Raw* means "
    "found as it was, in any file below the working folder or the home, or in what was handed back."
)
ROUNDS = f"Median of {cost.ROUNDS} rounds in which each peer had its turn"
STARTS = f"{ROUNDS}; each is one new process, with all that it waited for."
CALLS = (
    f"{ROUNDS}. Per call: a mean over {cost.CALLS} calls in one process, after a first call that only warms "
    "up. CPU is that of the host and the children that it waited for; of `firsthand.run`, a process beside "
    "the host does the rest, which only the wall time shows."
)

PROBES = (
    Probe(
        "How a command ended",
        ENDED,
        ("peer", "`true`", "exit 3", "no such program"),
        probes.endings,
    ),
    Probe(
        "A command that hangs, with a child on its pipe",
        HUNG,
        ("peer", "time limit", "back after", "it says", "left alive", "partial output kept"),
        probes.hang,
    ),
    Probe(
        f"{probes.ROWS:,} lines of output",
        FLOODED,
        (
            "peer",
            "it says",
            "first line",
            "last line",
            "the record",
            "bytes on disk",
            "bytes handed back",
            "peak",
        ),
        probes.flood,
    ),
    Probe(
        "Made-up secrets",
        LEAKED,
        (
            "peer",
            "arguments raw on disk",
            "output raw on disk",
            "files that have them",
            "raw in what it hands back",
        ),
        probes.leak,
    ),
)


def versions(places: Sequence[Place]) -> table.Section:
    """Say who was asked, and who could not be."""
    rows = [
        [
            place.peer.name,
            place.peer.package or "standard library",
            place.environment.version,
            "library" if place.peer.library else "command line",
            place.environment.problem or "yes",
        ]
        for place in places
    ]
    return table.Section("Who was asked", "", ("peer", "package", "version", "kind", "installed"), rows)


def probed(places: Sequence[Place]) -> list[table.Section]:
    """Put every probe through every peer."""
    return [
        table.Section(probe.title, probe.about, probe.headers, [_row(place, probe) for place in places])
        for probe in PROBES
    ]


def _row(place: Place, probe: Probe) -> list[str]:
    """Return one row; a peer that could not be installed keeps its row."""
    if place.environment.problem:
        return [place.peer.name, *["?"] * (len(probe.headers) - 1)]
    print(f"peers: {probe.title}: {place.peer.name}", file=sys.stderr, flush=True)
    return [place.peer.name, *probe.cells(place)]


def costs(places: Sequence[Place]) -> list[table.Section]:
    """Time command lines against command lines, calls against calls."""
    ready = [place for place in places if not place.environment.problem]
    python = next((str(place.environment.bin / "python") for place in ready), sys.executable)
    starts = cost.command_lines([place for place in ready if not place.peer.library], python)
    calls = cost.libraries([place for place in ready if place.peer.library])
    headers = ("peer", "wall, ms", "CPU, ms")
    return [
        table.Section("Cost of `true`: command lines", STARTS, headers, starts),
        table.Section("Cost of `true`: libraries", CALLS, ("peer", "wall, ms", "CPU in the host, ms"), calls),
    ]
