"""The store read back from its files alone, with none of the code that wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LIVE = "feedback_record.jsonl"
"""The file that is written; older ones end in ``.1`` (the newest of them) to ``.5``."""

_SCHEMA = "firsthand.record/1"


def store_files(folder: Path) -> list[Path]:
    """Return the record files that are there, oldest first."""
    names = [f"{LIVE}.{age}" for age in range(5, 0, -1)] + [LIVE]
    return [folder / name for name in names if (folder / name).exists()]


def store_lines(folder: Path) -> list[bytes]:
    """Return the lines of all record files, oldest first, without line ends; a torn last one too."""
    found: list[bytes] = []
    for path in store_files(folder):
        *lines, rest = path.read_bytes().split(b"\n")
        found += [*lines, rest] if rest else lines
    return found


def parse(line: bytes) -> dict[str, Any] | None:
    """Return the record that a line holds, or None for a bad line."""
    try:
        value = json.loads(line.decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) and value.get("schema") == _SCHEMA else None


def store_records(folder: Path) -> list[dict[str, Any]]:
    """Return the records of all files, oldest first, without the bad lines."""
    return [record for line in store_lines(folder) if (record := parse(line)) is not None]


def bad_lines(folder: Path) -> list[bytes]:
    """Return the lines that hold no record."""
    return [line for line in store_lines(folder) if parse(line) is None]


def line_of(folder: Path, command_id: str) -> bytes:
    """Return the one line that holds this record."""
    found = [line for line in store_lines(folder) if (parse(line) or {}).get("command_id") == command_id]
    assert len(found) == 1, f"{len(found)} lines of the store hold {command_id}"
    return found[0]


def everything(folder: Path) -> dict[str, bytes]:
    """Return every file of the store with its bytes, by its path below the folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
