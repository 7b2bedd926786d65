"""``firsthand replay``: run a record's command again, and say whether the same comes out."""

from __future__ import annotations

import os
import shlex

from firsthand.cli import common, say, view
from firsthand.cli import options as more
from firsthand.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.record import Record
    from firsthand.store.place import Place

ABOUT = """\
Run the command of a record again, in its folder and with its kind of environment, and say whether exit
code and kept text of both streams are the same. The new record names the old one as its parent; one
from another store (--from) is no parent, for it is not in this store. Only what was kept whole can be
run again: not a command that was cut or redacted, holds bytes that are no text, or read standard input.

One that was stopped at its time limit is given the same limit again, any other at least three times as
long as it took. A record from elsewhere is a command from elsewhere: replay only what you would run."""

MORE = """\
Exit status: 0 the same, 1 it differs, 2 refused (with the reason), no such record, or usage;
130 cancelled: nothing can be said.

Examples:
  firsthand replay 01a22bc1
  firsthand replay 01a22bc1 --from ~/Downloads/ci-store"""

SAME, DIFFERS = 0, 1
CANCELLED = 130
"""As a shell says of Ctrl+C; no answer was found."""


WHY_NOT = {
    "cut": "its command is kept with a part cut out",
    "redacted": "a secret of its command was not kept",
    "bytes": "its command or folder holds bytes that are no UTF-8 text, which a record cannot keep",
    "stdin": "it read standard input, which is not kept",
}
"""What the words of ``replayable`` mean."""

STREAMS = ("stdout", "stderr")

SLOWER = 3
"""How much longer than then it may take now, where the usual limit is shorter: machines differ."""


def parser() -> common.Parser:
    """Return what the verb takes."""
    made = common.Parser("replay", ABOUT, MORE)
    made.add_argument("id", metavar="ID", help="a command_id or its unique beginning")
    made.add_argument(
        "--from",
        dest="source",
        metavar="DIR",
        help="read the record from this store folder, one collected from elsewhere",
    )
    return made


def main(arguments: list[str]) -> int:
    """Run one record again."""
    options = parser().parse_args(arguments)
    here = common.find_place(options.project)
    then = _record(here, options.id, options.source)
    _refuse_unless_replayable(then)
    if not options.json:
        say.out(f"$ {shlex.join(then['command'])}\nin {then['cwd']}")
    now = _again(then, here, parent=None if options.source else then["command_id"])
    found = compare(then, now)
    if now["error"] == "cancelled":
        found["agrees"] = None
    if options.json:
        say.obj(found)
    elif found["agrees"] is None:
        say.out(f"cancelled: nothing can be said\nrecord: {now['command_id']}")
    else:
        say.out("\n".join(_lines(found, then, now)))
    return {True: SAME, False: DIFFERS, None: CANCELLED}[found["agrees"]]


def _record(here: Place, command_id: str, source: str | None) -> Record:
    from firsthand.store import adoption
    from firsthand.store.readers import Reader

    reader = Reader(_collected(here, source)) if source else adoption.reader(here)
    record = common.found(reader, command_id)
    common.report_skipped(reader)
    return record


def _collected(here: Place, source: str) -> Place:
    """Return the place of a collected store; its files must be ours or the project owner's, as anywhere."""
    from firsthand.store.files import NAMES
    from firsthand.store.place import Place

    folder = os.path.realpath(source)
    if not any(os.path.lexists(os.path.join(folder, name)) for name in NAMES):
        raise UsageError(f"{source} holds no record file", f"name the folder that {NAMES[0]} is in")
    return Place(here.root, folder)


def _refuse_unless_replayable(record: Record) -> None:
    word = record["replayable"]
    again = "run it by hand: firsthand run -- COMMAND"
    if word is not True:
        why = WHY_NOT.get(word, "whether its command was kept whole is not known")
        raise UsageError(f"record {record['command_id']} cannot be replayed ({word}): {why}", again)
    if not os.path.isdir(record["cwd"]):
        raise UsageError(f"its folder {record['cwd']} does not exist here", f"make it, or {again}")


def _again(then: Record, here: Place, parent: str | None) -> Record:
    """Run it as ``firsthand run`` would."""
    from firsthand import config, request, runner
    from firsthand.process import front

    front.ensure_stdio()
    settings = config.load(here.root, os.environ)
    wanted = request.build(
        then["command"],
        settings,
        via="cli",
        timeout=_limit(then, settings.timeout_of(then["command"])),
        cwd=then["cwd"],
        root=here.root,
        note=f"the same as record {then['command_id']}",
        parent=parent,
        kind=then["environment"],
        trapped=more.is_trapped(then["command"]),
    )
    record, _, notice = runner.run_command_line(wanted, None)
    if notice:
        say.note(notice)
    return record


def _limit(then: Record, usual: float | None) -> float | None:
    took = (then["duration_ms"] or 1) / 1000  # 0 would be no limit
    if then["error"] == "timeout":
        return took
    return None if usual is None else max(usual, SLOWER * took)


def compare(then: Record, now: Record) -> dict[str, Any]:
    """Return whether two records agree in how they ended and in what was kept of both streams."""
    found: dict[str, Any] = {key: now[key] for key in ("command_id", "log_error")}
    found["replay_of"] = then["command_id"]
    ends = [{"exit_code": record["exit_code"], "error": record["error"]} for record in (then, now)]
    found["end"] = {"agrees": ends[0] == ends[1], "then": ends[0], "now": ends[1]}
    for name in STREAMS:
        found[name] = _first_difference(then[f"{name}_tail"], now[f"{name}_tail"])
    return found | {"agrees": all(found[key]["agrees"] for key in ("end", *STREAMS))}


def _first_difference(then: str, now: str) -> dict[str, Any]:
    if then == now:
        return {"agrees": True}
    old, new = (text.split("\n") if text else [] for text in (then, now))
    shared = min(len(old), len(new))
    at = next((at for at in range(shared) if old[at] != new[at]), shared)
    lines = {name: lines[at] if at < len(lines) else None for name, lines in (("then", old), ("now", new))}
    return {"agrees": False, "line": at + 1} | lines


def _lines(found: dict[str, Any], then: Record, now: Record) -> list[str]:
    end = found["end"]["agrees"]
    lines = [f"exit: {'agrees' if end else 'differs'}", f"  then: {view.verdict(then)}"]
    lines.append(f"  now:  {view.verdict(now)}")
    for name in STREAMS:
        lines += _stream(name, found[name], cut=bool(then["truncations"][name]))
    lines += [f"note: {text}" for text in _circumstances(then, now)]
    if now["log_error"]:
        lines.append(f"not recorded: {now['log_error']}")
    return [*lines, f"record: {now['command_id']}"]


def _stream(name: str, found: dict[str, Any], *, cut: bool) -> list[str]:
    if found["agrees"]:
        return [f"{name}: agrees" + (" in what was kept; lines were cut" if cut else "")]
    lines = [f"{name}: differs from line {found['line']} of the kept text on"]
    return lines + [f"  {word} {_quoted(found[key])}" for word, key in (("then:", "then"), ("now: ", "now"))]


def _quoted(line: str | None) -> str:
    return "(no such line)" if line is None else line


def _circumstances(then: Record, now: Record) -> list[str]:
    """Name what could explain a difference and is in the records."""
    notes = []
    if then["executable"] != now["executable"]:
        notes.append(f"the program was {then['executable']} then and is {now['executable']} now")
    changed = sorted(set(then["env_names"]) ^ set(now["env_names"]))
    if changed:
        notes.append(f"set at only one of the two times: {', '.join(changed)}")
    return notes
