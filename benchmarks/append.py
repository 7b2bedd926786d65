"""How many records eight writers store at once, and whether one is lost."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Row

if TYPE_CHECKING:
    from benchmarks.installed import Installed

WRITERS, EACH, RECORD_BYTES = 8, 1500, 4096
BOUND = 10_000
CAP = 1 << 20


def rows(installed: Installed) -> list[Row]:
    """Eight processes append records of 4 KB with rotation; the best of three rounds."""
    rates = [_round(installed.folder(f"append{number}")) for number in range(3)]
    rate, lost, over = max(rates)[0], sum(entry[1] for entry in rates), sum(entry[2] for entry in rates)
    return [
        Row(f"append, {WRITERS} writers of 4 KB", f"{rate:,.0f} /s", f">= {BOUND:,} /s", rate >= BOUND),
        Row("appended records lost / files over the cap", f"{lost} / {over}", "0 / 0", lost == over == 0),
    ]


def _round(folder: str) -> tuple[float, int, int]:
    context = multiprocessing.get_context("fork")
    start = context.Barrier(WRITERS + 1)
    acknowledged: multiprocessing.Queue[int] = context.Queue()
    writers = [context.Process(target=_write, args=(folder, start, acknowledged)) for _ in range(WRITERS)]
    for writer in writers:
        writer.start()
    start.wait()
    began = time.perf_counter()
    stored = sum(acknowledged.get() for _ in writers)
    took = time.perf_counter() - began
    for writer in writers:
        writer.join()
    files = list((Path(folder) / ".firsthand").glob("feedback_record.jsonl*"))
    over = sum(file.stat().st_size > CAP for file in files)
    newest = max(int(line.partition(b'"seq":')[2].partition(b",")[0]) for line in _lines(files))
    return stored / took, stored - newest, over


def _lines(files: list[Path]) -> list[bytes]:
    return [line for file in files for line in file.read_bytes().splitlines()]


def _write(folder: str, start: object, acknowledged: multiprocessing.Queue[int]) -> None:
    from firsthand.record import KEYS, SCHEMA, Record, new_id
    from firsthand.store.append import Store
    from firsthand.store.place import find_place

    store = Store(find_place(folder, None, {"HOME": "/nonexistent"}))
    base = Record(dict.fromkeys(KEYS) | {"schema": SCHEMA, "stdout_tail": "x" * (RECORD_BYTES - 900)})
    start.wait()  # type: ignore[attr-defined]
    stored = 0
    for _ in range(EACH):
        stored += store.append(Record(base | {"command_id": new_id()}))["log_error"] is None
    acknowledged.put(stored)
