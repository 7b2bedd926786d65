"""The end of a run's processes: asked first, then killed, until the kernel says that none is left."""

from __future__ import annotations

import errno
import os

from firsthand.process import signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from firsthand.process.reach import Reach
    from firsthand.survey import Process

GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL: what agents' runtimes that do it at all give (2 to 3 s)."""


GIVE_UP = 5.0
"""Seconds of SIGKILL after which a process is stuck in the kernel and can only be named."""


FIRST_PAUSE, LONGEST_PAUSE = 0.001, 0.05
"""Seconds between two rounds of SIGKILL; a re-forking program needs the short ones."""


POLITE_STEP = 0.02
"""Seconds between two looks during the grace where no signal tells us of a death."""


def send(process: Process, number: int) -> bool:
    """Signal one process; False when the kernel does not let us (a setuid program of another user)."""
    try:
        os.kill(process.pid, number)
    except OSError as problem:
        return problem.errno != errno.EPERM
    return True


def end_all(
    reach: Reach,
    wait: Callable[[float], None],
    now: Callable[[], float],
    hurry: Callable[[], bool],
    *,
    grace: float = GRACE,
) -> list[Process]:
    """End every process within reach and return those that cannot be ended.

    SIGTERM to all at the same moment, then SIGKILL after ``grace`` seconds, repeated until nothing is left,
    given up after ``GIVE_UP`` seconds or at once where only a refusal (EPERM) answers. ``wait`` sleeps up to
    so many seconds and returns early when something happens.
    """
    deadline = now() + grace
    if grace > 0 and not reach.empty():
        for process in reach.members():
            send(process, signals.SIGTERM)
            send(process, signals.SIGCONT)  # a stopped one acts on its SIGTERM only when it goes on
    while grace > 0 and not hurry() and now() < deadline:
        if reach.empty():
            return []
        wait(min(POLITE_STEP, deadline - now()))
    return kill_all(reach, wait, now)


def kill_all(reach: Reach, wait: Callable[[float], None], now: Callable[[], float]) -> list[Process]:
    """Send SIGKILL again and again until nothing is within reach; return what is left."""
    give_up = now() + GIVE_UP
    pause = FIRST_PAUSE
    while not reach.empty():
        members = reach.members()
        reach.strike()
        refused = [process for process in members if not send(process, signals.SIGKILL)]
        if members and len(refused) == len(members):
            return refused
        if now() > give_up:
            return members
        wait(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
    return []
