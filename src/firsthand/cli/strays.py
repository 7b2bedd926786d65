"""``firsthand strays``: what commands left running, and an end to it."""

from __future__ import annotations

from firsthand.cli import common, say
from firsthand.process import leftovers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.store.readers import Reader

    Entries = dict[tuple[int, str], dict[str, Any]]

ABOUT = """\
List what is still alive of the processes that records of this store name as kept or left. With --stop,
stop them: SIGTERM, then SIGKILL after 2 seconds. A process counts only while its pid and its start
(boot and start time) are those of the record, so that a pid that went to another program is never
touched; nor is one whose start was not known."""

MORE = """\
Exit status: 0; with --stop 1 where one is left; 2 usage, or a store that may not be read.

Examples:
  firsthand strays
  firsthand strays --stop"""

LEFT_ONE = 1


def parser() -> common.Parser:
    """Return what the verb takes."""
    made = common.Parser("strays", ABOUT, MORE)
    made.add_argument("--stop", action="store_true", help="stop them, and say which are left")
    return made


def main(arguments: list[str]) -> int:
    """List or stop strays."""
    options = parser().parse_args(arguments)
    reader = common.open_store(options.project)
    alive = _alive(reader)
    common.report_skipped(reader)
    left = leftovers.stop(alive) if options.stop else {}
    for name, entry in alive.items():
        if options.stop:
            entry["state"] = "left" if name in left else "stopped"
            entry["reason"] = left.get(name, entry["reason"])
        _show(entry, options.json)
    if not alive and not options.json:
        say.note("nothing that a record of this store names is alive")
    return LEFT_ONE if left else 0


def _alive(reader: Reader) -> Entries:
    """Return the entries of living processes, each once, as the newest record names it."""
    found: Entries = {}
    unknown = 0
    for record in reader.all():
        for stray in record["strays"] or []:
            if stray["action"] not in ("kept", "left"):
                continue
            if not leftovers.is_name(stray["pid"], stray["start"]):
                unknown += stray["pid"] is not None
            elif leftovers.is_alive(stray["pid"], stray["start"]):
                found[stray["pid"], stray["start"]] = _entry(stray, record["command_id"])
    if unknown:
        say.note(f"{common.count(unknown, 'stray')} without a start cannot be looked for")
    return found


def _entry(stray: dict[str, Any], command_id: str) -> dict[str, Any]:
    return dict(stray) | {"command_id": command_id, "state": "alive"}


def _show(entry: dict[str, Any], as_json: bool) -> None:
    if as_json:
        say.obj(entry)
        return
    state = entry["action"] if entry["state"] == "alive" else entry["state"]
    reason = "" if state == "stopped" else f": {entry['reason']}"
    say.out(f"{state}: {entry['command']} (pid {entry['pid']}, of {entry['command_id']}){reason}")
