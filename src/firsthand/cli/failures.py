"""``firsthand failures``: what went wrong, and whether it was mended."""

from __future__ import annotations

from firsthand.attempts import Chains, failed
from firsthand.cli import common, last, say, view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.attempts import Chain
    from firsthand.record import Record

ABOUT = """\
List the failed attempts of the whole store, oldest first: every record whose exit code is null or not
0, with its number in its retry chain and the first later attempt of that chain that ended with exit
code 0, if there is one. A retry that ran another command is said to be one."""

MORE = """\
Exit status: 0, also with nothing to show; 2 usage, or a store that may not be read.

Examples:
  firsthand failures --session "$FIRSTHAND_SESSION"
  firsthand failures --json | jq -r 'select(.succeeded_as == null).command_id'"""


def parser() -> common.Parser:
    """Return what the verb takes."""
    made = common.Parser("failures", ABOUT, MORE)
    made.add_argument(
        "-n",
        type=last.number,
        default=last.DEFAULT_COUNT,
        metavar="N",
        help="how many, the newest (default 20)",
    )
    made.add_argument("--session", metavar="ID", help="only those of one session")
    return made


def main(arguments: list[str]) -> int:
    """List failed attempts."""
    options = parser().parse_args(arguments)
    reader = common.open_store(options.project)
    chains = Chains(reader.all())
    common.report_skipped(reader)
    found = [record for record in chains.records.values() if _wanted(record, options.session)]
    for record in found[-options.n :]:
        chain = chains.of(record["command_id"])
        if options.json:
            say.obj(_object(record, chain))
        else:
            say.out(f"{view.line(record)}\n  {_fate(record, chain)}")
    if not found and not options.json:
        say.note("no failed attempt in this store")
    if len(found) > options.n:
        say.note(f"{common.count(len(found) - options.n, 'older failure')} not shown: -n {len(found)}")
    return 0


def _wanted(record: Record, session: str | None) -> bool:
    return failed(record) and (session is None or record["session_id"] == session)


def _fate(record: Record, chain: Chain) -> str:
    number, attempts = chain.numbers[record["command_id"]], len(chain.attempts)
    place = f"attempt {number} of {attempts}" + (" in this store" if chain.missing() else "")
    success = chain.success_after(number)
    if success:
        other = "" if _same(record, success) else ", by another command"
        command_id = success["command_id"]
        return f"{place}: attempt {chain.numbers[command_id]} succeeded{other} ({command_id})"
    return f"{place}: " + ("not retried since" if number == attempts else "no later attempt succeeded")


def _same(record: Record, other: Record) -> bool:
    return bool(record["command"] == other["command"] and record["cwd"] == other["cwd"])


def _object(record: Record, chain: Chain) -> dict[str, Any]:
    kept = ("command_id", "session_id", "started_at", "duration_ms", "exit_code", "error", "command", "cwd")
    number = chain.numbers[record["command_id"]]
    success = chain.success_after(number)
    return {key: record[key] for key in kept} | {
        "attempt": number,
        "attempts": len(chain.attempts),
        "missing": chain.missing(),
        "verdict": view.verdict(record),
        "succeeded_as": success and success["command_id"],
        "same_command": _same(record, success) if success else None,
    }
