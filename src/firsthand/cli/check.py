"""``firsthand check``: may an agent go on after this record?"""

from __future__ import annotations

from firsthand.cli import common, say
from firsthand.gate.one import agent_may_continue

YES, NO, CANNOT_TELL = 0, 1, 2

ABOUT = """\
Say whether an agent may go on after a record, by default the newest, and why. Exit code null and
every code but 0 say no, a failure that was predicted too; an exit 0 that a pipe or a list may hide
something behind says yes, and that it is no evidence."""

MORE = """\
Exit status: 0 yes, 1 no, 2 cannot tell (no such record, usage, or a store that may not be read).

Examples:
  firsthand run -- pytest -q; firsthand check && git commit
  firsthand check --json 01a22bc1 | jq -r .reason"""


def parser() -> common.Parser:
    """Return what the verb takes."""
    made = common.Parser("check", ABOUT, MORE)
    made.add_argument(
        "id", nargs="?", metavar="ID", help="a command_id or its unique beginning (default: newest)"
    )
    return made


def main(arguments: list[str]) -> int:
    """Answer for one record: 0 yes, 1 no, 2 cannot tell."""
    options = parser().parse_args(arguments)
    reader = common.open_store(options.project)
    record = common.wanted(reader, options.id)
    common.report_skipped(reader)
    if record is None:
        may, reason = None, "there is no record yet: firsthand run -- COMMAND makes one"
    else:
        may, reason = agent_may_continue(record)
    if options.json:
        say.obj({"may_continue": may, "reason": reason, "command_id": record and record["command_id"]})
    else:
        say.out(f"{ {True: 'yes', False: 'no', None: 'cannot tell'}[may] }: {reason}")
    return {True: YES, False: NO, None: CANNOT_TELL}[may]
