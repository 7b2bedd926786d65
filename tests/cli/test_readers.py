"""``last``, ``show``, ``check`` and ``verify``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.support import CommandLine

if TYPE_CHECKING:
    from typing import Any


def objects(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def test_last_lists_oldest_first(cli: CommandLine) -> None:
    """And its filters choose: failed, null, session, number."""
    for session, argv in (("a", ["true"]), ("a", ["false"]), ("b", ["fh-no-such-program"]), ("b", ["true"])):
        cli("run", "--session", session, "--", *argv)
    listed = {name: objects(cli("last", "--json", *options).stdout) for name, options in {
        "all": [], "failed": ["--failed"], "null": ["--null"], "a": ["--session", "a"], "two": ["-n", "2"],
    }.items()}  # fmt: skip
    assert [record["exit_code"] for record in listed["all"]] == [0, 1, None, 0]
    assert [record["exit_code"] for record in listed["failed"]] == [1, None]
    assert [record["exit_code"] for record in listed["null"]] == [None]
    assert [record["exit_code"] for record in listed["a"]] == [0, 1]
    assert [record["exit_code"] for record in listed["two"]] == [None, 0]
    assert len(cli("last").stdout.splitlines()) == 4


def test_readers_of_an_empty_store(cli: CommandLine) -> None:
    """Nothing to show is no error, but it is no yes either."""
    assert ((last := cli("last")).status, last.stdout) == (0, "")
    assert ((show := cli("show")).status, show.stdout) == (0, "")
    assert (
        (check := cli("check")).status,
        check.stdout,
    ) == (2, "cannot tell: there is no record yet: firsthand run -- COMMAND makes one\n")
    assert not cli.store.exists()


def test_check_answers_for_the_newest_or_for_an_id(cli: CommandLine) -> None:
    """0 yes, 1 no, 2 cannot tell."""
    good = cli("run", "--json", "--", "true").record["command_id"]
    cli("run", "--", "false")
    assert (
        (newest := cli("check")).status,
        newest.stdout,
    ) == (1, "no: exit 1: it printed nothing, mend the cause, then retry\n")
    assert ((asked := cli("check", good)).status, asked.stdout) == (0, "yes: exit 0\n")
    answer = json.loads(cli("check", "--json", good).stdout)
    assert {"command_id": good, "may_continue": True, "reason": "exit 0"} == answer
    assert cli("check", "ffffffff").status == 2


def test_show_pages_what_was_kept(cli: CommandLine) -> None:
    """By line numbers of the raw stream, and by word; what lies between the windows is named as gone."""
    command = cli("run", "--json", "--", "bash", "-c", "seq 1 300; seq 1 200000 >&2").record["command_id"]
    middle = cli("show", command, "--stream", "stdout", "--lines", "100:102")
    assert (middle.stdout, middle.stderr) == ("    100  100\n    101  101\n    102  102\n", "")
    assert cli("show", "--stream", "stdout", "--grep", "299").stdout.splitlines() == ["    299  299"]
    assert cli("show", "--stream", "stdout", "--lines", "300:").stdout.splitlines() == ["    300  300"]
    assert objects(cli("show", "--json", "--stream", "stdout", "--lines", "2:2").stdout) == [
        {"line": 2, "text": "2"}
    ]
    gone = cli("show", "--stream", "stderr", "--lines", "5000:5001")
    assert gone.stdout == ""
    assert "were not kept: run the command again into a file" in gone.stderr
    assert "200000" in cli("show", "--stream", "stderr", "--lines", "199999:").stdout


def test_show_tells_what_the_view_leaves_out(cli: CommandLine) -> None:
    """The command, where, when, the prediction and the parent."""
    parent = cli("run", "--json", "--", "false").record["command_id"]
    cli("run", "--note", "works", "--parent", parent, "--", "echo", "a b")
    lines = cli("show").stdout.splitlines()
    assert lines[0] == "$ echo 'a b'"
    assert lines[1].startswith(f"in {cli.tmp} at 20")
    assert [f"retries {parent}", "predicted: works"] == lines[2:4]
    assert "a b" in lines


def test_show_usage(cli: CommandLine) -> None:
    """Status 2 and what to write instead."""
    cli("run", "--", "true")
    for arguments, hint in (
        (["--lines", "1:2"], "firsthand show --help"),
        (["--stream", "stdout", "--lines", "2"], "give 200:260"),
        (["--stream", "both"], "firsthand show --help"),
        (["deadbeef"], "firsthand last shows them"),
        (["--nonsense"], "firsthand show --help"),
    ):
        result = cli("show", *arguments)
        assert (result.status, len(result.stderr.splitlines())) == (2, 2), arguments
        assert hint in result.stderr


def test_verify_tells_intact_from_changed(cli: CommandLine) -> None:
    """0, then 1 after one byte was changed; 2 where there is nothing."""
    assert cli("verify").status == 2
    for _ in range(3):
        cli("run", "--", "true")
    assert ((before := cli("verify")).status, before.stdout) == (0, "intact: 3 records\n")
    live = cli.store / "feedback_record.jsonl"
    live.write_bytes(live.read_bytes().replace(b'"exit_code":0', b'"exit_code":1', 1))
    after = cli("verify", "--json")
    assert (
        after.status,
        json.loads(after.stdout)["ok"],
        json.loads(after.stdout)["status"],
    ) == (1, False, "broken")


def test_bad_lines_are_counted_on_stderr(cli: CommandLine) -> None:
    """Readers go on, and say how much they skipped and why."""
    cli("run", "--", "true")
    with (cli.store / "feedback_record.jsonl").open("a") as file:
        file.write('{"schema":"firsthand.record/2","hash":"x"}\nnonsense\n')
    cli("run", "--", "true")
    result = cli("last", "--json")
    assert len(result.stdout.splitlines()) == 2
    assert "1 bad line skipped: not a record" in result.stderr
    assert "1 line skipped: written by a newer firsthand" in result.stderr


def test_a_closed_pipe_is_no_error(cli: CommandLine) -> None:
    """``firsthand last | head -1`` ends quietly."""
    for _ in range(3):
        cli("run", "--", "true")
    line = '"$@" last | head -n 1; echo "${PIPESTATUS[0]}"'
    import sys

    from tests.support.cli import command

    record = cli(
        "run", "--json", "--", "bash", "-c", line, "sh", *command(), env={"PYTHONPATH": ":".join(sys.path)}
    ).record
    assert record["stdout_tail"].split("\n")[-1] == "0"
    assert record["stderr_tail"] == ""
