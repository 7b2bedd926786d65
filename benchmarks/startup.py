"""What it costs to put ``firsthand run --`` in front of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.measure import Row, cost, paired

if TYPE_CHECKING:
    from benchmarks.installed import Installed

BOUND = 1.6
ROUNDS = 30


def rows(installed: Installed) -> list[Row]:
    """Compare a recorded ``true`` with an interpreter that does nothing."""
    folder = installed.folder("startup")
    run = [installed.firsthand, "run", "--", "true"]
    assert cost(run, cwd=folder).status == 0
    ratio = paired(run, [installed.python, "-c", "pass"], ROUNDS, cwd=folder)
    return [
        Row(
            "firsthand run -- true, CPU over python3 -c pass",
            f"{ratio:.2f} x",
            f"<= {BOUND} x",
            ratio <= BOUND,
        )
    ]
