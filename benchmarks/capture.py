"""How fast output is read, and how much memory any amount of it takes."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from typing import TYPE_CHECKING

from benchmarks.measure import Row, cost, peak_mib

if TYPE_CHECKING:
    from benchmarks.installed import Installed

SPEED_BOUND = 0.40
MEMORY_BOUND_MIB = 24
SPEED_BYTES = 1 << 30
LINES_BYTES = int(os.environ.get("FIRSTHAND_BENCH_BYTES", str(8 << 30)))
"""8 GB of lines take some ten seconds; set FIRSTHAND_BENCH_BYTES for a quicker look."""

LOG_LINE = (
    "2026-11-30 12:00:00,123 INFO web.request: GET /links/4711 answered 200 in 12 ms for user 0815 ok ok ok"
)


def rows(installed: Installed) -> list[Row]:
    """Speed against ``wc -l``, and the largest process at three kinds of flood."""
    folder = installed.folder("capture")
    ratio = max(_speed(installed, folder) for _ in range(3))
    found = [
        Row(
            "capture of log lines, speed over | wc -l",
            f"{ratio:.2f}",
            f">= {SPEED_BOUND}",
            ratio >= SPEED_BOUND,
        )
    ]
    floods = {
        f"{LINES_BYTES / 1e9:.0f} GB of lines": f"yes '{LOG_LINE}' | head -c {LINES_BYTES}",
        "one 1 GB line": "head -c 1000000000 /dev/zero | tr '\\0' x",
    }
    for name, line in floods.items():
        found.append(_memory(installed, folder, name, ["--timeout", "0"], line))
    found.append(_memory(installed, folder, "yes for 5 s", ["--timeout", "5"], "exec yes"))
    return found


def _speed(installed: Installed, folder: str) -> float:
    """Return how fast we read a writer of 64 KiB blocks, over how fast ``wc -l`` reads the same."""
    writer = [installed.python, "-c", WRITER, str(SPEED_BYTES)]
    ours = cost([installed.firsthand, "run", "--timeout", "0", "--", *writer], cwd=folder).wall
    began = time.perf_counter()
    subprocess.run(f"{shlex.join(writer)} | wc -l", shell=True, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - began) / ours


WRITER = f"""
import os, sys
block = (({LOG_LINE!r} + chr(10)) * 700).encode()[: 64 * 1024]
for _ in range(int(sys.argv[1]) // len(block)):
    os.write(1, block)
"""
"""Writes log lines as fast as a pipe takes them, so that the reader is what is measured."""


def _memory(installed: Installed, folder: str, name: str, options: list[str], line: str) -> Row:
    peak = peak_mib([installed.firsthand, "run", *options, "--", "bash", "-c", line], cwd=folder)
    return Row(
        f"largest process, {name}", f"{peak:.1f} MiB", f"<= {MEMORY_BOUND_MIB} MiB", peak <= MEMORY_BOUND_MIB
    )
