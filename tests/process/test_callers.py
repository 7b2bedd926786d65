"""Odd callers: closed streams, no descriptors, strange folders, users, locales; the record is the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from tests.process.hosts import CONTAINS, start_with, the_record, told
from tests.support import check_stored, one_object, store_records
from tests.support.cli import command

if TYPE_CHECKING:
    from tests.support import CommandLine, Result

SAYS = "echo out; echo err >&2; exit 3"
"""A command whose streams and exit code are told apart."""
VARYING = {"command_id", "seq", "started_at", "duration_ms", "hash", "prev_hash"}
"""What differs between two runs of the same."""
ODD_VARIABLES = [(b"FH_1", b"a\xff\xfe\xc3z"), (b"FH_2", b" a = b "), (b"FH_\xff", b"\xc3\xa9")]


def same(record: dict[str, Any]) -> dict[str, Any]:
    """Return what must be the same in two runs of one command."""
    return {key: value for key, value in record.items() if key not in VARYING}


def check_says(record: dict[str, Any]) -> None:
    """Check the record of ``sh -c SAYS``."""
    assert (record["exit_code"], record["error"]) == (3, None)
    assert (record["stdout_tail"], record["stderr_tail"]) == ("out", "err")


@pytest.mark.parametrize("closed", ["0", "1", "2", "0,1", "0,2", "1,2", "0,1,2"])
def test_closed_streams_of_the_caller(cli: CommandLine, closed: str) -> None:
    """``<&- >&- 2>&-``: the command gets all three, its output stays apart, and the status is its own."""
    text = "readlink /proc/self/fd/0; ls /proc/self/fd | wc -l; " + SAYS
    result = start_with(cli, "--close", closed, args=("run", "--json", "--", "sh", "-c", text)).wait()
    record = the_record(cli)
    assert result.status == 3
    assert record["stdout_tail"] == "/dev/null\n4\nout"  # 0, 1, 2, and the folder that ls reads
    assert record["stderr_tail"] == "err"
    assert result.err == b""
    if "1" not in closed:
        assert result.record == record
    check_stored(record, cli.store)


@pytest.mark.parametrize("args", [[], ["--json"]], ids=["view", "json"])
@pytest.mark.parametrize("where", ["a closed pipe", "a full disk"])
def test_nobody_reads_the_view(cli: CommandLine, where: str, args: list[str]) -> None:
    """``firsthand run … | true``: the record is stored, the status is the command's, no traceback."""
    words = [*command(), "run", *args, "--", "sh", "-c", "sleep 0.2; " + SAYS]
    to = {"a closed pipe": "| true; echo ${PIPESTATUS[0]}", "a full disk": ">/dev/full; echo $?"}[where]
    launch = cli.program("bash", "-c", f'"$@" {to}', "bash", *words)
    result = launch.wait()
    assert "Traceback" not in result.stderr
    assert "Exception" not in result.stderr
    check_says(the_record(cli))
    assert result.stdout == "3\n"


@pytest.mark.parametrize("via", ["cli", "library"])
def test_no_descriptors_left(cli: CommandLine, via: str) -> None:
    """From no room at all to just enough: each run gives a record, ``no_resources`` at least."""
    ends = set()
    for limit in range(5, 26):
        if via == "library":
            report = told(cli, "host_runs", argvs=[["sh", "-c", SAYS]], contain="keeper", nofile=limit)
            assert report["raised"] is None, f"{limit}: {report['raised']}"
            ((code, error, _, _),) = report["ends"]
        else:
            result = cli("run", "--json", "--", "sh", "-c", SAYS, limits={"RLIMIT_NOFILE": limit})
            if b"Fatal Python error" in result.err or b"case_launch" in result.err:
                continue  # the interpreter itself could not start
            assert result.err == b"", f"{limit}: {result.stderr}"
            code, error = result.record["exit_code"], result.record["error"]
            assert result.status == (3 if code == 3 else 125), limit
        ends.add((code, error))
    assert ends == {(3, None), (None, "no_resources")}


def test_no_descriptor_of_the_caller_leaks(cli: CommandLine) -> None:
    """The command has its three streams and nothing else, whatever the caller holds open."""
    args = ("run", "--json", "--", "sh", "-c", "ls /proc/$$/fd")
    record = start_with(cli, "--open", "3,4,7,10,63,255", args=args).wait().record
    assert record["stdout_tail"].split() == ["0", "1", "2"]


@pytest.mark.parametrize("contain", CONTAINS)
def test_no_descriptor_of_the_host_leaks(cli: CommandLine, contain: str) -> None:
    """The same for a host of the library, also for descriptors that it made inheritable."""
    argv = ["sh", "-c", "ls /proc/$$/fd"]
    report = told(cli, "host_runs", argvs=[argv], contain=contain, opens=[30, 60])
    ((code, _, _, text),) = report["ends"]
    assert (code, text.split()) == (0, ["0", "1", "2"])


def test_the_environment_is_bytes(cli: CommandLine) -> None:
    """Variables whose names and values are no UTF-8 reach the command byte for byte, under any locale."""
    text = "tr '\\0' '\\n' </proc/$$/environ | grep -a '^FH_' | LC_ALL=C sort | od -An -tx1"
    odd = {os.fsdecode(name): os.fsdecode(value) for name, value in ODD_VARIABLES}
    expected = b"".join(name + b"=" + value + b"\n" for name, value in ODD_VARIABLES)
    for locale in ({"LANG": "C.UTF-8"}, {"LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        result = cli("run", "--json", "--", "sh", "-c", text, env={**odd, **locale})
        assert (result.status, result.stderr) == (0, "")
        assert bytes.fromhex(result.record["stdout_tail"]) == expected


def test_a_deleted_working_folder(cli: CommandLine) -> None:
    """Nothing can run in a folder that is gone: the record names it."""
    gone = str(cli.tmp / "gone")
    result = start_with(cli, "--gone", gone, args=("run", "--json", "--", "sh", "-c", SAYS)).wait()
    record = result.record
    assert (result.status, result.stderr) == (125, "")
    assert (record["exit_code"], record["error"], record["cwd"]) == (None, "bad_cwd", gone)
    assert gone in record["error_detail"]
    check_stored(record, cli.store)


def test_a_working_folder_without_permission(user_cli: CommandLine) -> None:
    """An ordinary user may not enter it: the record names the folder, not the program."""
    closed = user_cli.tmp / "closed"
    closed.mkdir()
    closed.chmod(0o700)
    result = user_cli("run", "--json", "--cwd", "closed", "--", "sh", "-c", SAYS)
    record = result.record
    assert (result.status, result.stderr) == (125, "")
    assert (record["exit_code"], record["error"], record["cwd"]) == (None, "bad_cwd", str(closed))
    assert str(closed) in record["error_detail"]
    check_stored(record, user_cli.store)


def test_an_ordinary_user_gets_the_same_record(cli: CommandLine, request: pytest.FixtureRequest) -> None:
    """Root or not: the same command gives the same record; only how the package is found differs."""
    args = ("run", "--json", "--cwd", "/", "--", "sh", "-c", SAYS)
    mine = cli(*args)  # before the other one is there, which changes what is started
    theirs = request.getfixturevalue("user_cli")(*args)
    check_says(theirs.record)
    assert same(mine.record) == same({**theirs.record, "env_names": mine.record["env_names"]})


LOCALES: list[dict[str, str]] = [
    {
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONHASHSEED": "0",
    },
    {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONHASHSEED": "1"},
    {"LANG": "POSIX", "LC_ALL": "", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1", "PYTHONHASHSEED": "42"},
    {
        "LANG": "xx_YY.nothing",
        "LC_ALL": "",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii:strict",
        "PYTHONHASHSEED": "7",
    },
    {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "utf-16", "PYTHONHASHSEED": "random"},
]
"""Each names the same variables, so that ``env_names`` is no difference."""


@pytest.mark.parametrize("args", [[], ["--json"]], ids=["view", "json"])
def test_locale_and_hash_seed_change_nothing(cli: CommandLine, args: list[str]) -> None:
    """The record and the view are a function of the bytes, whatever the interpreter's surroundings are."""
    told_by = []
    for locale in LOCALES:
        variables = {**locale, "PYTHONCOERCECLOCALE": "0"}
        command_words = [
            "--note",
            "é → ✓ 𝄞",
            "--",
            "sh",
            "-c",
            'printf "$1"; exit 3',
            "é\udcff",
            r"\303\251 \377 \342\202",
        ]
        result = cli("run", *args, *command_words, env=variables)
        assert (result.status, result.err) == (3, b""), (locale, result.err)
        told_by.append(result)
    records = [same(record) for record in store_records(cli.store)]
    assert len(records) == len(LOCALES)
    assert records == [records[0]] * len(LOCALES)
    assert records[0]["agent_note"] == "é → ✓ 𝄞"
    assert records[0]["stdout_tail"] == "é \ufffd \ufffd"
    views = [_timeless(each, record) for each, record in zip(told_by, store_records(cli.store), strict=True)]
    assert views == [views[0]] * len(LOCALES)


def _timeless(result: Result, record: dict[str, Any]) -> str | dict[str, Any]:
    """Return what was printed without its id and time."""
    if result.out.startswith(b"{"):
        return same(one_object(result.out))
    first, _, rest = result.stdout.partition("\n")
    return first.split(" in ")[0] + rest.replace(record["command_id"], "ID")


def test_a_caller_in_a_terminal_that_closes(cli: CommandLine) -> None:
    """The command never sees the caller's terminal: no /dev/tty, and stdin is empty."""
    text = "(: </dev/tty) 2>/dev/null && echo has a terminal; readlink /proc/self/fd/0; cat; echo end"
    result = cli("run", "--json", "--", "sh", "-c", text, terminal=True)
    assert result.record["stdout_tail"] == "/dev/null\nend"


def test_umask_and_limits_reach_the_command(cli: CommandLine) -> None:
    """What the caller set for its children holds for the command as well."""
    words = [*command(), "run", "--json", "--", "sh", "-c", "umask; ulimit -n; ulimit -f"]
    result = cli.program(
        "sh", "-c", 'umask 027; ulimit -n 500; ulimit -f 5000; exec "$@"', "sh", *words
    ).wait()
    assert result.record["stdout_tail"].split() == ["0027", "500", "5000"]


def test_the_view_shows_streams_apart(cli: CommandLine) -> None:
    """The plain view and the record agree, and its first line is the verdict."""
    result = cli("run", "--", "sh", "-c", SAYS)
    assert (result.status, result.stderr) == (3, "")
    assert result.stdout.startswith("exit 3 in ")
    check_says(the_record(cli))


def test_scripts_started_by_path_of_a_strange_name(cli: CommandLine) -> None:
    """Blanks, quotes, new lines and bytes that are no UTF-8 in a program's name are no obstacle."""
    for name in ("a b", "it's", "new\nline", "-dash", "\udcff\udcfe", "ü"):
        path = cli.tmp / name
        path.write_text("#!/bin/sh\nexit 3\n")
        path.chmod(0o755)
        result = cli("run", "--json", "--", f"./{name}")
        assert (result.status, result.record["exit_code"]) == (3, 3), name
