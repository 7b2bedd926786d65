"""One run from start to end: start the command, read it, end it if it must be, settle what it left behind."""

from __future__ import annotations

import os
import time

from firsthand.capture import Windows
from firsthand.process import executable, spawn
from firsthand.process.pump import Orders, Pump
from firsthand.process.reach import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from firsthand.process.pump import Sink
    from firsthand.process.reach import Reach
    from firsthand.process.spawn import Child
    from firsthand.process.strays import Policy, Stray

    MakePump = Callable[[Sequence[tuple[int, Sink]], Orders, int], Pump]

LAST_TURNS = 4
"""Turns that take in what an ended child has left in two full pipes."""

WITHOUT_PIDFD = 0.02
"""Seconds between two looks at the child where the kernel has no pidfd (before 5.3)."""


class Command:
    """What to run: argv and environment in bytes, the folder, the limits, and what reads its output."""

    __slots__ = ("argv", "cwd", "env", "policy", "pump", "stdin", "timeout")

    def __init__(
        self,
        argv: list[bytes],
        env: Mapping[bytes, bytes],
        cwd: bytes,
        *,
        timeout: float | None,
        policy: Callable[[], Policy],
        stdin: int | None = None,
        pump: MakePump = Pump,
    ) -> None:
        self.argv, self.env, self.cwd = argv, env, cwd
        self.timeout, self.policy, self.stdin, self.pump = timeout, policy, stdin, pump


class Outcome:
    """What happened: how it ended, what both streams said, what was left behind.

    ``status`` is ``("exited", code)``, ``("signal", number)``, ``("lost", 0)`` or None; ``error`` is the
    word for a run that did not end by itself, ``detail`` its sentence where one is known already;
    ``pipeline`` what bash said of its last one: statuses, and the last command.
    """

    __slots__ = (
        "detail", "duration_ms", "error", "executable", "kept_fds", "pipeline", "signal", "status", "stderr",
        "stdout", "strays",
    )  # fmt: skip

    def __init__(self) -> None:
        self.status: tuple[str, int] | None = None
        self.error: str | None = None
        self.detail: str | None = None
        self.signal: int | None = None
        self.executable: bytes | None = None
        self.stdout, self.stderr = Windows(), Windows()
        self.strays: list[Stray] = []
        self.duration_ms = 0
        self.kept_fds: list[int] = []
        self.pipeline: tuple[list[int], str] | None = None


def run_here(
    command: Command,
    orders: Orders,
    *,
    contain: str = "subreaper",
    started: Callable[[Child], None],
) -> Outcome:
    """Run one command in this process and return when it and its streams have ended.

    ``contain`` is ``subreaper`` (this process is one, and has no other children) or ``group`` (any host).
    ``started`` is called once with the running child. ``kept_fds`` of
    the outcome are streams that a kept stray still holds; somebody must go on reading them. An exception
    that reaches us while the command runs ends it, and carries what happened as ``.outcome``.
    """
    outcome = Outcome()
    clock = time.monotonic
    began = clock()
    try:
        child = spawn.start(
            command.argv, command.env, command.cwd, stdin=command.stdin, enter=contain != "group"
        )
    except executable.StartError as problem:
        outcome.error, outcome.detail = problem.error, problem.detail
        return outcome
    outcome.executable = child.executable
    reach = _reach(child, contain)
    streams = [(child.fds[0], outcome.stdout), (child.fds[1], outcome.stderr)]
    pump = command.pump(streams, orders, child.pidfd)
    try:
        started(child)
        _watch(child, pump, command.timeout, began, outcome)
    except BaseException as interruption:  # in a host: KeyboardInterrupt, or what a signal handler raises
        outcome.error = "cancelled"
        interruption.outcome = outcome  # type: ignore[attr-defined]
        raise
    finally:
        if outcome.status:
            outcome.duration_ms = _milliseconds(clock() - began)
        _conclude(child, pump, reach, command, outcome)
        if outcome.error:
            outcome.duration_ms = _milliseconds(clock() - began)
        child.close()
    return outcome


def _milliseconds(seconds: float) -> int:
    return max(0, int(seconds * 1000))


def _watch(child: Child, pump: Pump, timeout: float | None, began: float, outcome: Outcome) -> None:
    """Read until the child has ended, its time is over, or somebody wants it ended."""
    while not child.poll():
        left = None if timeout is None else began + timeout - time.monotonic()
        if pump.orders.why:
            outcome.error = pump.orders.why
            outcome.signal = pump.orders.signals[0] if pump.orders.signals else None
            return
        if left is not None and left <= 0:
            outcome.error = "timeout"
            return
        pump.turn(left if child.pidfd >= 0 else min(WITHOUT_PIDFD, left or WITHOUT_PIDFD))
    outcome.status = child.status


def _reach(child: Child, contain: str) -> Reach:
    if contain != "group":
        return Tree(child)
    from firsthand.process.session import Session

    return Session(child, child.pid)


def _conclude(child: Child, pump: Pump, reach: Reach, command: Command, outcome: Outcome) -> None:
    """Leave nothing alive that must not be, and nothing unread that was written."""
    if outcome.error or not _ended_clean(pump, reach):
        from firsthand.process import strays

        if outcome.error:
            outcome.strays = strays.end(pump, reach)
        else:
            outcome.strays = strays.settle(child, pump, reach, command.policy())
    pump.finish()
    kept = any(stray.action == "kept" for stray in outcome.strays)
    outcome.kept_fds = pump.release()
    if not kept:
        for fd in outcome.kept_fds:
            os.close(fd)
        outcome.kept_fds = []


def _ended_clean(pump: Pump, reach: Reach) -> bool:
    """Tell whether nothing is left of the run but what lies in its pipes, as after most commands."""
    if not reach.empty():
        return False
    for _ in range(LAST_TURNS):
        if pump.open and pump.ready():
            pump.turn(0)
    return not pump.open
