"""``firsthand last``: the newest records, oldest first."""

from __future__ import annotations

from firsthand.cli import common, say, view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.record import Record

DEFAULT_COUNT = 20


def main(arguments: list[str]) -> int:
    """List records, newest last."""
    parser = common.Parser("last", "List the newest records, oldest first, newest last.")
    parser.add_argument("-n", type=number, default=DEFAULT_COUNT, metavar="N", help="how many (default 20)")
    parser.add_argument("--failed", action="store_true", help="only those whose exit code is null or not 0")
    parser.add_argument("--null", action="store_true", help="only those without an exit code")
    parser.add_argument("--session", metavar="ID", help="only those of one session")
    options = parser.parse_args(arguments)

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
