"""``replay``."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from tests.programs.store_sample import sample
from tests.support import store_records
from tests.support.readers import name, short, stored

from firsthand.cli import replay

if TYPE_CHECKING:
    from tests.support import CommandLine

COUNTS = 'echo begin; echo x >> count; wc -l < count; exit "$(wc -l < count)"'
"""Prints, and exits with, how often it was run in its folder."""


def ran(cli: CommandLine, *argv: str, **options: Any) -> dict[str, Any]:
    return cli("run", "--json", *argv, **options).record


def without_times(text: str) -> list[str]:
    return [line.partition(" in ")[0] if " in " in line else line for line in text.splitlines()]


def test_the_same_comes_out(cli: CommandLine) -> None:
    """Status 0; the new record is a retry of the old one, with its environment, and says what it is."""
    old = ran(cli, "--env", "inherit", "--", "sh", "-c", "echo $TERM; echo b >&2; exit 3")
    result = cli("replay", old["command_id"])
    new = store_records(cli.store)[1]
    assert (result.status, result.stderr) == (0, "")
    assert without_times(result.stdout) == [
        "$ sh -c 'echo $TERM; echo b >&2; exit 3'",
        f"in {cli.tmp}",
        "exit: agrees",
        "  then: exit 3",
        "  now:  exit 3",
        "stdout: agrees",
        "stderr: agrees",
        f"record: {new['command_id']}",
    ]
    same = ("command", "cwd", "environment", "stdout_tail", "stderr_tail", "exit_code", "via")
    assert {key: new[key] for key in same} == {key: old[key] for key in same}
    assert (new["stdout_tail"], new["parent_command_id"]) == ("xterm-256color", old["command_id"])
    assert new["agent_note"] == f"the same as record {old['command_id']}"


def test_it_runs_in_the_folder_of_the_record(cli: CommandLine) -> None:
    """Wherever the one who replays it stands."""
    (cli.tmp / "there").mkdir()
    old = ran(cli, "--cwd", "there", "--", "pwd")
    assert cli("replay", old["command_id"], cwd=cli.home).status == 0
    assert store_records(cli.store)[1]["stdout_tail"] == str(cli.tmp / "there")


def test_it_differs(cli: CommandLine) -> None:
    """Status 1, with the first line that does."""
    old = ran(cli, "--", "sh", "-c", COUNTS)
    result = cli("replay", old["command_id"])
    assert (result.status, result.stderr) == (1, "")
    assert without_times(result.stdout)[2:9] == [
        "exit: differs",
        "  then: exit 1",
        "  now:  exit 2",
        "stdout: differs from line 2 of the kept text on",
        "  then: 1",
        "  now:  2",
        "stderr: agrees",
    ]


def test_json_of_a_difference(cli: CommandLine) -> None:
    """A line that is no longer there is null; a failure to store is null too, as nothing failed."""
    old = ran(cli, "--", "sh", "-c", "[ -e ran ] || echo once; : > ran")
    result = cli("replay", "--json", old["command_id"])
    end = {"exit_code": 0, "error": None}
    assert (result.status, result.objects) == (
        1,
        [
            {
                "agrees": False,
                "command_id": store_records(cli.store)[1]["command_id"],
                "end": {"agrees": True, "then": end, "now": end},
                "log_error": None,
                "replay_of": old["command_id"],
                "stderr": {"agrees": True},
                "stdout": {"agrees": False, "line": 1, "then": "once", "now": None},
            }
        ],
    )


def test_without_an_exit_code_the_reason_must_agree(cli: CommandLine) -> None:
    """Null is never the same as anything but itself for the same reason."""
    old = ran(cli, "--", "./fh-program")
    assert cli("replay", old["command_id"]).status == 0
    (cli.tmp / "fh-program").write_text("no program\0")
    result = cli("replay", old["command_id"])
    assert (result.status, result.stdout.splitlines()[2]) == (1, "exit: differs")


def test_a_time_out_has_its_own_limit_again(cli: CommandLine) -> None:
    """Not the usual one, which would be five minutes."""
    old = ran(cli, "--timeout", "0.5", "--", "sleep", "304")
    assert cli("replay", old["command_id"], within=30).status == 0
    assert [record["error"] for record in store_records(cli.store)] == ["timeout", "timeout"]


@pytest.mark.parametrize(
    ("error", "milliseconds", "usual", "limit"),
    [
        (None, 50_000, 300.0, 300.0),
        (None, 500_000, 300.0, 1500.0),
        (None, 500_000, None, None),
        ("cancelled", None, 300.0, 300.0),
        ("timeout", 2_000, 300.0, 2.0),
        ("timeout", 2_000, None, 2.0),
        ("timeout", 0, 300.0, 0.001),
    ],
)
def test_its_time_limit(
    error: str | None, milliseconds: int | None, usual: float | None, limit: float | None
) -> None:
    """The one that it ran into, else the usual one, or three times what it took."""
    then = sample(error=error, duration_ms=milliseconds)
    assert replay._limit(then, usual) == limit


def test_what_was_cut_is_not_compared(cli: CommandLine) -> None:
    """And the answer says so."""
    old = ran(cli, "--", "seq", "1", "200")
    result = cli("replay", old["command_id"])
    assert result.status == 0
    assert "stdout: agrees in what was kept; lines were cut" in result.stdout.splitlines()


def test_what_could_explain_a_difference(cli: CommandLine) -> None:
    """Another program of the same name, another set of variables."""
    old = ran(cli, "--", "sh", "-c", "echo ${PYTHONOPTIMIZE-none}")
    shutil.copy("/bin/sh", cli.base / "bin" / "sh")
    result = cli("replay", old["command_id"], env={"NODE_ENV": "test"})
    notes = [line for line in result.stdout.splitlines() if line.startswith("note: ")]
    assert notes == [
        f"note: the program was {old['executable']} then and is {cli.base / 'bin' / 'sh'} now",
        "note: set at only one of the two times: NODE_ENV",
    ]


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("cut", "its command is kept with a part cut out"),
        ("redacted", "a secret of its command was not kept"),
        ("bytes", "its command or folder holds bytes that are no UTF-8 text, which a record cannot keep"),
        ("stdin", "it read standard input, which is not kept"),
        (None, "whether its command was kept whole is not known"),
    ],
)
def test_what_was_not_kept_whole_is_refused(cli: CommandLine, word: str | None, why: str) -> None:
    """Status 2, nothing is run."""
    stored(cli, 1, replayable=word, cwd=str(cli.tmp))
    result = cli("replay", name(1))
    assert (result.status, result.stdout) == (2, "")
    assert short(result.stderr).splitlines() == [
        f"firsthand: error: record #1 cannot be replayed ({word}): {why}",
        "hint: run it by hand: firsthand run -- COMMAND",
    ]
    assert len(store_records(cli.store)) == 1


def test_real_runs_that_cannot_be_replayed(cli: CommandLine) -> None:
    """As ``run`` records them."""
    secret = "pass" + "word=" + "correct-horse"
    for argument, word in ((secret, "redacted"), ("x" * 3000, "cut"), ("\udcff", "bytes")):
        old = ran(cli, "--", "echo", argument)
        refused = cli("replay", old["command_id"])
        assert (refused.status, f"cannot be replayed ({word}): " in refused.stderr) == (2, True), argument


def test_a_folder_that_is_gone(cli: CommandLine) -> None:
    """Is refused: to run it elsewhere would not be a replay."""
    stored(cli, 1, cwd="/fh-no-such-folder")
    result = cli("replay", name(1))
    assert (result.status, result.stderr.splitlines()) == (
        2,
        [
            "firsthand: error: its folder /fh-no-such-folder does not exist here",
            "hint: make it, or run it by hand: firsthand run -- COMMAND",
        ],
    )


def test_from_another_store(cli: CommandLine) -> None:
    """The record is read there and nothing is written there; the new one is in ours, without a parent."""
    old = ran(cli, "--", "echo", "hello")
    collected = cli.base / "collected"
    cli.store.rename(collected)
    before = {path.name: path.read_bytes() for path in collected.iterdir() if path.is_file()}
    result = cli("replay", old["command_id"], "--from", str(collected))
    assert (result.status, result.stderr) == (0, "")
    (new,) = store_records(cli.store)
    assert (new["parent_command_id"], new["stdout_tail"]) == (None, "hello")
    assert {path.name: path.read_bytes() for path in collected.iterdir() if path.is_file()} == before


def test_from_a_folder_that_is_no_store(cli: CommandLine) -> None:
    """The hint says which folder to name."""
    result = cli("replay", name(1), "--from", str(cli.home))
    assert (result.status, result.stderr.splitlines()) == (
        2,
        [
            f"firsthand: error: {cli.home} holds no record file",
            "hint: name the folder that feedback_record.jsonl is in",
        ],
    )
    assert not cli.store.exists()


def test_an_unknown_record(cli: CommandLine) -> None:
    """In JSON the refusal is one object on stdout."""
    result = cli("replay", "--json", "deadbeef")
    assert (result.status, result.stderr) == (2, "")
    assert result.objects == [
        {
            "schema": "firsthand.error/1",
            "code": "usage",
            "message": "no record deadbeef",
            "hint": "firsthand last shows them",
        }
    ]
