"""Make a record from a request and its outcome: every text redacted, every field within its cap."""

from __future__ import annotations

from firsthand import caps, capture, environment, record
from firsthand.capture.kept import SMALLEST_STREAM
from firsthand.record import Record
from firsthand.redact import one_line
from firsthand.redact.text import is_exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.capture import Kept, Limits, Windows
    from firsthand.process.strays import Stray
    from firsthand.process.supervise import Outcome
    from firsthand.redact import Redactor
    from firsthand.request import Request

OUTPUT_SCHEMA = "firsthand.output/1"

SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "busybox", "fish"))
"""Programs whose ``-c`` text can hide the exit code of a member."""


def draft(request: Request, redactor: Redactor) -> Record:
    """Return all of the record that is known before the start; what comes of it is still null."""
    words = [redactor.raw(argument) for argument in request.argv]
    command = caps.cut_command(words)
    return Record(dict.fromkeys(record.KEYS) | {
        "schema": record.SCHEMA,
        "command_id": request.command_id,
        "parent_command_id": request.parent,
        "parent_found": None,
        "input_command_ids": list(request.inputs),
        "session_id": None if request.session is None else redactor.text(one_line(request.session)),
        "source": "runner",
        "via": request.via,
        "command": command,
        "env_names": environment.names(request.env),
        "replayable": replayable(request, words, command, redactor),
        "cwd": redactor.raw(request.cwd),
        "started_at": record.timestamp(),
        "stdout_tail": "",
        "stderr_tail": "",
        "agent_note": redactor.text(one_line(request.note)) or None,
        "expect": _redacted_expect(request.expect, redactor),
        "exit_masked_by": masked_by(request.argv),
        "strays": [],
        "redactions": dict(redactor.counts),
        "environment": request.environment,
        "containment": "subreaper",
    })  # fmt: skip


def _redacted_expect(expect: dict[str, Any] | None, redactor: Redactor) -> dict[str, Any] | None:
    if expect is None or "contains" not in expect:
        return expect
    return expect | {"contains": redactor.raw(expect["contains"])}


def replayable(request: Request, words: list[str], command: list[str], redactor: Redactor) -> bool | str:
    """Return True where the record's command can be run again as it stands, else the first reason why not."""
    if command != words:
        return "cut"
    if redactor.counts:
        return "redacted"
    if not all(is_exact(argument) for argument in (*request.argv, request.cwd)):
        return "bytes"
    return "stdin" if request.has_stdin else True


def masked_by(argv: list[bytes]) -> str | None:
    """Return ``"unknown"`` for a text given to a shell: what it hides is decided by the shell module."""
    for position, word in enumerate(argv):
        if word.rpartition(b"/")[2].decode("ascii", "replace") in SHELLS and _takes_text(
            argv[position + 1 :]
        ):
            return "unknown"
    return None


def _takes_text(options: list[bytes]) -> bool:
    skip = False
    for word in options:
        if skip:
            skip = False
        elif word[:1] not in (b"-", b"+"):
            return word in SHELL_APPLETS
        elif not word.startswith(b"--") and b"c" in word:
            return True
        else:
            skip = word[-1:] in (b"o", b"O") or word in (b"--rcfile", b"--init-file")
    return False


SHELL_APPLETS = (b"sh", b"ash")
"""``busybox sh -c TEXT``."""


def complete(
    base: Record, request: Request, outcome: Outcome, redactor: Redactor, containment: str
) -> tuple[Record, dict[str, Any] | None]:
    """Return the finished record and, where a stream was cut, the wider windows to keep beside it."""
    error, detail = _ending(outcome, request.timeout)
    out = _keep(outcome.stdout, redactor, request.limits(), "stdout_tail")
    err = _keep(outcome.stderr, redactor, request.limits(), "stderr_tail")
    exit_code = outcome.status[1] if error is None and outcome.status else None
    done = Record(base)
    done.update(
        executable=None if outcome.executable is None else redactor.raw(outcome.executable),
        duration_ms=outcome.duration_ms,
        exit_code=exit_code,
        error=error,
        error_detail=None if detail is None else redactor.text(one_line(detail)),
        stdout_tail=out.text,
        stderr_tail=err.text,
        truncations={"stdout": out.lines_cut, "stderr": err.lines_cut},
        bytes={"stdout": outcome.stdout.total, "stderr": outcome.stderr.total},
        expectation_met=_met(request, base, exit_code, out, err),
        pipestatus=_members(request, outcome, exit_code, redactor),
        strays=_strays(outcome.strays, redactor),
        containment=containment,
    )
    done["redactions"] = dict(redactor.counts)
    return caps.fit(done), _wider(done, out, err)


def _ending(outcome: Outcome, timeout: float | None) -> tuple[str | None, str | None]:
    if outcome.error is None and outcome.status and outcome.status[0] == "exited":
        return None, None
    from firsthand import endings

    return endings.explain(outcome, timeout)


def _met(request: Request, base: Record, exit_code: int | None, out: Kept, err: Kept) -> bool | None:
    if request.expect is None:
        return None
    from firsthand import expectation

    texts = (out.text, err.text)
    return expectation.met(request.expect, base["expect"], exit_code, texts, out.cut or err.cut)


def _keep(windows: Windows, redactor: Redactor, limits: Limits, key: str) -> Kept:
    """Keep what fits both the limits and the field's cap as written in JSON, counted like any other cut."""
    cap = caps.TEXT_CAPS[key]
    while True:
        trial = redactor.copy()
        kept = capture.keep(windows, trial.text, limits)
        size = caps.size(kept.text)
        if size <= cap or limits.stream_bytes <= SMALLEST_STREAM:
            redactor.counts, redactor.order = trial.counts, trial.order
            return kept
        smaller = len(kept.text.encode()) * cap // size - 1
        limits = limits.narrowed(max(SMALLEST_STREAM, min(smaller, limits.stream_bytes - 1)))


def _members(
    request: Request, outcome: Outcome, exit_code: int | None, redactor: Redactor
) -> list[dict[str, Any]] | None:
    """Return the members of the last pipeline of a shell line, where they are known."""
    if outcome.pipeline is None:
        return None
    from firsthand.shell import members

    statuses, last_command = outcome.pipeline
    line = request.argv[-1].decode("utf-8", "replace")
    found = members.last_pipeline(line, statuses, last_command, exit_code)
    return found and [member | {"command": redactor.raw(member["command"])} for member in found]


def _strays(found: list[Stray], redactor: Redactor) -> list[dict[str, Any]]:
    if not found:
        return []
    from firsthand import endings

    return endings.name_strays(found, redactor)


def _wider(done: Record, out: Kept, err: Kept) -> dict[str, Any] | None:
    streams = {"stdout": out, "stderr": err}
    if not any(kept.cut for kept in streams.values()):
        return None
    return {"schema": OUTPUT_SCHEMA, "command_id": done["command_id"]} | {
        name: {
            "blocks": [list(block) for block in kept.blocks],
            "total": kept.lines_total,
            "hidden": list(kept.hidden),
        }
        if kept.cut
        else None
        for name, kept in streams.items()
    }
