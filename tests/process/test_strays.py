"""What outlives a command that ended normally is stopped or kept as the policy says, and is named."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.process.hosts import CONTAINS, host, python, told
from tests.process.strays import DAEMON, actions, end, is_alive, run_ok
from tests.support import check_stored, eventually, store_records
from tests.support.cli import command
from tests.support.launch import PROGRAMS
from tests.support.store import everything

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support import CommandLine

AT_THE_END = 50
"""How often a daemon that starts at the very end must be told from an attached child."""
ATTACHED = "sleep 302 & exit 0"
"""A line for ``sh`` that leaves a child in its session, with our pipes."""
QUIET = "sleep 302 >/dev/null 2>&1 </dev/null & exit 0"
"""The same without our pipes: the session alone ties it to the command."""


def test_sort_in_a_process_substitution_finishes(cli: CommandLine) -> None:
    """It still reads and works when the command has ended, and gets the time to write its file."""
    text = "seq 1000000 -1 1 > >(LC_ALL=C sort > sorted)"
    record, launch = run_ok(cli, "--", "bash", "-c", text)
    assert not launch.left(0)
    lines = (cli.tmp / "sorted").read_bytes().split()
    assert len(lines) == 1_000_000
    assert lines == sorted(lines)
    assert "stopped" not in dict(actions(record)).values()


def test_a_reader_that_computes_finishes(cli: CommandLine) -> None:
    """It has its whole input and uses the processor for longer than the drain: it is not done yet."""
    reader = " ".join(python("takes_time", "at_eof", "file"))
    record, _ = run_ok(cli, "--", "bash", "-c", f"seq 100000 > >({reader} >/dev/null)")
    assert (cli.tmp / "file").read_text() == "588895 bytes"
    assert "stopped" not in dict(actions(record)).values()


def test_tee_in_a_process_substitution_finishes(cli: CommandLine) -> None:
    """All that went through it is in its file, and its end in the record."""
    record, _ = run_ok(cli, "--", "bash", "-c", "seq 300000 > >(tee copy)")
    assert (cli.tmp / "copy").read_bytes() == b"".join(b"%d\n" % number for number in range(1, 300_001))
    assert record["stdout_tail"].endswith("\n299999\n300000")
    assert record["bytes"]["stdout"] == (cli.tmp / "copy").stat().st_size
    assert "stopped" not in dict(actions(record)).values()


def test_git_gc_lives_on(cli: CommandLine) -> None:
    """The real one detaches itself; it is kept, named, and does its work."""
    _repository(cli.tmp / "repository")
    record, launch = run_ok(cli, "--cwd", "repository", "--", "git", "gc", "--auto")
    assert ("git gc --auto", "kept") in actions(record)
    assert {action for _, action in actions(record)} == {"kept"}, "it and the programs that it runs"
    packs = cli.tmp / "repository" / ".git" / "objects" / "pack"
    assert eventually(lambda: list(packs.glob("*.pack")), bool, 30)
    assert not launch.left(10)


def _repository(folder: Path) -> None:
    """Make one with so many loose objects that git packs them in the background, for a second or two."""
    git = ["git", "-C", str(folder)]
    (folder / "files").mkdir(parents=True)
    base = [f"{number * 7919:032x}" for number in range(500)]
    for number in range(900):
        base[number % 500 - 1] = f"{number * 104729:032x}"
        (folder / "files" / str(number)).write_text("\n".join(base[number % 250 :]))
    subprocess.run([*git, "init", "-q"], check=True)
    for setting in ("gc.auto=1", "gc.autoDetach=true", "pack.threads=1", "pack.window=60"):
        subprocess.run([*git, "config", *setting.split("=")], check=True)
    subprocess.run([*git, "-c", "gc.auto=0", "add", "files"], check=True)


@pytest.fixture
def gnupg_home() -> Iterator[Path]:
    """A short path, because the sockets of gpg-agent lie in it."""
    if not shutil.which("gpg-agent"):
        pytest.skip("no gpg-agent")
    with tempfile.TemporaryDirectory(prefix="fh-gpg-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.mark.parametrize("argv", [["gpg-agent", "--daemon"], ["gpg-connect-agent", "/bye"]], ids="-".join)
def test_gpg_agent_lives_on(cli: CommandLine, gnupg_home: Path, argv: list[str]) -> None:
    """The real one is kept and named, started by hand or by the first program that needs it."""
    cli.env["GNUPGHOME"] = str(gnupg_home)
    record, launch = run_ok(cli, "--", *argv)
    try:
        ((text, action),) = actions(record)
        assert text.startswith("gpg-agent "), text
        assert action == "kept"
        assert is_alive(record["strays"][0]["pid"])
    finally:
        end(record["strays"], "gpg-agent")
    assert not launch.left(0.5)


def _node(name: str) -> str:
    return shutil.which(name) or pytest.skip(f"no {name}")


@pytest.mark.parametrize("kind", ["python", "node", "npm"])
def test_a_development_server_is_stopped(cli: CommandLine, kind: str) -> None:
    """``npm run dev &`` would hold the pipes for ever: it is stopped with all that it started, and named."""
    if kind == "python":
        start = f"python3 {PROGRAMS / 'server.py'} up"
    else:
        start = f"{_node('node')} {PROGRAMS / 'server.js'} up"
    shown = start
    if kind == "npm":
        (cli.tmp / "package.json").write_text(json.dumps({"name": "web", "scripts": {"dev": start}}))
        start, shown = f"{_node('npm')} run dev", "npm run dev"
        cli.env["NPM_CONFIG_UPDATE_NOTIFIER"] = "false"
    text = f"{start} & until [ -e up ]; do sleep 0.05; done; echo started"
    record, launch = run_ok(cli, "--", "bash", "-c", text)
    assert not launch.left(0)
    assert {action for _, action in actions(record)} == {"stopped"}
    assert any(shown in command for command, _ in actions(record)), record["strays"]
    assert "started" in record["stdout_tail"]
    assert "listening on " in record["stdout_tail"]


def test_the_view_says_what_was_stopped(cli: CommandLine) -> None:
    """The first lines of the view name it, so that nobody talks to a server that is gone."""
    result = cli("run", "--", "sh", "-c", "sleep 301 & echo started")
    assert result.status == 0
    head = result.stdout.splitlines()[:3]
    (line,) = [line for line in head if line.startswith("stopped: ")]
    assert "sleep 301" in line
    assert line.endswith("(no longer running)")


@pytest.mark.parametrize("stubborn", [False, True], ids=["obeys", "ignores SIGTERM"])
def test_an_attached_child_is_stopped_in_time(cli: CommandLine, stubborn: bool) -> None:
    """SIGTERM, and SIGKILL 50 ms later to one that ignores it; nobody waits long for that."""
    trap = 'trap "" TERM; ' if stubborn else ""
    record, launch = run_ok(cli, "--", "sh", "-c", f"({trap}exec sleep 300) & exit 0")
    assert actions(record) == [("sleep 300", "stopped")]
    assert not launch.left(0)


def test_an_attached_child_may_clean_up(cli: CommandLine) -> None:
    """One that catches SIGTERM has up to 2 s for what it does then."""
    child = " ".join(python("takes_time", "at_sigterm", "file"))
    text = f"{child} & until [ -e file.ready ]; do sleep 0.02; done"
    record, launch = run_ok(cli, "--", "sh", "-c", text)
    assert (cli.tmp / "file").read_text() == "cleaned"
    assert actions(record) == [(child, "stopped")]
    assert not launch.left(0)


def test_a_server_with_its_own_session_but_our_pipe_is_stopped(cli: CommandLine) -> None:
    """``setsid`` alone detaches nobody who still prints to us."""
    record, launch = run_ok(cli, "--", "sh", "-c", "setsid sleep 300 & sleep 0.2")
    assert actions(record) == [("sleep 300", "stopped")]
    assert not launch.left(0)


def test_a_daemon_started_at_the_very_end_is_kept(cli: CommandLine) -> None:
    """``setsid server &`` as the last words: it has not even its own session when the command ends."""
    name = "31557600.0050"
    text = f"setsid sleep {name} >/dev/null 2>&1 </dev/null &"
    loop = f'i=0; while [ $i -lt {AT_THE_END} ]; do i=$((i + 1)); "$@" || exit 9; done'
    words = [*command(), "run", "--json", "--", "bash", "-c", text]
    launch = cli.program("sh", "-c", loop, "sh", *words)
    result = launch.wait()
    records = result.objects
    strays = [stray for record in records for stray in record["strays"]]
    try:
        assert (result.status, result.stderr) == (0, "")
        seen = [
            [(text.removeprefix("setsid "), action) for text, action in actions(each)] for each in records
        ]
        assert seen == [[(f"sleep {name}", "kept")]] * AT_THE_END
        assert sum(is_alive(stray["pid"]) for stray in strays) == AT_THE_END
    finally:
        end(strays, name)
    assert not launch.left(1)


@pytest.mark.parametrize(
    ("policy", "text", "action"),
    [
        ("auto", ATTACHED, "stopped"),
        ("auto", QUIET, "stopped"),
        ("auto", DAEMON, "kept"),
        ("stop", ATTACHED, "stopped"),
        ("stop", DAEMON, "stopped"),
        ("keep", ATTACHED, "kept"),
        ("keep", DAEMON, "kept"),
    ],
)
def test_policies_do_what_they_say(cli: CommandLine, policy: str, text: str, action: str) -> None:
    """``auto`` stops what is attached and keeps daemons, ``stop`` stops both, ``keep`` neither; all named."""
    record, launch = run_ok(cli, "--strays", policy, "--", "sh", "-c", text)
    shown = "sleep 303" if text == DAEMON else "sleep 302"
    try:
        assert actions(record) == [(shown, action)]
        assert is_alive(record["strays"][0]["pid"]) == (action == "kept")
    finally:
        end(record["strays"], shown)
    assert not launch.left(1), "nothing of ours lives on after the stray"


def test_more_strays_than_the_record_names(cli: CommandLine) -> None:
    """Twenty are named, one more entry counts the rest."""
    text = "i=0; while [ $i -lt 30 ]; do i=$((i + 1)); sleep 306 & done; sleep 0.2"
    result = cli("run", "--json", "--", "sh", "-c", text)
    *named, rest = result.record["strays"]
    assert [(stray["command"], stray["action"]) for stray in named] == [("sleep 306", "stopped")] * 20
    assert "10" in rest["command"]
    check_stored(result.record, cli.store)


def test_what_a_stray_is_called_is_redacted(cli: CommandLine) -> None:
    """A stray's command line can hold a secret like any other text."""
    secret = "hunter" + "2" * 12
    (cli.tmp / "name").write_text(f"web-password={secret}")
    text = 'bash -c "exec -a $(cat name) sleep 307" & sleep 0.3'
    result = cli("run", "--json", "--", "bash", "-c", text)
    ((shown, action),) = actions(result.record)
    assert action == "stopped"
    assert shown.startswith("web-")
    assert secret not in shown
    assert all(secret.encode() not in data for data in everything(cli.store).values())
    assert sum(result.record["redactions"].values()) == 1


def test_a_kept_stray_never_meets_sigpipe(cli: CommandLine) -> None:
    """It prints for seconds after its command has ended; somebody reads that, and ends with it."""
    chatty = " ".join(python("chatty", "3", "end"))
    record, launch = run_ok(cli, "--strays", "keep", "--", "sh", "-c", f"{chatty} & sleep 0.1; echo done")
    assert not (cli.tmp / "end").exists(), "run waited for the stray"
    assert actions(record) == [(chatty, "kept")]
    assert eventually((cli.tmp / "end").exists, bool, 5)
    assert (cli.tmp / "end").read_text() == "printed to the end"
    assert not launch.left(0.5), "nothing of ours lives on after the stray"
    assert store_records(cli.store) == [record]


@pytest.mark.parametrize("contain", CONTAINS)
def test_a_kept_stray_of_a_library_call_never_meets_sigpipe(cli: CommandLine, contain: str) -> None:
    """The same where the host of the library runs on, and where it has ended."""
    for number, seconds in enumerate(("1", "2")):
        chatty = " ".join(python("chatty", seconds, f"end-{number}"))
        argv = ["sh", "-c", f"{chatty} & sleep 0.1; echo done"]
        launch = host(cli, "host_runs", argvs=[argv], contain=contain, options={"strays": "keep"})
        launch.line()
        if number and contain == "keeper":
            launch.end_stdin()
        assert eventually((cli.tmp / f"end-{number}").exists, bool, 5)
        assert (cli.tmp / f"end-{number}").read_text() == "printed to the end"
        launch.end_stdin()
        launch.wait()
        assert not launch.left(0.5)
    assert [actions(record)[0][1] for record in store_records(cli.store)] == ["kept", "kept"]


@pytest.mark.parametrize("contain", CONTAINS)
def test_two_runs_at_once_keep_their_strays_apart(cli: CommandLine, contain: str) -> None:
    """The first stops its own stray only; the second's background child works on and is not named there."""
    first = "sleep 304 & sleep 0.2; echo first"
    second = "(sleep 0.9; echo worked) & sleep 305 & sleep 1.3; echo second"
    report = told(cli, "host_strays", contain=contain, rounds=3, first=first, second=second)
    assert report == {
        "first": [[0, [["sleep 304", "stopped"]], "first"]] * 3,
        "second": [[0, [["sleep 305", "stopped"]], "worked\nsecond"]] * 3,
    }
