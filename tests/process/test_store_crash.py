"""Many processes at one store, and what is left when they are killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.programs.store_sample import sample
from tests.support.cli import library_environment
from tests.support.slack import SLACK, eventually
from tests.support.store import bad_lines, store_files, store_lines, store_records

from firsthand.store.adoption import adopt, orphans
from firsthand.store.append import Store
from firsthand.store.files import FILE_MOST, LIVE_NAME, NAMES
from firsthand.store.place import Place
from firsthand.store.verification import verify

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAMS = Path(__file__).parent.parent / "programs"
WRITERS = 8
HANG_GUARD = 60.0
"""Seconds, before the slack, after which a program of these tests has hung."""


class Started:
    """Programs that a test has started; the ``with`` block ends and reaps all of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.all: list[subprocess.Popen[str]] = []

    def __call__(self, program: str, *args: object) -> subprocess.Popen[str]:
        """Start a program at the store; its output is text."""
        process = subprocess.Popen(
            [sys.executable, PROGRAMS / program, self.folder, *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=library_environment({"PATH": os.environ["PATH"]}),
            text=True,
        )
        self.all.append(process)
        return process

    def close(self) -> None:
        """Kill and reap whatever is left."""
        for process in self.all:
            process.kill()
            process.communicate()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store folder that is not there yet."""
    return tmp_path / "store"


@pytest.fixture
def place(folder: Path) -> Place:
    """The place of that folder."""
    return Place(str(folder.parent), str(folder))


@pytest.fixture
def start(folder: Path) -> Iterator[Started]:
    """Starts programs at the store."""
    started = Started(folder)
    yield started
    started.close()


def ended(process: subprocess.Popen[str]) -> list[str]:
    """Let a program begin, wait for its end, and return the lines that it printed."""
    return process.communicate("go\n", HANG_GUARD * SLACK)[0].splitlines()


def at_once(start: Started, count: int, size: int) -> list[str]:
    """Let eight writers append at the same time; return the ids of their records, all acknowledged."""
    writers = [start("store_writer.py", count, size) for _ in range(WRITERS)]
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    printed = [
        line for writer in writers for line in writer.communicate(timeout=HANG_GUARD * SLACK)[0].splitlines()
    ]
    assert [line.split(" ", 2)[2] for line in printed] == ["None"] * (WRITERS * count)
    return [line.split()[0] for line in printed]


def ids(folder: Path) -> list[str]:
    return [record["command_id"] for record in store_records(folder)]


@pytest.mark.parametrize(
    ("count", "size", "files"),
    [
        pytest.param(60, 5_000, 3, id="K01"),
        pytest.param(40, 15_000, 5, id="K02"),
        pytest.param(85, 7_000, 5, id="K07"),
    ],
)
def test_writers_at_once_lose_nothing(
    start: Started, place: Place, folder: Path, count: int, size: int, files: int
) -> None:
    """K01, K02, K07: over several rotations every record is there once, whole, in order of its number."""
    wrote = at_once(start, count, size)
    assert bad_lines(folder) == []
    assert Counter(ids(folder)) == Counter(wrote)
    assert [record["seq"] for record in store_records(folder)] == list(range(1, WRITERS * count + 1))
    assert files <= len(store_files(folder)) <= 6
    assert max(path.stat().st_size for path in store_files(folder)) <= FILE_MOST
    result = verify(place)
    assert (result.status, result.records, result.notes) == ("intact", WRITERS * count, [])


def test_an_old_writer_follows_the_rotation(start: Started, place: Place, folder: Path) -> None:
    """K08: after another process has rotated the file, our next record is in the live one."""
    store = Store(place)
    first = store.append(sample())
    ended(start("store_writer.py", 40, 50_000))
    assert first.command_id in (folder / NAMES[2]).read_text()
    second = store.append(sample())
    assert second.command_id in (folder / LIVE_NAME).read_text()


def test_a_forked_writer_shares_the_store(place: Place, folder: Path) -> None:
    """A store made before a fork is used on both sides of it."""
    store = Store(place)
    store.append(sample())
    pid = os.fork()
    if not pid:
        for _ in range(50):
            store.append(sample(4000))
        os._exit(0)
    for _ in range(50):
        store.append(sample(4000))
    assert os.waitpid(pid, 0)[1] == 0
    assert len(set(ids(folder))) == 101
    assert verify(place).status == "intact"


def test_killed_writers_lose_nothing_acknowledged(start: Started, place: Place, folder: Path) -> None:
    """Eight writers, killed and replaced at random: what was acknowledged is there once, nothing is glued."""
    chance = random.Random(7)
    writers = [go(start) for _ in range(WRITERS)]
    acknowledged: list[str] = []
    for _ in range(40):
        time.sleep(chance.uniform(0.005, 0.05))
        victim = writers.pop(chance.randrange(WRITERS))
        victim.kill()
        acknowledged += printed_by(victim)
        writers.append(go(start))
    for writer in writers:
        writer.kill()
        acknowledged += printed_by(writer)
    check_nothing_lost(folder, acknowledged)
    assert verify(place).ok is True
    Store(place).append(sample())
    assert verify(place).status == "intact"


def go(start: Started) -> subprocess.Popen[str]:
    """Start a writer that goes on until it is killed."""
    writer = start("store_writer.py", 0, 3_000)
    assert writer.stdin
    writer.stdin.write("go\n")
    writer.stdin.flush()
    return writer


def printed_by(victim: subprocess.Popen[str]) -> list[str]:
    """Return the whole lines that a killed writer printed; what it could not print it did not acknowledge."""
    return [line for line in victim.communicate()[0].splitlines(keepends=True) if line.endswith("\n")]


def check_nothing_lost(folder: Path, acknowledged: list[str]) -> None:
    """Every acknowledged record that can still be in the six files is there, once."""
    assert acknowledged, "nothing was written, so nothing was tried"
    assert [line for line in acknowledged if not line.endswith(" None\n")] == []
    records = store_records(folder)
    numbers = [record["seq"] for record in records]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    found = Counter(record["command_id"] for record in records)
    assert set(found.values()) == {1}
    due = [line.split() for line in acknowledged if int(line.split()[1]) >= numbers[0]]
    assert [number for command_id, number, _ in due if command_id not in found] == []
    if numbers[0] > 1:
        # only a rotation drops records, from here; a kill may have cut it off before it was done
        assert (folder / "feedback_record.jsonl.5").exists()


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize(
    ("moment", "status", "stored"),
    [("half", "intact", 0), ("line", "healed", 1), ("head", "healed", 1)],
)
def test_a_death_between_two_calls(
    start: Started, place: Place, folder: Path, moment: str, status: str, stored: int, rounds: int
) -> None:
    """At each exact moment, once and again: verify calls it no change, the next append heals."""
    first = Store(place).append(sample())
    for turn in range(1, rounds + 1):
        assert start("store_dies.py", moment).wait(HANG_GUARD * SLACK) == -signal.SIGKILL
        assert (verify(place).status, verify(place).ok) == (status, True)
        assert len(store_records(folder)) == 1 + turn * stored
    last = Store(place).append(sample())
    assert last["seq"] == 2 + rounds * stored
    assert (last["torn"] is not None) == (moment == "half")
    assert store_records(folder)[0] == first
    assert store_records(folder)[-1] == last
    assert len(bad_lines(folder)) == (rounds if moment == "half" else 0)
    assert (verify(place).status, verify(place).records) == ("intact", 2 + rounds * stored)
    assert not (folder / "gaps").exists()


@pytest.mark.parametrize("renamed", [0, 1, 2, 3, 4, 5])
def test_a_death_in_a_rotation(start: Started, place: Place, folder: Path, renamed: int) -> None:
    """Between any two renames: no record is missing behind the one dropped file, and it is finished later."""
    store = Store(place)
    while len(store_files(folder)) < 6:
        store.append(sample(99_000))
    before = [record["seq"] for record in store_records(folder)]
    died = start("store_dies.py", f"rename:{renamed}", 99_000)
    assert died.wait(HANG_GUARD * SLACK) == -signal.SIGKILL
    assert verify(place).ok is not False
    numbers = [record["seq"] for record in store_records(folder)]
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert (numbers[0] > before[0]) == (renamed > 0)
    oldest = numbers[0]
    record = store.append(sample(99_000))
    assert record["seq"] == numbers[-1] + 1
    numbers = [record["seq"] for record in store_records(folder)]
    assert numbers[-1] == record["seq"]
    if renamed > 0:
        assert numbers[0] == oldest
    assert verify(place).status == "intact"


def test_a_cut_is_told_from_a_crash(start: Started, place: Place, folder: Path) -> None:
    """The same missing bytes: left unwritten by a crash they are no change, taken away later they are one."""
    Store(place).append(sample())
    assert start("store_dies.py", "half").wait(HANG_GUARD * SLACK) == -signal.SIGKILL
    assert verify(place).ok is True
    store = Store(place)
    store.append(sample())
    store.append(sample())
    line = store_lines(folder)[-1]
    path = folder / LIVE_NAME
    os.truncate(path, path.stat().st_size - len(line) // 2)
    assert (verify(place).status, verify(place).ok) == ("cut_off", False)


def test_a_killed_run_is_adopted(start: Started, place: Place, folder: Path) -> None:
    """While its process lives it is left alone; killed, it leaves its null record."""
    runner = start("store_runner.py")
    assert runner.stdout
    command_id = runner.stdout.readline().split()[0]
    assert adopt(Store(place)) == 0
    assert orphans(place) == []
    runner.kill()
    runner.wait()
    assert [record.command_id for record in orphans(place)] == [command_id]
    assert adopt(Store(place)) == 1
    assert [(r["command_id"], r["error"]) for r in store_records(folder)] == [(command_id, "runner_died")]
    assert os.listdir(folder / "running") == []


def test_the_lock_lives_as_long_as_one_of_two(start: Started, place: Place) -> None:
    """Front and keeper share it over the fork: only when both are dead may anybody adopt."""
    runner = start("store_runner.py", "fork")
    assert runner.stdout
    other = int(runner.stdout.readline().split()[1])
    runner.kill()
    runner.wait()
    assert adopt(Store(place)) == 0
    os.kill(other, signal.SIGKILL)
    assert eventually(lambda: adopt(Store(place)), bool, 2.0) == 1


def test_a_program_does_not_hold_the_lock(start: Started, place: Place, folder: Path) -> None:
    """The command lives on without its runner: it is named, and it keeps nobody from adopting."""
    runner = start("store_runner.py", "child")
    assert runner.stdout
    child = int(runner.stdout.readline().split()[1])
    try:
        runner.kill()
        runner.wait()
        assert adopt(Store(place)) == 1
        (record,) = store_records(folder)
        assert [(stray["pid"], stray["action"]) for stray in record["strays"]] == [(child, "left")]
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_run_killed_after_its_record_is_not_stored_twice(
    start: Started, place: Place, folder: Path
) -> None:
    """Between the append and the unlink."""
    runner = start("store_runner.py", "stored")
    assert runner.stdout
    command_id = runner.stdout.readline().split()[0]
    runner.kill()
    runner.wait()
    assert adopt(Store(place)) == 0
    assert ids(folder) == [command_id]
    assert store_records(folder)[0]["exit_code"] == 0
