"""A library's runs: in a keeper started by exec, or as a process group in the host itself."""

from __future__ import annotations

import os
import time

from firsthand import procfs, survey
from firsthand.process import host, reader, session, signals, spawn
from firsthand.process.pump import Orders
from firsthand.process.supervise import Outcome
from firsthand.record import Record
from firsthand.request import Request
from firsthand.runner import Run, checked, conduct
from firsthand.store import adoption
from firsthand.store.chain import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONCLUDED_WITHIN = 10.0
"""Seconds that a keeper may need to end a command and store its record: both graces, and some more."""

LOOK_EVERY = 0.01
"""Seconds between two looks at its running file."""

MATTERING = sum(1 << (number - 1) for number in signals.every() if number not in signals.OURS_TO_IGNORE)
"""Signals that must not be ignored, as a mask; 32 and 33 are the C library's own."""

KEEPER_ENTRY = ("firsthand.hosted", "keeper_main")


def keeper_main() -> None:
    """Be the warm process beside a library's host."""
    from firsthand.caps import shorten  # noqa: F401
    from firsthand.capture import cut, lines  # noqa: F401  # imported once, not in every fork
    from firsthand.process import kernel, serving, strays  # noqa: F401

    digest(b"")  # the same for the extension modules
    kernel.find()
    serving.serve(lambda message, stdin, callers: conduct(Run(Request(**message["request"])), stdin, callers))


def run_in_host(wanted: Request, stdin: int | None, contain: str) -> Record:
    """Run one request for a library's caller: in a keeper of its own, or right here as ``group``.

    A ``KeyboardInterrupt`` stops the command and is raised again with the finished record as ``.record``.
    """
    if contain == "group" and grouping_is_safe():
        return run_as_group(wanted, stdin, Orders())
    try:
        answer = host.call(KEEPER_ENTRY, {"request": vars(wanted)}, stdin)
    except host.NoKeeper as refusal:
        return not_started(wanted, refusal)
    except KeyboardInterrupt as interrupt:
        interrupt.record = record_of(wanted, getattr(interrupt, "answer", None))  # type: ignore[attr-defined]
        raise
    return record_of(wanted, answer)


def not_started(wanted: Request, refusal: host.NoKeeper) -> Record:
    """Return the record of a run for which no keeper could be started."""
    return Run(wanted).not_started(refusal.problem)


def record_of(wanted: Request, answer: Any) -> Record:
    """Return the record in a keeper's answer; without an answer, what the store or ``running/`` tell."""
    return _after_killed_front(wanted) if answer is None else Record(checked(answer)["record"])


def run_as_group(wanted: Request, stdin: int | None, orders: Orders) -> Record:
    """Run one request in this very thread; ``orders`` can end it early."""
    run = Run(wanted)
    run.draft["containment"] = "group"
    try:
        run.begin()
        outcome = run.perform(orders, "group", stdin)
    except BaseException as interruption:
        cut_short: Outcome = getattr(interruption, "outcome", None) or _lost(wanted)
        interruption.record = _finished(run, cut_short)  # type: ignore[attr-defined]
        raise
    reader.leave(outcome.kept_fds)
    return _finished(run, outcome)


def _lost(wanted: Request) -> Outcome:
    """A run that was interrupted before anybody watched it: end it if it had begun."""
    for child in procfs.children(os.getpid()):
        if survey.command_line(child) == wanted.argv and survey.leads_its_session(child):
            session.end_session((child, None))
            spawn.wait(child)
    outcome = Outcome()
    outcome.error = "cancelled"
    return outcome


def _finished(run: Run, outcome: Outcome) -> Record:
    """Make and store the record; an interrupt that comes meanwhile is raised when that is done."""
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            record = run.finish(outcome, "group", again=interrupt is not None)
            break
        except KeyboardInterrupt as caught:
            interrupt = caught
    if interrupt is None:
        return record
    interrupt.record = record  # type: ignore[attr-defined]
    raise interrupt


def grouping_is_safe() -> bool:
    """Tell whether this thread's signal state is plain enough to start a command from it directly.

    The command would inherit an ignored signal or a blocked one, and with SIGCHLD ignored the kernel
    throws its exit status away.
    """
    status = procfs.status()
    blocked, ignored = (int(procfs.value(status, key), 16) for key in (b"SigBlk", b"SigIgn"))
    return not blocked and not ignored & MATTERING


def _after_killed_front(wanted: Request) -> Record:
    """What the host had started was shot: its keeper concludes the run, or we do it from the running file."""
    run = Run(wanted)
    give_up = time.monotonic() + CONCLUDED_WITHIN
    while time.monotonic() < give_up:
        adoption.adopt(run.store)
        found = run.stored()
        if found:
            return found
        if not adoption.is_going_on(run.place, wanted.command_id):
            break
        time.sleep(LOOK_EVERY)
    left = session.end_session(adoption.child_of(run.place, wanted.command_id))
    return run.after_death(left)
