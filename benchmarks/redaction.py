"""How long redaction takes: of a short output, of two full streams, and of the wide windows behind them."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from benchmarks.measure import Row

if TYPE_CHECKING:
    from benchmarks.installed import Installed

SIZES = {
    "redaction of 4 KiB, p95": ([4 << 10], 5.0),
    "redaction of two full streams, p95": ([16 << 10, 16 << 10], 15.0),
    "redaction of two wide windows, p95": ([144 << 10, 144 << 10], 120.0),
}
"""Bytes of the texts that are redacted together, and the bound in milliseconds."""

ROUNDS = 100
PROGRAM = """
import json, sys, time
from firsthand.redact import Redactor
sizes, rounds = json.loads(sys.argv[1]), int(sys.argv[2])
word = "secret" + "value1234"
line = 'level=info msg="GET /links?api_key=%s" password=%s xox Bearer %s ok' % (word, word, word + "A1")
plain = "2026-11-30 12:00:01 INFO  web: GET /links/6673 answered 200 in 11 ms and 7 of 12 tests passed"
block = "\\n".join([plain] * 9 + [line]) + "\\n"
texts = [(block * (size // len(block) + 1))[:size] for size in sizes]
Redactor().text(texts[0])  # imports and compiles once
took = []
for _ in range(rounds):
    redactor = Redactor()
    began = time.perf_counter()
    for text in texts:
        redactor.text(text)
    took.append((time.perf_counter() - began) * 1000)
print(sorted(took)[int(rounds * 0.95) - 1])
"""
"""A log in which every tenth line holds three secrets, so that every rule is at work."""


def rows(installed: Installed) -> list[Row]:
    """Redact logs of several sizes; the best of three 95th percentiles."""
    return [_row(installed, name, sizes, bound) for name, (sizes, bound) in SIZES.items()]


def _row(installed: Installed, name: str, sizes: list[int], bound: float) -> Row:
    argv = [installed.python, "-c", PROGRAM, json.dumps(sizes), str(ROUNDS)]
    figure = min(float(subprocess.run(argv, check=True, capture_output=True).stdout) for _ in range(3))
    return Row(name, f"{figure:.1f} ms", f"<= {bound:g} ms", figure <= bound)
