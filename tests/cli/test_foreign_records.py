"""Records that another program made or somebody edited: the unusable are skipped, the rest shown safely."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.support import CommandLine

WRONG: list[dict[str, Any]] = [
    {"command": [1, None]},
    {"command": "true"},
    {"started_at": None},
    {"started_at": 5},
    {"duration_ms": "soon"},
    {"duration_ms": 10**400},
    {"exit_code": 1.5},
    {"exit_code": True},
    {"strays": [{"pid": 7}]},
    {"strays": {}},
    {"redactions": {"password": "many"}},
    {"stdout_tail": None},
    {"error_detail": ["x"]},
    {"pipestatus": [3]},
    {"command_id": None},
]

READERS = (["last"], ["failures"], ["strays"], ["verify"], ["check"], ["show"])


def edited(cli: CommandLine, changes: dict[str, Any]) -> str:
    """Store one good record and a changed copy of it; return the good one's id."""
    good = cli("run", "--json", "--", "false").record
    path = cli.store / "feedback_record.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(good | {"command_id": "0" * 36} | changes) + "\n")
    return str(good["command_id"])


@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_a_record_of_another_kind_is_a_bad_line(cli: CommandLine, changes: dict[str, Any]) -> None:
    """Every reader goes on without it; the listing ones count it."""
    good = edited(cli, changes)
    for words in (*READERS, ["chain", good], ["replay", good]):
        for options in ([], ["--json"]):
            result = cli(*words, *options)
            assert "Traceback" not in result.stderr, (words, result.stderr)
    listed = cli("last", "--json")
    assert {record["command_id"] for record in listed.objects} >= {good}
    assert "1 bad line skipped" in cli("last").stderr


def test_control_sequences_of_a_foreign_record_are_shown_not_sent(cli: CommandLine) -> None:
    """A terminal would obey them."""
    edited(cli, {"command": ["\x1b]0;owned\x07true"], "cwd": "/\x1b[2J", "stdout_tail": "\x1b[31mred"})
    for words in (["last"], ["failures"], ["show", "0" * 36], ["chain", "0" * 36]):
        assert "\x1b" not in cli(*words).stdout


def test_every_misuse_is_one_object(cli: CommandLine) -> None:
    """Also where the verb itself is wrong."""
    for words in (["bogus", "--json"], ["--json"], ["--json", "last"], ["last", "--nope", "--json"]):
        result = cli(*words)
        assert (result.status, result.objects[0]["schema"]) == (2, "firsthand.error/1")
