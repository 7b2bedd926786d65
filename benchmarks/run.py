"""Run the benchmarks and print one table: ``./scripts/bench [NAME ...]``."""

from __future__ import annotations

import platform
import sys
import tempfile
from pathlib import Path

from benchmarks import append, capture, ending, library, redaction, startup
from benchmarks.installed import Installed

BENCHMARKS = {
    "startup": startup.rows,
    "library": library.rows,
    "capture": capture.rows,
    "ending": ending.rows,
    "append": append.rows,
    "redaction": redaction.rows,
}


def main(names: list[str]) -> int:
    """Print the table; 0 when every figure is within its bound."""
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        print(
            f"bench: error: no benchmark {unknown[0]}\nhint: one of {', '.join(BENCHMARKS)}", file=sys.stderr
        )
        return 2
    print(f"Python {platform.python_version()}, Linux {platform.release()}, {platform.machine()}\n")
    print(f"| {'what':<52} | {'measured':>12} | {'bound':>12} | |\n|{'-' * 54}|{'-' * 14}|{'-' * 14}|---|")
    good = True
    with tempfile.TemporaryDirectory(prefix="firsthand-bench-") as base:
        installed = Installed(Path(base))
        for name in names or BENCHMARKS:
            for row in BENCHMARKS[name](installed):
                good = good and row.good
                mark = "ok" if row.good else "**over**"
                print(f"| {row.what:<52} | {row.figure:>12} | {row.bound:>12} | {mark} |", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
