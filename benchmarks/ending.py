"""How soon a run comes back, and whether anything outlives it."""

from __future__ import annotations

import fcntl
import signal
import statistics
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Row, cost

if TYPE_CHECKING:
    from benchmarks.installed import Installed

TRIALS = 200
HOSTILE = """
import fcntl, os, signal, time
fcntl.flock(os.open("alive", os.O_RDWR | os.O_CREAT), fcntl.LOCK_SH)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(2):
    if os.fork():
        time.sleep(600)  # the parent stays, so that the run goes on
    os.setsid()
time.sleep(600)
"""
"""A daemon two forks and two sessions away, and its parents; none of the three heeds SIGTERM."""

SWEEP_P50_MS, SWEEP_P99_MS = 15, 150
SETTLED = 0.3
"""Seconds in which the started program has set its signals and forked."""

BETWEEN_SIGNALS = 0.05
"""Seconds: two pending signals of one kind are one signal."""

CANCEL_MS, RETURN_MS = 50, 350


def rows(installed: Installed) -> list[Row]:
    """Sweep of hostile strays, cancel to record on disk, return while a stray holds the pipe."""
    folder = installed.folder("ending")
    return [*_sweep(installed, folder), _cancel(installed, folder), _held(installed, folder)]


def _sweep(installed: Installed, folder: str) -> list[Row]:
    """Time from a second signal, which skips the grace, to an empty tree and a record."""
    times, left = [], 0
    for _ in range(TRIALS):
        process = _start(installed, folder, [installed.python, "-c", HOSTILE])
        process.send_signal(signal.SIGINT)
        time.sleep(BETWEEN_SIGNALS)
        began = time.perf_counter()
        process.send_signal(signal.SIGINT)
        process.wait()
        times.append((time.perf_counter() - began) * 1000)
        left += _somebody_lives(folder)
    times.sort()
    p50, p99 = statistics.median(times), times[int(len(times) * 0.99) - 1]
    return [
        Row(f"hostile strays left of {TRIALS}", str(left), "0", left == 0),
        Row("sweep of a hostile stray, p50", f"{p50:.0f} ms", f"<= {SWEEP_P50_MS} ms", p50 <= SWEEP_P50_MS),
        Row("sweep of a hostile stray, p99", f"{p99:.0f} ms", f"<= {SWEEP_P99_MS} ms", p99 <= SWEEP_P99_MS),
    ]


def _start(installed: Installed, folder: str, argv: list[str]) -> subprocess.Popen[bytes]:
    """Start a run and return when its command is ready (it has made the file ``ready``)."""
    ready = Path(folder) / "ready"
    ready.unlink(missing_ok=True)
    script = ["bash", "-c", 'touch ready; exec "$@"', "sh", *argv]
    process = subprocess.Popen(
        [installed.firsthand, "run", "--json", "--", *script], cwd=folder, stdout=subprocess.DEVNULL
    )
    while not ready.exists():
        time.sleep(0.001)
    time.sleep(SETTLED)
    return process


def _cancel(installed: Installed, folder: str) -> Row:
    best = []
    for _ in range(3):
        process = _start(installed, folder, ["sleep", "600"])
        began = time.perf_counter()
        process.send_signal(signal.SIGINT)
        process.wait()
        best.append((time.perf_counter() - began) * 1000)
    figure = min(best)
    return Row("cancel to record on disk", f"{figure:.0f} ms", f"<= {CANCEL_MS} ms", figure <= CANCEL_MS)


def _held(installed: Installed, folder: str) -> Row:
    run = [installed.firsthand, "run", "--", "bash", "-c", "sleep 600 & echo done"]
    figure = min(cost(run, cwd=folder).wall for _ in range(3)) * 1000
    return Row(
        "return while an idle stray holds the pipe",
        f"{figure:.0f} ms",
        f"<= {RETURN_MS} ms",
        figure <= RETURN_MS,
    )


def _somebody_lives(folder: str) -> bool:
    """Ask the kernel whether a stray still holds its lock; a look at processes can miss one that forks."""
    with open(f"{folder}/alive", "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
