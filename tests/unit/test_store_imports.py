"""The run path of the store stays cheap to start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_run_path_imports_almost_nothing(folder: Path) -> None:
    """What an append and a running file load is on the budget of every run."""
    program = (
        "import os, sys; before = set(sys.modules)\n"
        "import firsthand.store.append, firsthand.store.running, firsthand.store.place\n"
        "import firsthand.store.chain, firsthand.store.lock\n"
        "from tests.programs.store_sample import sample\n"
        "place = firsthand.store.place.find_place('/', None, {'FIRSTHAND_DIR': sys.argv[1], 'HOME': '/x'})\n"
        "store = firsthand.store.append.Store(place)\n"
        "running = firsthand.store.running.begin(place, sample())\n"
        "assert running.alone\n"
        "assert store.append(sample())['seq'] == 1\n"
        "running.finish()\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    root = Path(__file__).parent.parent.parent
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, str(folder)],
        env={"PYTHONPATH": f"{root / 'src'}:{root}"},
        capture_output=True,
        text=True,
        check=True,
    )
    allowed = {"__future__", "encodings", "firsthand", "tests", "fcntl", "errno", "_json", "_sha256", "_sha2"}
    assert {name.partition(".")[0] for name in done.stdout.split()} - allowed == set()
    assert not {"readers", "verification"} & {name.rpartition(".")[2] for name in done.stdout.split()}
