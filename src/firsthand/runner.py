"""All of it joined: a request becomes a run, a record and a line in the store. The only such place."""

from __future__ import annotations

from firsthand import caps, compose
from firsthand.errors import FirsthandError
from firsthand.process import front
from firsthand.process.pump import Pump
from firsthand.process.supervise import Command, Outcome, run_here
from firsthand.record import Record
from firsthand.redact import Redactor
from firsthand.request import Request
from firsthand.store import place, running
from firsthand.store.append import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    from firsthand.process.front import Relay
    from firsthand.process.keeper import Job
    from firsthand.process.live import Queue
    from firsthand.process.pump import Orders
    from firsthand.store.running import Running
    from firsthand.survey import Process

    class View(Protocol):
        """Shows a run to a person while it goes on."""

        def open(self) -> Queue:
            """Return what the keeper is to fill."""

        def relay(self, keeper: int, answer: int, control: int, wake: int, callers: Sequence[int]) -> Relay:
            """Return the relay that shows what arrives in it."""


class Run:
    """One request on its way: its draft record, its redactor, its store and its ``running/`` file."""

    def __init__(self, wanted: Request) -> None:
        self.request = wanted
        self.redactor = Redactor()
        self.draft = compose.draft(wanted, self.redactor)
        self.place = place.place_of(wanted.root, wanted.root, wanted.folders)
        self.store = Store(self.place, fsync=wanted.fsync)
        self.running: Running | None = None
        self.live: Queue | None = None

    def begin(self) -> None:
        """Leave the trace from which a record can be made whoever dies; adopt those of earlier deaths."""
        self.running = running.begin(self.place, self.draft)
        if self.running and not self.running.alone:
            from firsthand.store import adoption

            adoption.adopt(self.store)

    def perform(self, orders: Orders, contain: str, stdin: int | None) -> Outcome:
        """Run the command in this process."""
        wanted = self.request
        if wanted.trapped:
            from firsthand.process.exit_trap import ExitTrap

            trap = ExitTrap()
            outcome = self._run(trap.wrap(wanted.argv), orders, contain, stdin)
            outcome.pipeline = trap.report()
            return outcome
        return self._run(wanted.argv, orders, contain, stdin)

    def _run(self, argv: list[bytes], orders: Orders, contain: str, stdin: int | None) -> Outcome:
        wanted = self.request
        command = Command(
            argv,
            wanted.env,
            wanted.cwd,
            timeout=wanted.timeout,
            policy=wanted.policy,
            stdin=stdin,
            pump=Pump if self.live is None else self.live.pump,
        )
        return run_here(command, orders, contain=contain, started=self._started)

    def _started(self, child: Any) -> None:
        if self.running:
            self.running.child(child.pid, child.start)

    def finish(self, outcome: Outcome, containment: str, *, again: bool = False) -> Record:
        """Make the record, store it, and take the trace away; ``again`` after an interrupted try."""
        redactor = self.redactor.copy()
        done, wider = compose.complete(self.draft, self.request, outcome, redactor, containment)
        if wider is not None:
            done["kept_output"] = self.store.keep_output(done["command_id"], wider)
        done = self.store.append_once(done) if again else self.store.append(done)
        if self.running:
            self.running.finish()
        if done["log_error"] is not None:  # it names the store's folder
            done["log_error"] = redactor.text(done["log_error"])
        return self._first(done) if again else done

    def _first(self, done: Record) -> Record:
        """Return what is stored under this id where another try or another process was faster."""
        stored_already = done["seq"] is None and done["log_error"] is None
        return (self.stored() or done) if stored_already else done

    def job(self, stdin: int | None) -> Job:
        """Return what a keeper has to do for this run."""

        def do(orders: Orders, containment: str) -> tuple[Any, list[int]]:
            outcome = self.perform(orders, containment, stdin)
            done = self.finish(outcome, containment)
            answer: dict[str, Any] = {"record": dict(done), "signal": outcome.signal}
            if self.live is not None:
                answer["live"] = self.live.rest()
            return answer, outcome.kept_fds

        return do

    def after_death(self, left: list[Process]) -> Record:
        """Return the record of a run whose keeper was killed: the stored one if it got so far, else null."""
        null = running.died(self.draft)
        if left:
            from firsthand import endings
            from firsthand.process import strays

            null["strays"] = endings.name_strays(strays.survivors(left), self.redactor)
        done = self.store.append_once(caps.fit(null))
        if self.running:
            self.running.finish()
        return self._first(done)

    def not_started(self, problem: OSError) -> Record:
        """Return the record of a run for which the system had nothing left to start it with."""
        from firsthand.process.refusal import no_resources

        outcome, refusal = Outcome(), no_resources(problem)
        outcome.error, outcome.detail = refusal.error, refusal.detail
        return self.finish(outcome, self.draft["containment"])

    def stored(self) -> Record | None:
        """Return this run's record from the store, or None where it is not there or cannot be read."""
        from firsthand.errors import StoreError
        from firsthand.store.readers import Reader

        try:
            return Reader(self.place).find(self.request.command_id)
        except StoreError:
            return None


def conduct(
    run: Run, stdin: int | None, callers: Sequence[int] = (), view: View | None = None
) -> dict[str, Any]:
    """Run one request by front and keeper and return the answer: its record, and the signal that ended it.

    ``view`` shows what is printed while it is. A keeper that failed by a fault of ours answers
    ``{"crash": traceback}``.
    """
    run.begin()
    keep = [] if run.running is None else [run.running.fd]
    keep += [] if stdin is None else [stdin]
    try:
        if view is not None:
            run.live = view.open()
            keep.append(run.live.fd)
        answer: dict[str, Any] = front.run(
            run.job(stdin), keep, callers, None if view is None else view.relay
        )
    except front.KeeperDied as death:
        return {"record": dict(run.after_death(death.left)), "signal": None}
    except OSError as problem:
        return {"record": dict(run.not_started(problem)), "signal": None}
    return answer


def run_command_line(
    wanted: Request, stdin: int | None, view: View | None = None
) -> tuple[Record, int | None, str | None]:
    """Run one request as the command line does; ``view`` shows it to a person meanwhile.

    Returns the record, the signal that cancelled it, and a line about where the store is, if it needs one.
    """
    run = Run(wanted)
    answer = checked(conduct(run, stdin, (), view))
    return Record(answer["record"]), answer["signal"], run.place.notice


def checked(answer: dict[str, Any]) -> dict[str, Any]:
    """Refuse a keeper's report of its own fault: that is ours to mend, and the caller's to know."""
    if "crash" not in answer:
        return answer
    raise FirsthandError(
        f"firsthand itself failed:\n{answer['crash']}",
        "please report this; the command may have run: firsthand last",
    )
