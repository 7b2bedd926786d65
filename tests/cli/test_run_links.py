"""``--retry``, ``--from`` and ``--stdin``: a run and earlier ones, a run and its caller's input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support import CommandLine

FLAKY = ["sh", "-c", "test -e done"]


def test_retry_links_the_newest_failed_attempt(cli: CommandLine) -> None:
    """Of the same command: others in between do not count, nor does a success."""
    first = cli("run", "--json", "--", *FLAKY).record
    second = cli("run", "--json", "--retry", "--", *FLAKY).record
    cli("run", "--", "false")
    (cli.tmp / "done").touch()
    third = cli("run", "--json", "--retry", "--", *FLAKY).record
    assert [each["parent_command_id"] for each in (first, second, third)] == [
        None,
        first["command_id"],
        second["command_id"],
    ]
    assert third["exit_code"] == 0


@pytest.mark.parametrize("options", [["--cwd", "/"], ["--session", "other"]])
def test_retry_is_about_the_same_folder_and_session(cli: CommandLine, options: list[str]) -> None:
    """Elsewhere the same words are another command."""
    cli("run", "--", *FLAKY)
    result = cli("run", "--retry", *options, "--", *FLAKY)
    assert (result.status, result.stdout) == (125, "")
    assert result.stderr.startswith("firsthand: error: nothing to retry")


def test_a_command_that_never_failed_cannot_be_retried(cli: CommandLine) -> None:
    """Nor can one be said to retry two attempts."""
    record = cli("run", "--json", "--", "true").record
    assert cli("run", "--retry", "--", "true").status == 125
    result = cli("run", "--retry", "--parent", record["command_id"], "--", "true")
    assert (result.status, "both --retry and --parent" in result.stderr) == (125, True)


def test_a_null_attempt_is_retried_too(cli: CommandLine) -> None:
    """A time-out is no success."""
    words = ["sh", "-c", "test -e quick || sleep 60"]
    first = cli("run", "--json", "--timeout", "0.2", "--", *words).record
    (cli.tmp / "quick").touch()
    assert cli("run", "--json", "--retry", "--", *words).record["parent_command_id"] == first["command_id"]


def test_from_names_the_records_whose_output_is_used(cli: CommandLine) -> None:
    """By their beginnings too; more than one; they are no parents."""
    ids = [cli("run", "--json", "--", "echo", word).record["command_id"] for word in "ab"]
    record = cli("run", "--json", "--from", ids[0], "--from", ids[1][:-1], "--", "true").record
    assert (record["input_command_ids"], record["parent_command_id"]) == (ids, None)
    result = cli("run", "--from", "00000000", "--", "true")
    assert (result.status, "no record 00000000" in result.stderr) == (125, True)


def test_stdin_is_handed_on_only_when_asked(cli: CommandLine) -> None:
    """A command that reads ends at once without it; a run with it cannot be replayed."""
    data = b"one\ntwo\n"
    without = cli("run", "--json", "--", "cat", stdin=data).record
    given = cli("run", "--json", "--stdin", "--", "cat", stdin=data, stdin_open=False).record
    assert (without["stdout_tail"], without["replayable"]) == ("", True)
    assert (given["stdout_tail"], given["replayable"]) == ("one\ntwo", "stdin")


def test_stdin_must_not_be_a_terminal(cli: CommandLine) -> None:
    """A command of its own session cannot read from it."""
    launch = cli.start("run", "--stdin", "--", "cat", terminal=True)
    assert launch.wait().status == 125
