"""What a record says of an end that was no exit, and of the processes that outlived their command."""

from __future__ import annotations

from firsthand import caps
from firsthand.caps import shorten
from firsthand.process import signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.process.strays import Stray
    from firsthand.process.supervise import Outcome
    from firsthand.redact import Redactor

DIED = "The process that asked for this command was killed, so it was stopped: run it again if still wanted."


def explain(outcome: Outcome, timeout: float | None) -> tuple[str, str]:
    """Return ``error`` and ``error_detail`` of a run that did not exit by itself."""
    if outcome.error:
        return outcome.error, outcome.detail or _early(outcome, timeout)
    word, number = outcome.status or ("lost", 0)
    if word == "lost":
        return "status_lost", (
            "The command ended, but another part of this process took its exit status: "
            'run it through the command line, or with contain="keeper".'
        )
    return f"signal:{signals.name(number)}", _by_signal(number)


def _early(outcome: Outcome, timeout: float | None) -> str:
    if outcome.error == "timeout":
        return f"It was stopped at its limit of {timeout:g} s: raise --timeout, or run less at once."
    if outcome.error == "cancelled":
        by = f" by {signals.name(outcome.signal)}" if outcome.signal else ""
        return f"It was cancelled{by} and stopped: run it again if it is still wanted."
    return DIED


def _by_signal(number: int) -> str:
    name = signals.name(number)
    advice = {
        "SIGKILL": "often the kernel when memory runs out: check memory limits, then run again",
        "SIGSEGV": "it crashed: run it under a debugger, or look for a core dump",
        "SIGABRT": "it aborted itself: read its last lines",
        "SIGPIPE": "what read its output had ended: check the reader",
    }
    what = advice.get(name, "find out who sent it, then run again")
    return f"It did not exit but was ended by {name} ({what})."


def name_strays(found: list[Stray], redactor: Redactor) -> list[dict[str, Any]]:
    """Return what a record says of processes that outlived their command."""
    return [_stray(stray, redactor) for stray in found]


def _stray(stray: Stray, redactor: Redactor) -> dict[str, Any]:
    command = redactor.command(stray.command)
    return {
        "pid": stray.pid,
        "start": stray.start,
        "command": shorten.characters(command, caps.STRAY_CHARACTERS),
        "action": stray.action,
        "reason": redactor.text(stray.reason),
    }
