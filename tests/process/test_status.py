"""The exit code in the record, and the exit status of ``run``, are the command's own or honestly absent."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from tests.process.hosts import CONTAINS, start_with, told
from tests.support import check_stored, check_whole, expected_status, one_object, store_records
from tests.support.cli import command
from tests.support.launch import PROGRAMS

if TYPE_CHECKING:
    from tests.support import CommandLine

EXIT_3 = ["sh", "-c", "exit 3"]
SIGNALS = ["sed", "-n", "/^Sig[BIC]/p", "/proc/self/status"]
THREE, LOST = [3, None], [None, "status_lost"]
TIMES = 200
"""A status is lost in a race, so one try shows nothing."""
COSTLY_TIMES = 40
"""Each of these is a start of an interpreter."""

NO_CORE = "ulimit -c 0; "
NOT_ENDING = {
    "SIGKILL",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGCHLD",
    "SIGCONT",
    "SIGURG",
    "SIGWINCH",
}
ENDING = sorted((number for number in signal.Signals if number.name not in NOT_ENDING), key=int)
"""Every named signal whose default is to end a process, the two ends of the real-time ones among them."""


def suicide(number: int) -> list[str]:
    return ["sh", "-c", f"{NO_CORE}kill -{number} $$"]


def signal_name(number: int) -> str:
    """Return the name as :mod:`signal` spells it; real-time signals count from the first."""
    named = {int(member): member.name for member in signal.Signals}
    return named.get(number) or f"SIGRTMIN+{number - signal.SIGRTMIN}"


def as_number(name: str) -> int:
    base, _, more = name.partition("+")
    return int(signal.Signals[base]) + int(more or 0)


# --- who takes the status away ---


@pytest.mark.parametrize("folder", [None, "/"], ids=["here", "elsewhere"])
@pytest.mark.parametrize("kind", ["plain", "reaps"])
def test_a_host_cannot_turn_3_into_0_in_group_mode(cli: CommandLine, kind: str, folder: str | None) -> None:
    """``exit 3`` is 3, or ``status_lost`` where a thread of the host reaped the command, and never 0."""
    options = {"cwd": folder}
    report = told(cli, "host_runs", argvs=[EXIT_3], times=TIMES, contain="group", host=kind, options=options)
    assert report["raised"] is None
    assert len(report["ends"]) == TIMES
    may = [THREE, LOST] if kind == "reaps" else [THREE]
    wrong = [end for end in report["ends"] if end[:2] not in may]
    assert not wrong, f"{len(wrong)} of {TIMES}: {wrong[:5]}"


@pytest.mark.parametrize(
    ("kind", "contain"),
    [
        ("plain", "keeper"),
        ("ignores", "keeper"),
        ("reaps", "keeper"),
        ("ignores", "group"),
        ("blocks", "group"),
    ],
)
def test_a_keeper_never_loses_the_status(cli: CommandLine, kind: str, contain: str) -> None:
    """The host cannot reach a command in a keeper; group mode takes one where the host's signals are odd."""
    report = told(cli, "host_runs", argvs=[EXIT_3], times=COSTLY_TIMES, contain=contain, host=kind)
    assert report == {"ends": [[3, None, "subreaper", ""]] * COSTLY_TIMES, "raised": None}
    assert [record["exit_code"] for record in store_records(cli.store)] == [3] * COSTLY_TIMES


def test_group_mode_where_it_is_safe(cli: CommandLine) -> None:
    """In a host that leaves signals alone, group mode is what it says."""
    report = told(cli, "host_runs", argvs=[EXIT_3], contain="group")
    assert report == {"ends": [[3, None, "group", ""]], "raised": None}


def test_group_mode_in_a_spawned_host(cli: CommandLine) -> None:
    """What the C library ignores for itself is no reason against it."""
    result = cli.program(sys.executable, str(PROGRAMS / "host_spawned.py")).wait()
    assert (result.stdout, result.stderr) == ("group\n", "")


def test_started_with_sigchld_ignored(cli: CommandLine) -> None:
    """The command line reports 3 too when its caller ignores SIGCHLD, which it inherits."""
    args = ("run", "--json", "--", *EXIT_3)
    repeat = str(PROGRAMS / "repeat.py")
    launch = cli.program(sys.executable, "-I", "-S", repeat, str(COSTLY_TIMES), *command(), *args)
    result = launch.wait()
    assert result.stderr == ""
    assert [record["exit_code"] for record in result.objects] == [3] * COSTLY_TIMES
    assert store_records(cli.store) == result.objects


@pytest.mark.parametrize("ignored", ["SIGCHLD", "SIGCHLD,SIGPIPE,SIGINT,SIGQUIT,SIGTERM,SIGUSR1"])
def test_exit_status_with_signals_ignored(cli: CommandLine, ignored: str) -> None:
    """``run`` still ends with the command's status under a caller that ignores these signals."""
    result = start_with(cli, "--ignore", ignored, args=("run", "--json", "--", *EXIT_3)).wait()
    assert (result.status, result.stderr) == (3, "")
    assert (result.record["exit_code"], result.record["error"]) == (3, None)


def test_the_command_starts_with_default_signals(cli: CommandLine) -> None:
    """Nothing that the caller ignores or blocks reaches the command."""
    names = "SIGCHLD,SIGPIPE,SIGHUP,SIGINT,SIGTERM,SIGUSR1,SIGUSR2,SIGRTMIN"
    result = start_with(
        cli, "--ignore", names, "--block", names, args=("run", "--json", "--", *SIGNALS)
    ).wait()
    assert _odd_signals(result.record["stdout_tail"]) == {"SigBlk": [], "SigIgn": [], "SigCgt": []}


@pytest.mark.parametrize("contain", CONTAINS)
def test_the_command_of_a_library_starts_with_default_signals(cli: CommandLine, contain: str) -> None:
    """Python ignores SIGPIPE and SIGXFSZ for itself; a command run from it does not."""
    ((code, error, _, text),) = told(cli, "host_runs", argvs=[SIGNALS], contain=contain)["ends"]
    assert (code, error) == (0, None)
    assert _odd_signals(text) == {"SigBlk": [], "SigIgn": [], "SigCgt": []}


def _odd_signals(text: str) -> dict[str, list[int]]:
    """Return the signals in each set; without 32 and 33, which glibc's spawn ignores and keeps for itself."""
    masks = {kind: int(mask, 16) for kind, mask in (line.split(":\t") for line in text.splitlines())}
    return {
        kind: [number for number in signal.valid_signals() if mask >> (number - 1) & 1]
        for kind, mask in masks.items()
    }


# --- signals as ends ---


@pytest.mark.parametrize("contain", CONTAINS)
def test_every_ending_signal_is_named(cli: CommandLine, contain: str) -> None:
    """A command that a signal ended has no exit code, and the error names the signal."""
    numbers = [int(number) for number in ENDING if number.name not in {"SIGRTMIN", "SIGRTMAX"}]
    numbers.append(int(signal.SIGKILL))
    report = told(cli, "host_runs", argvs=[suicide(number) for number in numbers], contain=contain)
    expected = [[None, f"signal:{signal_name(number)}"] for number in numbers]
    assert [end[:2] for end in report["ends"]] == expected


@pytest.mark.parametrize("contain", CONTAINS)
def test_every_real_time_signal_is_named(cli: CommandLine, contain: str) -> None:
    """Real-time signals have names as well: SIGRTMIN, SIGRTMIN+n, SIGRTMAX; each names its own number."""
    numbers = list(range(signal.SIGRTMIN, signal.SIGRTMAX + 1))
    report = told(cli, "host_runs", argvs=[suicide(number) for number in numbers], contain=contain)
    codes, errors = zip(*(end[:2] for end in report["ends"]), strict=True)
    assert set(codes) == {None}
    named = [error.removeprefix("signal:").replace("SIGRTMAX-", "-") for error in errors]
    last = int(signal.SIGRTMAX)
    assert [last + int(n) if n.startswith("-") else as_number(n) for n in named] == numbers


@pytest.mark.parametrize("number", [1, 2, 3, 6, 9, 11, 13, 15, 34, 35, 64], ids=signal_name)
def test_run_exits_with_128_and_the_signal(cli: CommandLine, number: int) -> None:
    """``run`` exits with 128+n like a shell; the record holds null and the name."""
    result = cli("run", "--json", "--", *suicide(number))
    assert (result.status, result.stderr) == (128 + number, "")
    assert (result.record["exit_code"], result.record["error"]) == (None, f"signal:{signal_name(number)}")
    check_whole(result.record, via="cli", took_ms=result.seconds * 1000)
    check_stored(result.record, cli.store)


@pytest.mark.parametrize("code", [124, 125, 126, 127, 129, 130, 137, 139, 143, 255])
def test_a_number_that_looks_like_a_signal_stays_a_number(cli: CommandLine, code: int) -> None:
    """The command said this number itself, so it is its exit code and no error."""
    result = cli("run", "--json", "--", "sh", "-c", f"exit {code}")
    assert (result.status, result.record["exit_code"], result.record["error"]) == (code, code, None)


def test_137_of_a_shell_gets_a_hint(cli: CommandLine) -> None:
    """A shell whose last member was shot reports 137: that number is kept, the view hints at memory."""
    result = cli("run", "--", "sh", "-c", "sh -c 'kill -9 $$'; exit $?")
    assert (result.status, result.stderr) == (137, "")
    assert result.stdout.startswith("exit 137 in ")
    assert "memory" in result.stdout
    (record,) = store_records(cli.store)
    assert (record["exit_code"], record["error"]) == (137, None)


# --- exit statuses of `run`, whatever happened ---


def _files(cli: CommandLine) -> None:
    for name, text, mode in [
        ("no_mode", "#!/bin/sh\n", 0o644),
        ("no_interpreter", "#!/nowhere/python\n", 0o755),
        ("garbage", "\x7fELF garbage", 0o755),
        ("no_hash_bang", "echo hi\n", 0o755),
    ]:
        (cli.tmp / name).write_text(text)
        (cli.tmp / name).chmod(mode)


KINDS: list[tuple[list[str], tuple[int | None, str | None], int]] = [
    (["--", "true"], (0, None), 0),
    (["--", "false"], (1, None), 1),
    (["--", "sh", "-c", "exit 255"], (255, None), 255),
    (["--timeout", "0.2", "--", "sleep", "60"], (None, "timeout"), 124),
    (["--", "firsthand-no-such-program"], (None, "not_found"), 127),
    (["--", "./no_such_file"], (None, "not_found"), 127),
    (["--", "./no_interpreter"], (None, "not_found"), 127),
    (["--", "./no_mode"], (None, "permission"), 126),
    (["--", "/"], (None, "permission"), 126),
    (["--", "./garbage"], (None, "exec_format"), 126),
    (["--", "./no_hash_bang"], (None, "exec_format"), 126),
    (["--cwd", "nowhere", "--", "true"], (None, "bad_cwd"), 125),
    (["--cwd", "garbage", "--", "true"], (None, "bad_cwd"), 125),
]
"""What is run, the exit code and error of its record, and the exit status of ``run``."""


@pytest.mark.parametrize(("args", "end", "status"), KINDS, ids=lambda value: str(value)[:40])
def test_exit_status_of_every_kind(
    cli: CommandLine, args: list[str], end: tuple[int | None, str | None], status: int
) -> None:
    """The exit status follows from the record, and the record tells what happened."""
    _files(cli)
    result = cli("run", "--json", *args)
    assert result.stderr == ""
    record = result.record
    assert (record["exit_code"], record["error"]) == end
    assert result.status == status
    assert expected_status(record) == {status}
    check_whole(record, via="cli", took_ms=result.seconds * 1000)
    check_stored(record, cli.store)


def test_exit_status_of_arguments_that_are_too_long(cli: CommandLine) -> None:
    """What fits the caller's start may not fit the command's, to which the agent environment is added."""
    fits, too_long_for_us = 60_000, 140_000
    while too_long_for_us - fits > 1:  # the kernel's limit is 128 KiB under this stack limit
        size = (fits + too_long_for_us) // 2
        words = ["w" * 1000] * (size // 1000) + ["w" * (size % 1000)]
        result = cli("run", "--json", "--", "true", *words, limits={"RLIMIT_STACK": 512 * 1024})
        if b"case_launch: cannot start" in result.err:
            too_long_for_us = size
        elif result.status == 0:
            fits = size
        else:
            break
    assert (result.record["exit_code"], result.record["error"]) == (None, "arg_too_long")
    assert (result.status, result.stderr) == (125, "")


def test_nul_in_an_argument_is_bad_argv(cli: CommandLine) -> None:
    """No program can get an argument with a NUL: a record says so, nothing raises."""
    report = told(cli, "host_runs", argvs=[["printf", "a\0b"], ["tr\0ue"]], contain="keeper")
    assert report["raised"] is None
    assert [end[:2] for end in report["ends"]] == [[None, "bad_argv"]] * 2


@pytest.mark.parametrize(
    "args",
    [
        ["run"],
        ["run", "--"],
        ["run", "--no-such"],
        ["run", "--timeout", "soon", "true"],
        ["run", "--strays", "x", "true"],
    ],
    ids=" ".join,
)
def test_usage_errors_of_run(cli: CommandLine, args: list[str]) -> None:
    """A mistake in the call is 125, one ``error:`` and one ``hint:`` line, and runs nothing."""
    result = cli(*args)
    error, hint = result.stderr.splitlines()
    assert (result.status, result.out) == (125, b"")
    assert error.startswith("firsthand: error: ")
    assert hint.startswith("hint: ")
    assert store_records(cli.store) == []


def test_usage_errors_are_one_object_with_json(cli: CommandLine) -> None:
    """With ``--json`` the error is the one object on stdout, of its own schema."""
    result = cli("run", "--json", "--timeout", "soon", "--", "true")
    assert result.status == 125
    assert {"schema", "code", "message", "hint"} <= set(one_object(result.out))
    assert one_object(result.out)["schema"] == "firsthand.error/1"


def test_bad_configuration_is_125_before_the_start(cli: CommandLine) -> None:
    """A configuration that cannot be read stops the run before anything is started."""
    (cli.tmp / "firsthand.toml").write_text("this is = no [toml\n")
    result = cli("run", "--", "touch", "started")
    assert result.status == 125
    assert result.stderr.startswith("firsthand: error: ")
    assert not os.path.exists(cli.tmp / "started")


def test_a_command_that_closes_its_pipes_is_waited_for(cli: CommandLine) -> None:
    """End of file on both pipes is not the end of the command: its own exit code is waited for."""
    result = cli("run", "--json", "--", "sh", "-c", "exec >&- 2>&-; sleep 0.4; exit 7")
    assert (result.status, result.record["exit_code"]) == (7, 7)
    assert result.record["duration_ms"] >= 400
