"""What a run costs the host of the library, in CPU of its own process."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from benchmarks.measure import Row

if TYPE_CHECKING:
    from benchmarks.installed import Installed

BOUNDS_MS = {"keeper": 3.0, "group": 0.5}
NAMES = {"keeper": "library, warm keeper: CPU in the host", "group": "library, in a group: CPU in the host"}

BLOCKS, RUNS = 7, 200
HOST = """
import json, sys, time
import firsthand
contain, blocks, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
firsthand.run(["true"], contain=contain)  # starts the keeper, imports what is imported once
figures = []
for _ in range(blocks):
    began = time.process_time()
    for _ in range(runs):
        assert firsthand.run(["true"], contain=contain).exit_code == 0
    figures.append((time.process_time() - began) / runs * 1000)
print(json.dumps(figures))
"""


def rows(installed: Installed) -> list[Row]:
    """Run ``true`` again and again in a host; the best of several blocks."""
    return [_row(installed, contain) for contain in BOUNDS_MS]


def _row(installed: Installed, contain: str) -> Row:
    folder = installed.folder(f"library-{contain}")
    argv = [installed.python, "-c", HOST, contain, str(BLOCKS), str(RUNS)]
    done = subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True)
    figure, bound = min(json.loads(done.stdout)), BOUNDS_MS[contain]
    return Row(NAMES[contain], f"{figure:.2f} ms", f"<= {bound:g} ms", figure <= bound)
