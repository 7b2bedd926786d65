"""``firsthand show``: one record, or the lines that were kept of a stream that was cut."""

from __future__ import annotations

from firsthand.cli import common, say, view
from firsthand.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from typing import Any

    from firsthand.record import Record
    from firsthand.store.readers import Reader

    Lines = list[tuple[int, str]]


ABOUT = """\
Show one record: the command, where and when it ran, the verdict, and what was kept of both streams.
With --stream, page through the wider windows that were kept of a stream that was cut, so that a slow
command need not run again to see its middle. Line numbers are those of the raw stream."""

MORE = """\
Exit status: 0, also with nothing to show; 2 no such record, usage, or a store that may not be read.

Examples:
  firsthand show
  firsthand show 01a22bc1 --stream stderr --lines 200:260
  firsthand show 01a22bc1 --stream stdout --grep FAILED"""


def parser() -> common.Parser:
    """Return what the verb takes."""
    made = common.Parser("show", ABOUT, MORE)
    made.add_argument(
        "id", nargs="?", metavar="ID", help="a command_id or its unique beginning (default: newest)"
    )
    made.add_argument("--stream", choices=("stdout", "stderr"), help="only this stream, with line numbers")
    made.add_argument(
        "--lines", metavar="A:B", help="only these lines of it (1 is the first; either may be left out)"
    )
    made.add_argument("--grep", metavar="WORD", help="only lines that contain this text")
    return made


def main(arguments: list[str]) -> int:
    """Show one record."""
    wanted = parser()
    options = wanted.parse_args(arguments)
    if (options.lines or options.grep) and not options.stream:
        wanted.error("--lines and --grep need --stream stdout or --stream stderr")
    span = _span(options.lines) if options.lines else None
    reader = common.open_store(options.project)
    record = common.wanted(reader, options.id)
    common.report_skipped(reader)
    if record is None:
        say.note("no records yet: firsthand run -- COMMAND makes one")
    elif options.stream:
        _page(reader, record, options, span)
    elif options.json:
        say.obj(record)
    else:
        say.out(_facts(record) + view.full(record))
    return 0


def _facts(record: Record) -> str:
    import shlex

    lines = [f"$ {shlex.join(record['command'])}", f"in {record['cwd']} at {record['started_at']}"]
    if record["parent_command_id"]:
        lines.append(f"retries {record['parent_command_id']}")
    if record["agent_note"]:
        lines.append(f"predicted: {record['agent_note']}")
    return "\n".join(lines) + "\n"


def _span(text: str) -> tuple[int, int | None]:
    first, colon, last = text.partition(":")
    if not colon or not all(part.isdecimal() or not part for part in (first, last)):
        raise UsageError(f"--lines {text} is no range", "give 200:260, 200: or :60")
    span = int(first or 1), int(last) if last else None
    if not span[0] or (span[1] is not None and span[1] < span[0]):
        raise UsageError(f"--lines {text} is empty", "lines begin at 1, and A:B counts upwards")
    return span


def _page(reader: Reader, record: Record, options: Namespace, span: tuple[int, int | None] | None) -> None:
    kept = (reader.output(record) or {}).get(options.stream)
    lines = _kept_lines(kept) if kept else _tail_lines(record[f"{options.stream}_tail"])
    if span:
        lines = [entry for entry in lines if _within(entry[0], span)]
    if options.grep:
        lines = [entry for entry in lines if options.grep in entry[1]]
    for number, text in lines:
        if options.json:
            say.obj({"line": number, "text": text})
        else:
            say.out(f"{number:>7}  {text}")
    if kept and not options.json:
        _say_gone(kept, span)


def _kept_lines(kept: dict[str, Any]) -> Lines:
    return [line for first, text in kept["blocks"] for line in enumerate(text.split("\n"), first)]


def _tail_lines(text: str) -> Lines:
    return list(enumerate(text.split("\n"), 1)) if text else []


def _within(number: int, span: tuple[int, int | None]) -> bool:
    return number >= span[0] and (span[1] is None or number <= span[1])


def _say_gone(kept: dict[str, Any], span: tuple[int, int | None] | None) -> None:
    first, last = int(kept["hidden"][0]), int(kept["hidden"][1])
    asked = span is None or (span[0] <= last and (span[1] is None or span[1] >= first))
    if last and asked:
        gone = f"lines {first} to {last} of {kept['total']} were not kept"
        say.note(f"{gone}: run the command again into a file to see them")
