"""The record: its keys, ids, canonical encoding and decoding.

A record is one ``firsthand.record/1`` object. Its stored form is canonical JSON (RFC 8785,
integers only, UTF-8 unescaped); ``docs/record.md`` gives the meaning of each key.
This module is on the start-up path of every run, so it imports neither ``json`` nor ``re``.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

SCHEMA = "firsthand.record/1"

KEYS = (
    "schema", "command_id", "parent_command_id", "parent_found", "input_command_ids", "session_id", "seq",
    "source", "via", "command", "executable", "env_names", "replayable", "cwd", "started_at", "duration_ms",
    "exit_code", "error", "error_detail", "stdout_tail", "stderr_tail", "kept_output", "truncations", "bytes",
    "agent_note", "expect", "expectation_met", "exit_masked_by", "pipestatus", "strays", "redactions",
    "environment", "acceptance", "tree", "containment", "log_error", "torn", "prev_hash", "hash",
)  # fmt: skip
"""Every key of a record, in the order in which the contract lists them. All are always present."""

NAMES = {key: f'"{key}":' for key in sorted(KEYS)}
"""The keys as they stand in a line. They are ASCII, so the order of code points is the canonical one."""

ESCAPES = {number: f"\\u{number:04x}" for number in range(0x20)} | {
    ord(character): "\\" + letter for character, letter in zip('"\\\b\t\n\f\r', '"\\btnfr', strict=True)
}
"""How RFC 8785 writes the characters that JSON cannot hold as they are."""

CONSTANTS = {None: "null", True: "true", False: "false"}

GENESIS_HASH = "0" * 64
"""``prev_hash`` of the first record of a store."""


class Record(dict):  # type: ignore[type-arg]
    """One command's record: a ``dict`` whose keys can be read as attributes too.

    ``record["exit_code"]`` and ``record.exit_code`` are the same. ``exit_code`` is ``None`` exactly
    when ``error`` is not; ``duration_ms`` is in milliseconds, ``bytes`` in bytes, ``truncations`` in lines.
    """

    __slots__ = ()

    if TYPE_CHECKING:
        schema: str
        command_id: str
        parent_command_id: str | None
        parent_found: bool | None
        input_command_ids: list[str]
        session_id: str | None
        seq: int | None
        source: str
        via: str
        command: list[str]
        executable: str | None
        env_names: list[str]
        replayable: bool | str
        cwd: str
        started_at: str
        duration_ms: int | None
        exit_code: int | None
        error: str | None
        error_detail: str | None
        stdout_tail: str
        stderr_tail: str
        kept_output: dict[str, str] | None
        truncations: dict[str, int | None]
        bytes: dict[str, int | None]
        agent_note: str | None
        expect: dict[str, Any] | None
        expectation_met: bool | None
        exit_masked_by: str | None
        pipestatus: list[dict[str, Any]] | None
        strays: list[dict[str, Any]]
        redactions: dict[str, int]
        environment: str
        acceptance: dict[str, str] | None
        tree: dict[str, str] | None
        containment: str
        log_error: str | None
        torn: str | None
        prev_hash: str | None
        hash: str | None
    else:

        def __getattr__(self, name: str) -> Any:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None


def new_id(now_ns: int | None = None) -> str:
    """Return a UUIDv7 (RFC 9562, method 3: twelve bits of the sub-millisecond clock after the time)."""
    ns = time.time_ns() if now_ns is None else now_ns
    milliseconds, rest = divmod(ns, 1_000_000)
    fraction = rest * 4096 // 1_000_000
    noise = int.from_bytes(os.urandom(8), "big") & ((1 << 62) - 1)
    value = (milliseconds & ((1 << 48) - 1)) << 80 | 7 << 76 | fraction << 64 | 2 << 62 | noise
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def timestamp(now_ns: int | None = None) -> str:
    """Return a wall-clock time as RFC 3339 in UTC with milliseconds, ``2026-11-30T08:31:58.042Z``."""
    ns = time.time_ns() if now_ns is None else now_ns
    seconds, rest = divmod(ns, 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest // 1_000_000:03d}Z"


def canonical(value: Any) -> str:
    """Return ``value`` as RFC 8785 text; a number that is not an integer is a ``TypeError``."""
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool):
        return CONSTANTS[value]
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, dict):
        return "{" + ",".join(members(value)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(canonical, value)) + "]"
    raise TypeError(f"a record holds no {type(value).__name__}")


def quote(text: str) -> str:
    """Return one text as JSON; what most texts hold goes a fast way (ten times faster than a table)."""
    printable = text.isprintable()
    if printable and '"' not in text and "\\" not in text:
        return f'"{text}"'
    plain = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n").replace("\t", r"\t")
    return f'"{plain}"' if plain.isprintable() else f'"{text.translate(ESCAPES)}"'


def encode_record(record: Mapping[str, Any]) -> bytes:
    """Return the same as :func:`encode` for a record with all keys and no others, in half the time."""
    return b"{%b}" % ",".join([name + canonical(record[key]) for key, name in NAMES.items()]).encode(
        "utf-8", "replace"
    )


def members(mapping: Mapping[str, Any]) -> Iterable[str]:
    """Yield ``"key":value`` texts in canonical order (by UTF-16 code units, RFC 8785 3.2.3)."""
    order = None if all(map(str.isascii, mapping)) else _utf16  # the codec is an import of its own
    for key in sorted(mapping, key=order):
        yield f"{quote(key)}:{canonical(mapping[key])}"


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def encode(value: Any) -> bytes:
    """Return canonical JSON as UTF-8 bytes, without a line end."""
    return canonical(value).encode("utf-8", "replace")


def decode(line: bytes, *, strict: bool = False) -> Record:
    """Return the record that a stored line holds.

    Unknown keys are kept and ignored; missing ones (an older writer) become ``None``.
    With ``strict`` a duplicate key is refused too, as ``verify`` needs it.

    Raises:
        RecordFormatError: not UTF-8, not one JSON object, or of another schema.
    """
    import json

    from firsthand.errors import RecordFormatError

    hook = _refuse_duplicates if strict else None
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=hook)
    except (ValueError, RecursionError) as error:
        raise RecordFormatError(f"not a record: {error}", "run: firsthand verify") from None
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        found = value.get("schema") if isinstance(value, dict) else type(value).__name__
        raise RecordFormatError(
            f"not a {SCHEMA} record but {found!r}",
            "a newer firsthand may have written it: upgrade, or run: firsthand verify",
        )
    return Record({key: value.get(key) for key in KEYS} | value)


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("duplicate key")
    return value
