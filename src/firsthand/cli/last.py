"""``firsthand last``: the newest records, oldest first."""

from __future__ import annotations

from firsthand.cli import common, say, view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.record import Record

DEFAULT_COUNT = 20

ABOUT = """\
List the newest records, oldest first, newest last: id, start (UTC), verdict and command, one a line."""

MORE = """\
Exit status: 0, also with nothing to show; 2 usage, or a store that may not be read.

Examples:
  firsthand last -n 5 --failed
  firsthand last --json --session "$FIRSTHAND_SESSION" | jq -r .error"""


def parser() -> common.Parser:
    """Return what the verb takes."""
    made = common.Parser("last", ABOUT, MORE)
    made.add_argument("-n", type=number, default=DEFAULT_COUNT, metavar="N", help="how many (default 20)")
    made.add_argument("--failed", action="store_true", help="only those whose exit code is null or not 0")
    made.add_argument("--null", action="store_true", help="only those without an exit code")
    made.add_argument("--session", metavar="ID", help="only those of one session")
    return made


def main(arguments: list[str]) -> int:
    """List records, newest last."""
    options = parser().parse_args(arguments)

    def where(record: Record) -> bool:
        return (not options.failed or record["exit_code"] != 0) and (
            not options.null or record["exit_code"] is None
        )

    reader = common.open_store(options.project)
    records = reader.last(options.n, session=options.session, where=where)
    for record in records:
        if options.json:
            say.obj(record)
        else:
            say.out(view.line(record))
    if not records and not options.json:
        say.note("no records yet: firsthand run -- COMMAND makes one")
    common.report_skipped(reader)
    return 0


def number(text: str) -> int:
    """Read a count of at least 1."""
    count = int(text)
    if count < 1:
        raise ValueError
    return count
