"""Descendants that are still alive when their command has ended: waited for, stopped or kept, and named."""

from __future__ import annotations

import time

from firsthand import survey
from firsthand.process import signals
from firsthand.process.ending import FIRST_PAUSE, GIVE_UP, GRACE, LONGEST_PAUSE, end_all, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firsthand.process.pump import Pump
    from firsthand.process.reach import Reach
    from firsthand.process.spawn import Child
    from firsthand.survey import Process

DRAIN = 0.2
"""Seconds after the child's end in which its pipes may still reach their end of file."""

FINISHING = 5.0
"""Seconds at most for a stray that still works off its standard input (``tee``, ``sort``)."""

IDLE = 0.2
"""Seconds without CPU use, reading or writing after which such a stray counts as idle."""

LOOK_EVERY = 0.025
"""Seconds between two looks at the strays during the drain."""

ABRUPT = 0.05
"""Seconds between SIGTERM and SIGKILL for a stray that has no handler for SIGTERM."""

WORKING = (b"R", b"D")
"""States in which a process is doing something."""

ATTACHED, DETACHED = "attached", "detached"

SERVERS = (
    # program in the command line, why it is kept although it did not detach itself
    ("*GradleDaemon*", "a Gradle daemon serves the next build"),
    ("*bazel*server*", "a Bazel server serves the next build"),
    ("*VBCSCompiler*", "the .NET compiler server serves the next build"),
    ("*sccache*", "the compiler cache serves the next build"),
    ("*watchman*", "watchman serves every tool of this user"),
    ("gpg-agent *", "a key agent serves the next command, and goes on logging to standard error"),
    ("*ssh-agent*", "a key agent serves the next command"),
)


class Stray:
    """One entry of ``strays`` before redaction: what it is, what became of it, and why."""

    __slots__ = ("action", "command", "pid", "reason", "start")

    def __init__(self, process: Process, action: str, reason: str) -> None:
        self.pid = process.pid
        self.start = process.stamp
        self.command = survey.command_line(process.pid)
        self.action = action
        self.reason = reason


class Policy:
    """What becomes of strays after a normal end, and the command lines that ``auto`` always keeps."""

    __slots__ = ("keep", "mode")

    def __init__(self, mode: str = "auto", keep: Sequence[tuple[str, str]] = SERVERS) -> None:
        self.mode = mode
        self.keep = keep

    def judge(self, process: Process, tie: str) -> tuple[str, str]:
        """Return ``("stopped" | "kept", reason)`` for one stray."""
        if self.mode == "keep":
            return "kept", "asked for by --strays keep"
        if self.mode == "stop":
            return "stopped", "asked for by --strays stop"
        if tie == DETACHED:
            return "kept", "it detached itself as a daemon does"
        reason = self._listed(process)
        return ("kept", reason) if reason else ("stopped", "it was still attached to the command")

    def _listed(self, process: Process) -> str | None:
        if not self.keep:
            return None
        from fnmatch import fnmatchcase

        line = b" ".join(survey.command_line(process.pid)).decode("utf-8", "replace")
        return next((reason for pattern, reason in self.keep if fnmatchcase(line, pattern)), None)


def tie(process: Process, child: Child) -> str:
    """Tell whether a stray hangs on to the command (its session or a pipe of it) or stands on its own."""
    if process.session == child.pid or survey.holds_pipe(process.pid, child.inodes):
        return ATTACHED
    return DETACHED


class Work:
    """Remembers when each stray that reads a pipe last did something."""

    def __init__(self) -> None:
        self.seen: dict[int, tuple[tuple[int, int], float]] = {}

    def going_on(self, members: list[Process], now: float) -> bool:
        """True while some stray is still working off its standard input."""
        return sum(self._busy(process, now) for process in members if survey.reads_a_pipe(process.pid)) > 0

    def _busy(self, process: Process, now: float) -> bool:
        done = survey.activity(process)
        before, since = self.seen.get(process.pid, (None, now))
        if before != done or process.state in WORKING or process.exiting:
            since = now
        self.seen[process.pid] = (done, since)
        return now - since < IDLE


def drain(child: Child, pump: Pump, reach: Reach, now: Callable[[], float]) -> None:
    """After the child's end: wait for end-of-file or ``DRAIN``, longer only for strays that finish work.

    While something is attached the whole ``DRAIN`` is given even after end-of-file: ``setsid server &`` needs
    a moment to detach itself, and must not be taken for a leftover in that moment.
    """
    began = now()
    work = Work()
    while now() - began < FINISHING and not pump.orders.why:
        over = now() - began >= DRAIN
        if reach.empty():
            if over or not pump.open:
                return
        elif _nothing_to_wait_for(child, pump, reach.members(), work, now(), over=over):
            return
        pump.turn(min(LOOK_EVERY, max(0.0, began + FINISHING - now())))


def _nothing_to_wait_for(
    child: Child, pump: Pump, members: list[Process], work: Work, now: float, *, over: bool
) -> bool:
    if work.going_on(members, now):
        return False
    return over or (not pump.open and all(tie(process, child) == DETACHED for process in members))


def settle(child: Child, pump: Pump, reach: Reach, policy: Policy) -> list[Stray]:
    """After a normal end: stop the strays that the policy stops, leave the others alone, name them all."""
    drain(child, pump, reach, time.monotonic)
    settling = Settling(child, reach, policy, time.monotonic)
    pause = FIRST_PAUSE
    while not reach.empty() and settling.round():
        pump.turn(pause)
        pause = min(pause * 2, LONGEST_PAUSE)
    return settling.strays()


def end(pump: Pump, reach: Reach) -> list[Stray]:
    """After a time-out or cancel: end everything, and name what could not be ended."""
    left = end_all(reach, pump.turn, time.monotonic, lambda: pump.orders.hurry)
    until = time.monotonic() + DRAIN
    while pump.open and not left and time.monotonic() < until:  # held by somebody outside our reach
        pump.turn(until - time.monotonic())
    return survivors(left)


class Settling:
    """The state of one clean-up: who was named, who was asked to end, and until when each has time."""

    def __init__(self, child: Child, reach: Reach, policy: Policy, now: Callable[[], float]) -> None:
        self.child, self.reach, self.policy, self.now = child, reach, policy, now
        self.named: dict[tuple[int, int], Stray] = {}
        self.deadlines: dict[int, float] = {}
        self.began = now()
        self.first_look = True

    def strays(self) -> list[Stray]:
        return [self.named[key] for key in sorted(self.named)]

    def round(self) -> bool:
        """Look at every stray once and push those that must end; True while there is hope for one.

        One that is too quick to be seen is looked for until nothing shows it any more.
        """
        hope = False
        for process in self.reach.members():
            stray = self._judged(process)
            if stray is None:
                hope = True  # it ends by itself: neither a stray nor ours to stop
                continue
            if stray.action == "stopped" and not self._push(process):
                stray.action, stray.reason = "left", _why_left(process)
            hope = hope or stray.action == "stopped"
            self._name(stray, (process.start, process.pid))
        self.first_look = False
        self._strike()
        return hope or (not self.reach.whole and self.now() - self.began < GIVE_UP)

    def _judged(self, process: Process) -> Stray | None:
        """Name a process and what becomes of it, before anything is done to it; None if it is just ending."""
        action, reason = self.policy.judge(process, tie(process, self.child))
        stray = Stray(process, action, reason)
        now = survey.look(process.pid)  # what it held was read from a process that may have ended meanwhile
        ending = now is None or not now.alive or now.exiting
        return None if ending and self.now() - self.began < GIVE_UP else stray

    def _name(self, stray: Stray, key: tuple[int, int]) -> None:
        """Name each stray once; what a program forks again and again while it is stopped is one program."""
        if key in self.named and stray.action != "left":
            return
        known = stray.action != "stopped" or self.first_look
        if known or all(stray.command != other.command for other in self.named.values()):
            self.named[key] = stray

    def _push(self, process: Process) -> bool:
        """SIGTERM first, SIGKILL when its time is over; False when it cannot be ended.

        One that appears after SIGTERM was sent has the time of its parent: a program that forks itself
        again and again must not win new time each time.
        """
        now = self.now()
        if now - self.began > GRACE + GIVE_UP:
            return False
        if process.pid not in self.deadlines:
            self.deadlines[process.pid] = self._deadline(process)
            if self.deadlines[process.pid] > now:
                send(process, signals.SIGCONT)
                return send(process, signals.SIGTERM)
        if now < self.deadlines[process.pid]:
            return True
        return send(process, signals.SIGKILL)

    def _strike(self) -> None:
        """When the time of all is over and none may stay: end them with one call, where there is one."""
        over = self.deadlines and self.now() >= max(self.deadlines.values())
        if over and all(stray.action == "stopped" for stray in self.named.values()):
            self.reach.strike()

    def _deadline(self, process: Process) -> float:
        if process.parent in self.deadlines:
            return self.deadlines[process.parent]
        if survey.catches(process.pid, signals.SIGTERM) and self.now() - self.began < ABRUPT:
            return self.began + GRACE
        return self.began + ABRUPT


def survivors(members: list[Process]) -> list[Stray]:
    """Name what could not be ended after a time-out or cancel."""
    return [Stray(process, "left", _why_left(process)) for process in members]


def _why_left(process: Process) -> str:
    try:
        return "it belongs to another user" if not send(process, 0) else "it did not end after SIGKILL"
    except OSError:
        return "it did not end after SIGKILL"
