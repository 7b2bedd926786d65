"""What is done when a keeper was killed or has failed: nothing that it ran may live on unnoticed."""

from __future__ import annotations

import time

from firsthand import survey
from firsthand.process import spawn
from firsthand.process.ending import end_all
from firsthand.process.pump import Orders, Pump
from firsthand.process.reach import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.survey import Process


def sweep(keeper: int, others: frozenset[int], wake: int) -> list[Process]:
    """Reap a dead keeper and end what it ran: orphaned to us, as the next subreaper above it.

    ``others`` are children that we had before it; a cancelling signal on ``wake`` makes the end a hard one.
    Returns the processes that could not be ended.
    """
    born = survey.look(keeper)
    spawn.wait(keeper, 0)
    pump = Pump([], Orders(wake=wake))
    tree = Tree(spared=others, since=born.start if born else 0)
    return end_all(tree, pump.turn, time.monotonic, lambda: bool(pump.orders.signals))


def end_everything() -> None:
    """End every process below this one, after a fault of ours."""
    end_all(Tree(), time.sleep, time.monotonic, lambda: False)


def fault() -> str:
    """Return the traceback of the exception being handled."""
    import traceback

    return traceback.format_exc()
