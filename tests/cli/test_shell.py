"""``run --shell``: a line of bash, and how the members of its last pipeline ended, as bash itself says."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.support import CommandLine

SINGLE = (
    "true", "false", "sh -c 'exit 7'", "true | true", "false | true", "true | false", "false | false",
    "sh -c 'exit 3' | sh -c 'exit 4'", "sh -c 'exit 3' | true | sh -c 'exit 5'", "echo a | grep a",
    "echo a | grep b", "echo 'a|b' | grep -c 'a|b'", "seq 5 | head -1", "seq 100000 | head -1",
    "cat /nonexistent", "cat /nonexistent | wc -l", "cat </nonexistent | true", "no-such-program-x",
    "no-such-program-x | cat", "/ | true", "true | no-such-program-x", "sh -c 'kill -9 $$' | true",
    "sh -c 'kill -TERM $$'", "x=5 sh -c 'exit $x' | cat", "echo a >/dev/null | cat",
    "echo a 2>&1 | grep -q a", "false |& true", "true | true | true | true | false", "test -d / | true",
    "test -f /", "printf '%s' 'a && b' | grep -q '&&'", 'test "a; b" | false', "false | echo '|' | cat",
    "[ a = b ] | true",
)  # fmt: skip
"""One pipeline each: its statuses are those that bash has after it."""

LISTS = {
    "true && false | true": "false | true",
    "false && true": "false",
    "false | true && echo no": "false | true",
    "true | true && false | true | true": "false | true | true",
    "false || sh -c 'exit 6' | true": "sh -c 'exit 6' | true",
    "false; true | false": "true | false",
    "true; false; true": "true",
    "cd / && false | cat": "false | cat",
    "false | true; echo a >&2": "echo a >&2",
    "echo a && cat < /nonexistent": "cat < /nonexistent",
    "false || false || sh -c 'exit 9'": "sh -c 'exit 9'",
    "echo 1; echo 2 | grep 3": "echo 2 | grep 3",
    "true && true && true | false;": "true | false",
    "false | true || true | sh -c 'exit 2' | true": "true | sh -c 'exit 2' | true",
}
"""The pipeline of a list that is run last."""

UNKNOWN = (
    "exit 3", "true; exit 3", "false | true; exit 4", "for i in 1 2; do false | true; done", "(false | true)",
    "{ false | true; }", "f() { false; }; f", "x=$(false)", "echo ${nope:?}", "exec sh -c 'exit 4'",
    "trap 'echo bye' EXIT; false | true", "if false; then true; fi", "true | { false; }", "kill -9 $$",
    "sleep 0 &", "! true", "syntax error (",
    "set -e; false | true; echo never", "true | exit 1; false | true; exit 1", "echo a >",
    "shopt -s lastpipe; false | true; false | exit 1", "IFS=; false; true | false", "echo hi > | cat",
    "true | cat 0<&0; false | cat <&0", "eval 'trap -p'", "echo $BASH_EXECUTION_STRING",
)  # fmt: skip
"""Lines of which the last pipeline is not known; their exit code is bash's all the same."""


def bash(line: str, folder: str) -> subprocess.CompletedProcess[str]:
    argv = ["bash", "-o", "pipefail", "-c", line]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def statuses(line: str, folder: str) -> list[int]:
    """Return the member statuses that bash itself has after a pipeline."""
    done = bash(f'{line}\nprintf "\\n%s" "${{PIPESTATUS[*]}}"', folder)
    return [int(word) for word in done.stdout.rpartition("\n")[2].split()]


def run(cli: CommandLine, line: str) -> dict[str, Any]:
    record = cli("run", "--json", "--env", "inherit", "--shell", line).record
    assert record["command"] == ["bash", "-o", "pipefail", "-c", line]
    return record


def texts(members: list[dict[str, Any]]) -> list[str]:
    return [member["command"] for member in members]


@pytest.mark.parametrize("line", SINGLE)
def test_the_members_of_one_pipeline(cli: CommandLine, line: str) -> None:
    """Their statuses are bash's, their number that of the pipeline."""
    record = run(cli, line)
    members = record["pipestatus"]
    assert [member["exit_code"] for member in members] == statuses(line, str(cli.tmp))
    separator = "|&" if "|&" in line else "|"
    assert f" {separator} ".join(texts(members)) == line
    assert record["exit_code"] == bash(f"{line}\nexit $?", str(cli.tmp)).returncode


@pytest.mark.parametrize("line", LISTS)
def test_the_last_pipeline_of_a_list(cli: CommandLine, line: str) -> None:
    """What ``&&`` and ``||`` have skipped is not the last one."""
    record = run(cli, line)
    assert " | ".join(texts(record["pipestatus"])) == LISTS[line]
    assert [member["exit_code"] for member in record["pipestatus"]] == statuses(LISTS[line], str(cli.tmp))
    assert record["exit_code"] == bash(line, str(cli.tmp)).returncode


@pytest.mark.parametrize("line", UNKNOWN)
def test_what_is_not_known_is_null(cli: CommandLine, line: str) -> None:
    """And the line runs as it would under bash, with its own streams."""
    record, plain = run(cli, line), bash(line, str(cli.tmp))
    assert record["pipestatus"] is None
    if plain.returncode < 0:
        assert (record["exit_code"], record["error"]) == (None, "signal:SIGKILL")
    else:
        assert record["exit_code"] == plain.returncode
    kept = (record["stdout_tail"], record["stderr_tail"])
    assert kept == (plain.stdout.rstrip("\n"), plain.stderr.rstrip("\n"))


@pytest.mark.parametrize(
    "line",
    ["echo $LINENO $0 $#", "echo $BASH_ENV | cat", "ls /proc/self/fd | wc -l"],
)
def test_the_line_sees_nothing_of_us(cli: CommandLine, line: str) -> None:
    """No variable, descriptor or line number tells it that somebody looks on."""
    assert run(cli, line)["stdout_tail"] == bash(line, str(cli.tmp)).stdout.rstrip("\n")


def test_a_long_line_is_not_held_up(cli: CommandLine) -> None:
    """What bash would report of it does not fit into a pipe."""
    for size in (3000, 66_000):
        record = cli("run", "--json", "--shell", f"true {'x' * size}").record
        assert record["exit_code"] == 0
    assert record["pipestatus"] is None


@pytest.mark.parametrize("variable", ["BASHOPTS", "SHELLOPTS"])
def test_variables_that_change_bash_itself(cli: CommandLine, variable: str) -> None:
    """With ``lastpipe`` or ``xtrace`` from outside nothing is asked, and nothing of us is seen."""
    env = {variable: {"BASHOPTS": "lastpipe", "SHELLOPTS": "xtrace"}[variable]}
    record = cli("run", "--json", "--shell", "false | true || true | false", env=env).record
    assert (record["exit_code"], record["pipestatus"]) == (1, None)
    assert "printf" not in record["stderr_tail"]


def test_a_long_pipeline_is_bounded(cli: CommandLine) -> None:
    """Twenty members at most, the middle of more is counted; secrets in them are hidden."""
    secret = "password" + "=hunter2"
    line = f"echo {secret} | " + " | ".join(["cat"] * 40)
    members = cli("run", "--json", "--shell", line).record["pipestatus"]
    assert len(members) == 20
    assert members[0]["command"] == "echo password=[REDACTED:password#2]"
    assert members[10] == {"command": "...truncated 22 members...", "exit_code": None}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--shell", "true", "--", "false"], "both --shell and a command"),
        (["--shell"], "--shell needs a value"),
    ],
)
def test_misuse(cli: CommandLine, arguments: list[str], message: str) -> None:
    """One error and one hint."""
    result = cli("run", *arguments)
    assert result.status == 125
    assert result.stderr.startswith(f"firsthand: error: {message}")
