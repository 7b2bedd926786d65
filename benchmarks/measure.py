"""Paired measurement of whole processes: CPU seconds and peak memory, as the kernel accounts them."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Row(NamedTuple):
    """One line of the table; ``good`` says whether the figure is within its bound."""

    what: str
    figure: str
    bound: str
    good: bool


class Cost(NamedTuple):
    """What one process and all that it waited for have used."""

    cpu: float
    wall: float
    peak_kib: int
    status: int


def cost(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    stdout: int | None = None,
) -> Cost:
    """Run one command to its end and return what it has cost."""
    began = time.perf_counter()
    process = subprocess.Popen(
        argv, env=env, cwd=cwd, stdout=subprocess.DEVNULL if stdout is None else stdout
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(
        usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss, process.returncode
    )


def peak_mib(argv: Sequence[str], *, cwd: str | None = None) -> float:
    """Return the peak memory of the largest process of a command, in MiB.

    Through a small shell: the kernel charges a program with the memory of whoever started it.
    """
    return cost(["/bin/sh", "-c", '"$@"; exit $?', "sh", *argv], cwd=cwd).peak_kib / 1024


def paired(
    one: Sequence[str],
    other: Sequence[str],
    rounds: int,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> float:
    """Return the ratio of CPU time of ``one`` to ``other``: the best of three blocks, run in turn.

    Within a block the minimum of each side is taken: what disturbs a run only ever adds to it.
    """
    ratios = []
    for _ in range(3):
        pairs = [(cost(one, env=env, cwd=cwd).cpu, cost(other, env=env, cwd=cwd).cpu) for _ in range(rounds)]
        ratios.append(min(mine for mine, _ in pairs) / min(theirs for _, theirs in pairs))
    return min(ratios)
