"""``firsthand chain``: the attempts that belong together, and what each one used."""

from __future__ import annotations

from firsthand.attempts import Chains
from firsthand.cli import common, say, view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.attempts import Chain
    from firsthand.record import Record

ABOUT = """\
Show the retry chain that a record belongs to, oldest attempt first. Attempts are linked by --parent
alone: a chain may begin with an attempt that is no longer in the store, and one attempt may have been
retried twice. Records whose output an attempt used (--from) are no attempts and stand below it as
"uses output of"."""

MORE = """\
Exit status: 0; 2 no such record, usage, or a store that may not be read.

Examples:
  firsthand chain 01a22bc1
  firsthand chain --json 01a22bc1 | jq -r 'select(.exit_code == 0).command_id'"""

GONE = "not in this store: rotated away, or never there"

MOST_SHOWN = 100
"""Attempts that are printed as text, the first and the newest: nobody reads the middle of a loop's chain."""


def parser() -> common.Parser:
    """Return what the verb takes."""
    made = common.Parser("chain", ABOUT, MORE)
    made.add_argument(
        "id", metavar="ID", help="a command_id or its unique beginning: any attempt of the chain"
    )
    return made


def main(arguments: list[str]) -> int:
    """Show one chain."""
    options = parser().parse_args(arguments)
    reader = common.open_store(options.project)
    record = common.found(reader, options.id)
    chains = Chains(reader.all())
    common.report_skipped(reader)
    chain = chains.of(record["command_id"])
    for each in chain.attempts if options.json else _shown(chain.attempts):
        if options.json:
            say.obj(_object(each, chain, chains))
        else:
            say.out("\n".join(_lines(each, chain, chains)))
    hidden = len(chain.attempts) - MOST_SHOWN
    if hidden > 0 and not options.json:
        say.note(f"{common.count(hidden, 'attempt')} after the first not shown: --json has them all")
    return 0


def _shown(attempts: list[Record]) -> list[Record]:
    return attempts if len(attempts) <= MOST_SHOWN else [attempts[0], *attempts[1 - MOST_SHOWN :]]


def _lines(record: Record, chain: Chain, chains: Chains) -> list[str]:
    number, parent = chain.numbers[record["command_id"]], record["parent_command_id"]
    lines = [f"attempt {number}: {view.line(record)}"]
    if parent and parent not in chains.records:
        lines.append(f"  retries {parent} ({GONE})")
    elif parent:
        lines.append(f"  retries attempt {chain.numbers[parent]}")
    return lines + [
        f"  uses output of {used}" + ("" if used in chains.records else f" ({GONE})")
        for used in record["input_command_ids"]
    ]


def _object(record: Record, chain: Chain, chains: Chains) -> dict[str, Any]:
    kept = ("command_id", "parent_command_id", "started_at", "duration_ms", "exit_code", "error", "command")
    parent = record["parent_command_id"]
    return {key: record[key] for key in kept} | {
        "attempt": chain.numbers[record["command_id"]],
        "parent_stored": parent in chains.records if parent else None,
        "verdict": view.verdict(record),
        "uses_output_of": [
            {"command_id": used, "stored": used in chains.records} for used in record["input_command_ids"]
        ],
    }
