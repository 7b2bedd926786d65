"""The rows of the case file: read, checked for keys that nobody handles, and filled in."""

from __future__ import annotations

import functools
import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

Row = dict[str, Any]

FILE = Path(__file__).with_name("exec.jsonl.gz")

LATER = frozenset({"gate", "secret"})
"""Groups of rows whose part of the product is not driven here."""

_DESCRIPTION = {"id", "group", "kind", "source", "is_report", "symptom", "naive", "text_mode", "acceptance"}
"""Keys that do not change how a row is run: ``acceptance`` is the gate's, ``text_mode`` the naive way's."""
_RUN = {"argv", "timeout_s", "expect", "flags", "via", "cwd", "pre", "files"}
_SPECIAL = {"stdin_text", "under_tty", "signal_after", "repeat", "nofile"}
_FILLED = ("argv", "flags", "cwd", "pre", "files", "stdin_text", "expect")

_MARK = re.compile(r"(?:9\.0\d{3}|fhtok[A-Z]\d{2})(?!\d)")
_DIGITS = 8


@functools.cache
def load() -> list[Row]:
    """Return all rows as they stand in the file."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def refuse_unknown(row: Row) -> None:
    """Fail on a key that is not handled, and on a combination that no way of running can give."""
    unknown = set(row) - _DESCRIPTION - _RUN - _SPECIAL
    assert not unknown, f"keys of the row that nothing handles: {sorted(unknown)}"
    if row.get("via") is None:
        assert not row.keys() & {"nofile"}, "a limit set after the imports needs the library"
    else:
        assert row["via"] == "library"
        inapplicable = row.keys() & {"flags", "stdin_text", "under_tty", "signal_after"}
        assert not inapplicable, f"these need the command line: {sorted(inapplicable)}"


def prepare(row: Row, folder: Path) -> Row:
    """Return the row with its folder, its arguments, and marks that no other test run has."""
    digits = f"{int.from_bytes(os.urandom(8), 'big') % 10**_DIGITS:0{_DIGITS}d}"
    filled = {key: _fill(row[key], folder, digits) for key in _FILLED if key in row}
    return {**row, **filled, "argv": [_argument(word) for word in filled["argv"]]}


def _fill(value: Any, folder: Path, digits: str) -> Any:
    if isinstance(value, str):
        return _MARK.sub(lambda mark: mark.group() + digits, value.replace("{TMP}", str(folder)))
    if isinstance(value, list):
        return [_fill(one, folder, digits) for one in value]
    if isinstance(value, dict):
        return {_fill(key, folder, digits): _fill(one, folder, digits) for key, one in value.items()}
    return value


def _argument(word: str) -> str:
    kind, _, rest = word.partition(":")
    if kind == "@BIG":
        return "b" * int(rest)
    if kind == "@RAW":
        return os.fsdecode(bytes.fromhex(rest))
    return "a\0b" if word == "@NUL" else word
