"""A library's runs: in a keeper started by exec, or as a process group in the host itself."""

from __future__ import annotations

import os

from firsthand.process import front, host, keeper, procfs, reader, session, signals
from firsthand.process.pump import Orders
from firsthand.process.refusal import no_resources
from firsthand.process.supervise import Outcome
from firsthand.record import Record
from firsthand.request import Request
from firsthand.runner import Run, checked
from firsthand.store import running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.process.keeper import Job

KEEPER_ENTRY = ("firsthand.hosted", "keeper_main")


def keeper_main() -> None:
    """Be the keeper that a library's host has started."""

    def job_of(message: dict[str, Any]) -> Job:
        def do(orders: Orders, containment: str) -> tuple[Any, list[int]]:
            run = Run(Request(**message["request"]))
            run.begin()
            return run.job(message["stdin"])(orders, containment)

        return do

    keeper.main(job_of)


def run_in_host(wanted: Request, stdin: int | None, contain: str) -> Record:
    """Run one request for a library's caller: in a keeper of its own, or right here as ``group``.

    A ``KeyboardInterrupt`` stops the command and is raised again with the finished record as ``.record``.
    """
    if contain == "group" and grouping_is_safe():
        return _run_as_group(wanted, stdin)
    try:
        answer = checked(host.call(KEEPER_ENTRY, {"request": vars(wanted)}, stdin))
    except host.NoKeeper as refusal:
        return _not_started(wanted, refusal.problem)
    except KeyboardInterrupt as interrupt:
        answer = getattr(interrupt, "answer", None)
        interrupt.record = Record(answer["record"]) if answer else Run(wanted).after_death([])  # type: ignore[attr-defined]
        raise
    except front.KeeperDied:
        return _after_killed_keeper(wanted)
    return Record(answer["record"])


def _run_as_group(wanted: Request, stdin: int | None) -> Record:
    run = Run(wanted)
    run.draft["containment"] = "group"
    run.begin()
    outcome = Outcome()
    try:
        done, outcome = run.execute(Orders(), "group", stdin, "here" if _stands_in(wanted.cwd) else "there")
    except BaseException as interruption:
        if hasattr(interruption, "outcome"):
            interruption.record = run.finish(interruption.outcome, "group")  # type: ignore[attr-defined]
        raise
    reader.leave(outcome.kept_fds)
    return done


def _stands_in(folder: bytes) -> bool:
    try:
        return os.getcwdb() == folder
    except FileNotFoundError:
        return False


def grouping_is_safe() -> bool:
    """Tell whether this thread's signal state is plain enough to start a command from it directly.

    The command would inherit an ignored signal or a blocked one, and with SIGCHLD ignored the kernel
    throws its exit status away.
    """
    blocked = ignored = 0
    for line in (procfs.read("/proc/thread-self/status", 8192) or b"").splitlines():
        if line.startswith(b"SigBlk:"):
            blocked = int(line.split()[1], 16)
        elif line.startswith(b"SigIgn:"):
            ignored = int(line.split()[1], 16)
    ours = sum(1 << (number - 1) for number in signals.OURS_TO_IGNORE)
    return not blocked and not ignored & ~ours


def _not_started(wanted: Request, problem: OSError) -> Record:
    outcome = Outcome()
    refusal = no_resources(problem)
    outcome.error, outcome.detail = refusal.error, refusal.detail
    return Run(wanted).finish(outcome, "subreaper")


def _after_killed_keeper(wanted: Request) -> Record:
    """The keeper of a host was shot: end what is left of the command's session, and conclude the run."""
    run = Run(wanted)
    left = session.end_session(running.child_of(run.place, wanted.command_id))
    running.adopt(run.store)
    return run.stored() or run.after_death(left)
