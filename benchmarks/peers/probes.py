"""The six probes: what to run, and what the cells of a peer's row say about the answer."""

from __future__ import annotations

import re
import secrets
import signal
import string
import time
from typing import NamedTuple

from benchmarks.peers import sleeps
from benchmarks.peers.scratch import Answer, Place

LIMIT = 2
"""Seconds for the command that hangs."""

PATIENCE_WITH_LIMIT, PATIENCE_WITHOUT = 20, 4
"""Seconds until SIGTERM: long after the limit of a peer that has one, soon for one that would wait on."""

SETTLED = 0.5
"""Seconds for what a peer ends after it has come back itself."""

ROWS = 200_000
ROW = re.compile(rb"row (\d{6})")
FLOOD = ["seq", "-f", "row %06.0f", "1", str(ROWS)]
NEAR = 1.1
"""A peak this close to the floor of the measurement is the floor."""

FLOOD_BYTES = ROWS * len("row 000001\n")


def endings(place: Place) -> list[str]:
    """A success, a failure, and a program that does not exist."""
    commands = (["true"], ["sh", "-c", "exit 3"], ["no-such-program-at-all"])
    return [_ending(place.run(argv)) for argv in commands]


def _ending(answer: Answer) -> str:
    words = answer.outcome + (", traceback" if answer.traceback else "")
    if answer.status is None:
        return words
    return f"{answer.status if answer.status >= 0 else signal.Signals(-answer.status).name}; {words}"


def hang(place: Place) -> list[str]:
    """A command that hangs, with a child that holds its output open."""
    length = f"{3600 + secrets.randbelow(3600)}.{secrets.randbelow(10**9):09}"
    line = f'echo PARTI""AL; sleep {length} & sleep {length}'
    patience = PATIENCE_WITH_LIMIT if place.peer.has_limit else PATIENCE_WITHOUT
    try:
        answer = place.run(["sh", "-c", line], limit=LIMIT, patience=patience)
        time.sleep(SETTLED)
        left = len(sleeps.alive(length))
    finally:
        sleeps.kill(length)
    asked = f"{LIMIT} s" if place.peer.has_limit else "has none"
    sent = f", after our {answer.stopped}" if answer.stopped else ""
    return [asked, f"{answer.took:.1f} s{sent}", _ending(answer), f"{left} of 2", _where(answer, b"PARTIAL")]


def _where(answer: Answer, text: bytes) -> str:
    """Say where a text is to be found afterwards."""
    places = {
        "on disk": any(text in data for data in answer.files.values()),
        "handed back": text in answer.handed_back,
    }
    return ", ".join(name for name, found in places.items() if found) or "no"


def flood(place: Place) -> list[str]:
    """Many lines of output."""
    answer = place.run(FLOOD)
    size = sum(map(len, answer.files.values()))
    return [
        _ending(answer),
        _where(answer, b"row 000001"),
        _where(answer, b"row %06d" % ROWS),
        _cut(answer.record),
        f"{size:,}",
        f"{len(answer.handed_back):,}",
        _peak(place, answer.peak_kib),
    ]


def _cut(record: bytes) -> str:
    """Count the lines that a record has, and look for the number that it lacks."""
    kept = len(set(ROW.findall(record)))
    if kept == ROWS:
        return "has every line"
    rest = ROW.sub(b"", record)  # the lines have numbers too
    numbers = set(map(int, re.findall(rb"(?<![\w.])\d{1,9}(?![\w.])", rest)))
    if not kept:
        return "has no output" + (", says its size" if FLOOD_BYTES in numbers else "")
    return f"lacks {ROWS - kept:,} lines, " + ("says so" if ROWS - kept in numbers else "number not given")


def _peak(place: Place, kib: int) -> str:
    """Return the peak; one that cannot be told from the floor is at most that."""
    floor = place.floor_kib
    return f"<= {floor / 1024:.0f} MiB" if kib < floor * NEAR else f"{kib / 1024:.0f} MiB"


class Fakes(NamedTuple):
    """Four made-up secrets: two that are an argument, two that only the command's output has."""

    argument_key: str
    argument_password: str
    printed_key: str
    printed_password: str


def _fakes() -> Fakes:
    key = string.ascii_uppercase + string.digits

    def some(letters: str, count: int) -> str:
        return "".join(secrets.choice(letters) for _ in range(count))

    def both() -> tuple[str, str]:
        return "AKIA" + some(key, 16), some(string.ascii_letters, 14)

    return Fakes(*both(), *both())


def leak(place: Place) -> list[str]:
    """A command that is given secrets and prints others."""
    fakes = _fakes()
    key, word = fakes.printed_key, fakes.printed_password
    prints = f"p=pass; echo {key[:4]}'{key[4:]}' ${{p}}word='{word[:7]}''{word[7:]}'"
    argv = ["sh", "-c", prints, fakes.argument_key, f"pass{'word'}={fakes.argument_password}"]
    answer = place.run(argv)
    everything = b"\n".join(answer.files.values())
    raw = sorted(name.partition("/")[2] for name, data in answer.files.items() if _found(data, fakes))
    return [
        f"{_found(everything, fakes[:2])} of 2",
        f"{_found(everything, fakes[2:])} of 2",
        ", ".join(raw) or ("none" if answer.files else "writes no file"),
        f"{_found(answer.handed_back, fakes)} of 4",
    ]


def _found(text: bytes, fakes: tuple[str, ...]) -> int:
    return sum(fake.encode() in text for fake in fakes)
