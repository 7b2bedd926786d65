"""Whoever is shot, and whenever: one record for every run that was started, and nobody lives on."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.process.hosts import host
from tests.support import CommandLine, Launch, check_stored, eventually, one_object, store_records
from tests.support.alive import children
from tests.support.cli import command
from tests.support.whole import check_quiet

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 12
"""Rounds of one kind of death; the moments differ, and are the same in every test run."""
HOST_ROUNDS = 8
"""Rounds in which a host of the library is shot; each has many runs."""
KEEPER_DEATHS = 5
"""Keepers of one host that are shot."""
SWEPT_WITHIN = 4.0
"""Seconds until nothing may be left: 2 s after SIGTERM, the sweep, the record."""

WORK = ': >"$1"; (trap "" TERM HUP; exec setsid sleep 300) & sleep 0.1; echo done; exit 3'
"""Marks that it was started, leaves a child in a session of its own that ignores SIGTERM, works a little."""
SESSION_WORK = WORK.replace("exec setsid", "exec")
"""The same with a child that stays in the command's session."""
SHORT_WORK = ': >"$1"; sleep 0.1; echo done; exit 3'
"""The same where nobody may be left to stop anything."""


@dataclass
class Round:
    """One run that somebody was shot in."""

    note: str
    mark: Path
    launch: Launch

    @property
    def started(self) -> bool:
        """Whether the command itself began."""
        return self.mark.exists()


# --- the command line ---


def _run_args(cli: CommandLine, number: int, text: str) -> tuple[str, ...]:
    mark = str(cli.tmp / f"started-{number}")
    return ("run", "--json", "--note", f"round {number}", "--", "sh", "-c", text, "sh", mark)


def _undisturbed_seconds(cli: CommandLine) -> float:
    """Return how long one run takes on this machine now."""
    result = cli(*_run_args(cli, ROUNDS, WORK))
    assert result.status == 3
    return result.seconds


def _rounds(
    cli: CommandLine, seed: str, text: str, start: Callable[..., Launch], kill: Callable[[Launch], None]
) -> list[Round]:
    """Start runs one after another and shoot in each, between its start and a bit after its end."""
    chance = random.Random(seed)
    longest = _undisturbed_seconds(cli) * 1.1
    rounds = []
    for number in range(ROUNDS):
        launch = start(*_run_args(cli, number, text))
        moment = launch.started + chance.uniform(0, longest)
        time.sleep(max(0.0, moment - time.monotonic()))
        kill(launch)
        rounds.append(Round(f"round {number}", cli.tmp / f"started-{number}", launch))
    return rounds


def _check(cli: CommandLine, rounds: list[Round]) -> None:
    """Check what must hold of all rounds together, after a reader has looked."""
    for each in rounds:
        each.launch.wait()
        left = each.launch.left(SWEPT_WITHIN)
        assert not left, f"{each.note}: left alive {left}"
    shown = cli("last", "--json", "-n", "1000")
    assert (shown.status, shown.stderr) == (0, "")
    check_quiet(cli.store)
    assert shown.objects == store_records(cli.store)
    for each in rounds:
        _check_round(cli, each, [r for r in shown.objects if r["agent_note"] == each.note])
    _check_verified(cli)


def _check_round(cli: CommandLine, each: Round, records: list[dict[str, Any]]) -> None:
    assert len(records) in ({1} if each.started else {0, 1}), f"{each.note}: {len(records)} records"
    for record in records:
        end = (record["exit_code"], record["error"])
        assert end in {(3, None), (None, "runner_died"), (None, "cancelled")}, f"{each.note}: {end}"
    for line in each.launch.wait().out.splitlines(keepends=True):
        if line.endswith(b"\n"):  # it was told to the caller, so it is in the store
            assert records == [one_object(line)]
            check_stored(records[0], cli.store)


def _check_verified(cli: CommandLine) -> None:
    verified = cli("verify", "--json")
    assert (verified.status, one_object(verified.out)["ok"]) == (0, True), verified.stdout


def _keeper(front: int) -> int | None:
    """Return the front's child that is the keeper, where it has been forked already."""
    try:
        listed = Path(f"/proc/{front}/task/{front}/children").read_text(encoding="ascii").split()
        return next(
            (int(pid) for pid in listed if b"firsthand" in Path(f"/proc/{pid}/cmdline").read_bytes()), None
        )
    except OSError:
        return None


def _shoot(pid: int | None, number: int = signal.SIGKILL) -> None:
    """Signal one process that this test has started, unless it has ended."""
    if pid is not None:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def _shoot_both(launch: Launch) -> None:
    """Shoot keeper and front, both stopped first, so that neither sees the other's death."""
    keeper = _keeper(launch.pid)
    assert keeper
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in (keeper, launch.pid):
            _shoot(pid, number)
    launch.wait()


def test_sigkill_to_the_front(cli: CommandLine) -> None:
    """The keeper sees it, stops the command and writes the record."""
    rounds = _rounds(cli, "front", WORK, cli.start, lambda launch: launch.signal(signal.SIGKILL))
    _check(cli, rounds)


def test_sigkill_to_the_keeper(cli: CommandLine) -> None:
    """The front sweeps, writes the record and prints it: its caller always gets one."""
    rounds = _rounds(cli, "keeper", WORK, cli.start, lambda launch: _shoot(_keeper(launch.pid)))
    for each in rounds:
        result = each.launch.wait()
        assert result.stderr == ""
        assert result.status == (125 if result.record["exit_code"] is None else 3)
    _check(cli, rounds)


def test_sigkill_to_front_and_keeper_at_once(cli: CommandLine) -> None:
    """What they noted in ``running/`` is enough for the next reader to write the record."""

    def kill_both(launch: Launch) -> None:
        keeper = _keeper(launch.pid)
        for number in (
            signal.SIGSTOP,
            signal.SIGKILL,
        ):  # stopped first, so that neither sees the other's death
            _shoot(keeper, number)
            _shoot(launch.pid if launch.left(0) else None, number)

    _check(cli, _rounds(cli, "both", SHORT_WORK, cli.start, kill_both))


def test_sigkill_to_the_callers_process_group(cli: CommandLine) -> None:
    """A harness that kills its whole group does not reach the keeper, which cleans up."""

    def start_in_shell(*args: str) -> Launch:
        return cli.program("sh", "-c", '"$@"; exit $?', "sh", *command(), *args)

    def kill_group(launch: Launch) -> None:
        try:
            os.killpg(launch.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    _check(cli, _rounds(cli, "group", WORK, start_in_shell, kill_group))


def test_the_record_of_a_shot_front_says_so(cli: CommandLine) -> None:
    """It keeps what the command printed until then, and says that the runner died."""
    text = 'echo begun; : >"$1"; sleep 300'
    launch = cli.start(*_run_args(cli, 0, text))
    assert eventually((cli.tmp / "started-0").exists, bool, 5)
    launch.signal(signal.SIGKILL)
    assert (launch.wait().status, launch.wait().out) == (-9, b"")
    (record,) = eventually(lambda: store_records(cli.store), bool, 2)
    assert (record["exit_code"], record["error"]) == (None, "runner_died")
    assert (record["stdout_tail"], record["agent_note"]) == ("begun", "round 0")
    assert not launch.left(1)


def test_a_reader_sees_a_run_whose_runners_are_dead(cli: CommandLine) -> None:
    """Both are shot in the middle: the store holds nothing, then the first reader writes the record, once."""
    launch = cli.start(*_run_args(cli, 0, ': >"$1"; sleep 0.5'))
    assert eventually((cli.tmp / "started-0").exists, bool, 5)
    _shoot_both(launch)
    assert store_records(cli.store) == []
    assert len(os.listdir(cli.store / "running")) == 1
    (first,) = eventually(lambda: cli("last", "--json").objects, bool, 2)
    assert (first["exit_code"], first["error"], first["agent_note"]) == (None, "runner_died", "round 0")
    assert first["truncations"] == first["bytes"] == {"stdout": None, "stderr": None}
    assert cli("last", "--json").objects == [first]
    assert store_records(cli.store) == [first]
    check_quiet(cli.store)
    _check_verified(cli)


def test_a_reader_of_a_read_only_store_sees_it_too(user_cli: CommandLine) -> None:
    """It is shown as it would be stored, by every verb, and nothing is written."""
    launch = user_cli.start(*_run_args(user_cli, 0, ': >"$1"; sleep 0.5'))
    assert eventually((user_cli.tmp / "started-0").exists, bool, 5)
    _shoot_both(launch)
    folders = [user_cli.store, user_cli.store / "running"]
    files = [path for path in user_cli.store.rglob("*") if path.is_file()]
    for path in [*files, *reversed(folders)]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        (record,) = eventually(lambda: user_cli("last", "--json").objects, bool, 2)
        assert (record["error"], record["agent_note"], record["seq"]) == ("runner_died", "round 0", None)
        assert user_cli("last", "--json", "--null").objects == [record]
        assert user_cli("show", "--json", record["command_id"]).objects == [record]
        assert user_cli("check", record["command_id"]).status == 1
        assert len(os.listdir(user_cli.store / "running")) == 1
    finally:
        for path in folders:
            path.chmod(0o700)


def test_a_reader_names_what_dead_runners_left(cli: CommandLine) -> None:
    """Nobody could stop the command then: the adopted record names it, with its pid and start."""
    launch = cli.start(*_run_args(cli, 0, "exec sleep 308"))
    assert eventually(lambda: [p for p in launch.left(0) if p.command == "sleep 308"], bool, 5)
    _shoot_both(launch)
    (record,) = eventually(lambda: cli("last", "--json").objects, bool, 2)
    (stray,) = record["strays"]
    try:
        assert (record["error"], stray["action"]) == ("runner_died", "left")
        assert "sleep 308" in stray["command"]
        assert [process.pid for process in launch.left(0)] == [stray["pid"]]
        assert stray["start"].count(":") == 1
    finally:
        _shoot(stray["pid"])
    assert not launch.left(0.5)


def test_a_reader_names_all_that_dead_runners_left(cli: CommandLine) -> None:
    """Children of the command as well, and they can be stopped by what the record says."""
    launch = cli.start(*_run_args(cli, 0, ': >"$1"; sleep 331 & sleep 332'))
    wanted = ["sleep 331", "sleep 332"]
    assert eventually(lambda: [p for p in launch.left(0) if p.command in wanted], lambda p: len(p) == 2, 5)
    _shoot_both(launch)
    (record,) = eventually(lambda: cli("last", "--json").objects, bool, 2)
    named = sorted(stray["command"] for stray in record["strays"])
    assert named[1:] == wanted
    assert len(named) == 3
    assert cli("strays", "--stop").status == 0
    assert not launch.left(0.5)


def test_a_reader_leaves_a_living_run_alone(cli: CommandLine) -> None:
    """A run that goes on is nobody's to adopt, however often readers look."""
    launch = cli.start(*_run_args(cli, 0, ': >"$1"; sleep 1; exit 3'))
    assert eventually((cli.tmp / "started-0").exists, bool, 5)
    for _ in range(3):
        assert cli("last", "--json").objects == []
    assert len(os.listdir(cli.store / "running")) == 1
    result = launch.wait()
    assert result.status == 3
    assert cli("last", "--json").objects == [result.record]


# --- hosts of the library ---


def _acknowledged(output: bytes) -> list[dict[str, Any]]:
    """Return what a host had told of its runs before it died."""
    return [json.loads(line) for line in output.splitlines(keepends=True) if line.endswith(b"\n")]


def _check_host(cli: CommandLine, acknowledged: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Check that each started run has one record and each told one its own; return the records."""
    assert cli("last", "--json").status == 0
    check_quiet(cli.store)
    records = store_records(cli.store)
    notes = [record["agent_note"] for record in records]
    assert len(set(notes)) == len(notes), "a run has two records"
    started = {path.name for path in cli.tmp.glob("started-*")}
    assert started <= set(notes), "a run that was started has no record"
    by_note = {record["agent_note"]: record for record in records}
    told = {each["note"]: (each["command_id"], each["exit_code"], each["error"]) for each in acknowledged}
    stored = {note: tuple(by_note[note][k] for k in ("command_id", "exit_code", "error")) for note in told}
    assert stored == told
    _check_verified(cli)
    return records


@pytest.mark.parametrize("contain", ["keeper", "group"])
def test_sigkill_to_a_library_host(cli: CommandLine, contain: str) -> None:
    """Its keeper stops the command and writes the record; in group mode the next reader does the latter."""
    chance = random.Random(contain)
    # In group mode nobody is left to stop anything, and `containment` says so: such a command ends by itself.
    text = WORK if contain == "keeper" else SHORT_WORK
    launches = []
    for number in range(HOST_ROUNDS):
        mark = str(cli.tmp / f"started-{number}")
        launches.append(host(cli, "host_loop", text=text, mark=mark, contain=contain, times=1000))
        launches[-1].line()
        time.sleep(chance.uniform(0, 0.6))
        launches[-1].signal(signal.SIGKILL)
    acknowledged = []
    for launch in launches:
        acknowledged += _acknowledged(launch.wait().out)
        left = launch.left(SWEPT_WITHIN)
        assert not left, f"left alive {left}"
    records = _check_host(cli, acknowledged)
    assert {record["error"] for record in records} <= {None, "runner_died"}
    assert {record["exit_code"] for record in records} == {None, 3}


def _runners(launch: Launch, which: str) -> list[int]:
    """Return the pids of our own processes beside a host: the warm one, fronts or keepers."""
    ours = {process.pid for process in launch.left(0) if "keeper_main" in process.command}
    below = {pid: [each.pid for each in children(pid) if each.pid in ours] for pid in ours}
    forked = {pid for pids in below.values() for pid in pids}
    fronts = {pid for root in ours - forked for pid in below[root]}
    return sorted({"warm": ours - forked, "front": fronts, "keeper": forked - fronts}[which])


@pytest.mark.parametrize(
    ("text", "which"),
    [(SESSION_WORK, "front"), (SESSION_WORK, "keeper"), (WORK, "keeper"), (WORK, "front"), (WORK, "warm")],
)
def test_sigkill_to_the_keeper_of_a_library_host(cli: CommandLine, text: str, which: str) -> None:
    """``run`` returns a null record of that run, the host works on, and nothing of the run is left."""
    chance = random.Random("library keeper")
    launch = host(cli, "host_loop", text=text, mark=str(cli.tmp / "started"), contain="keeper", times=1000)
    launch.line()
    for _ in range(KEEPER_DEATHS):
        time.sleep(chance.uniform(0.05, 0.4))
        (victim, *_) = eventually(lambda: _runners(launch, which), bool, 5)
        _shoot(victim)
    launch.end_stdin()  # it stops after the next run that nobody is shot in
    result = launch.wait()
    assert (result.status, result.stderr) == (0, "")
    acknowledged = _acknowledged(result.out)
    ends = [(each["exit_code"], each["error"]) for each in acknowledged]
    assert set(ends) <= {(3, None), (None, "runner_died")}
    # the warm process can be hit in the very moment in which it forks; else nobody needs it
    assert ((None, "runner_died") in ends) or which == "warm"
    assert ends.count((None, "runner_died")) <= KEEPER_DEATHS
    assert ends[-1] == (3, None), "after a keeper died the host can run commands again"
    assert len(_check_host(cli, acknowledged)) == len(acknowledged)
    left = launch.left(SWEPT_WITHIN)
    assert not left, f"left alive {left}"


def test_a_forked_child_of_the_host_does_not_hide_its_death(cli: CommandLine) -> None:
    """The child has every descriptor of the host, and yet the run is stopped when the host itself is shot."""
    launch = host(cli, "host_forks", mark=str(cli.tmp / "started-0"))
    child = int(launch.line())
    launch.signal(signal.SIGKILL)
    assert launch.wait().status == -9
    try:
        left = eventually(lambda: [p.pid for p in launch.left(0)], lambda pids: pids == [child], SWEPT_WITHIN)
        assert left == [child]
        (record,) = eventually(lambda: store_records(cli.store), bool, 2)
        assert (record["exit_code"], record["error"]) == (None, "runner_died")
        check_quiet(cli.store)
    finally:
        _shoot(child)
