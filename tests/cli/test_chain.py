"""``chain`` and ``failures``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.readers import STARTED, name, short, stored

if TYPE_CHECKING:
    from tests.support import CommandLine

FAILED = "2026-11-30 08:31:58  exit 1 in 0.84 s  make"
PASSED = "2026-11-30 08:31:58  exit 0 in 0.84 s  make"
GONE = "(not in this store: rotated away, or never there)"


def test_a_chain_with_a_fork_and_inputs(cli: CommandLine) -> None:
    """Oldest first, each with its parent; what it used has another name; others' records stay out."""
    stored(cli, 1, exit_code=1)
    stored(cli, 2, exit_code=1, parent_command_id=name(1))
    stored(cli, 9)
    stored(cli, 3, exit_code=0, parent_command_id=name(1), input_command_ids=[name(9), name(8)])
    shown = cli("chain", name(2))
    assert (shown.status, shown.stderr) == (0, "")
    assert short(shown.stdout).splitlines() == [
        f"attempt 1: #1  {FAILED}",
        f"attempt 2: #2  {FAILED}",
        "  retries attempt 1",
        f"attempt 3: #3  {PASSED}",
        "  retries attempt 1",
        "  uses output of #9",
        f"  uses output of #8 {GONE}",
    ]


def test_an_input_is_no_attempt(cli: CommandLine) -> None:
    """The two relations are never mixed."""
    stored(cli, 1, exit_code=1)
    stored(cli, 2, input_command_ids=[name(1)])
    assert short(cli("chain", name(1)).stdout) == f"attempt 1: #1  {FAILED}\n"


def test_a_chain_whose_beginning_is_gone(cli: CommandLine) -> None:
    """It says so, in JSON too."""
    stored(cli, 5, exit_code=1, parent_command_id=name(4), stdout_tail="\u2028")
    assert short(cli("chain", name(5)).stdout).splitlines() == [
        f"attempt 1: #5  {FAILED}",
        f"  retries #4 {GONE}",
    ]
    assert cli("chain", "--json", name(5)).objects == [
        {
            "attempt": 1,
            "command": ["make"],
            "command_id": name(5),
            "duration_ms": 840,
            "error": None,
            "exit_code": 1,
            "parent_command_id": name(4),
            "parent_stored": False,
            "started_at": STARTED,
            "uses_output_of": [],
            "verdict": "exit 1 in 0.84 s",
        }
    ]


def test_a_cycle_ends(cli: CommandLine) -> None:
    """Such a store was not written by us, and is shown all the same."""
    stored(cli, 1, exit_code=1, parent_command_id=name(2))
    stored(cli, 2, exit_code=1, parent_command_id=name(1))
    assert short(cli("chain", name(1)).stdout).splitlines() == [
        f"attempt 1: #1  {FAILED}",
        "  retries attempt 2",
        f"attempt 2: #2  {FAILED}",
        "  retries attempt 1",
    ]


def test_the_middle_of_an_endless_chain(cli: CommandLine) -> None:
    """Is counted, not printed; JSON has all of it."""
    for number in range(1, 104):
        stored(cli, number, parent_command_id=name(number - 1) if number > 1 else None)
    shown = cli("chain", name(50))
    attempts = [line for line in shown.stdout.splitlines() if line.startswith("attempt")]
    assert [line.partition(":")[0] for line in attempts[:2]] == ["attempt 1", "attempt 5"]
    assert len(attempts) == 100
    assert shown.stderr == "firsthand: note: 3 attempts after the first not shown: --json has them all\n"
    assert len(cli("chain", "--json", name(50)).objects) == 103


def test_chain_usage(cli: CommandLine) -> None:
    """Status 2 with the next action."""
    assert (cli("chain").status, cli("failures", "-n", "0").status) == (2, 2)
    unknown = cli("chain", "deadbeef")
    assert (unknown.status, unknown.stdout, unknown.stderr) == (
        2, "", "firsthand: error: no record deadbeef\nhint: firsthand last shows them\n",
    )  # fmt: skip


def test_failures_tell_what_became_of_them(cli: CommandLine) -> None:
    """Failed attempts only, each with its number and the attempt that succeeded."""
    stored(cli, 1, exit_code=1)
    stored(cli, 2, exit_code=None, error="timeout", parent_command_id=name(1))
    stored(cli, 3, exit_code=0, parent_command_id=name(2))
    stored(cli, 4, exit_code=1)
    stored(cli, 5, exit_code=1, parent_command_id=name(4))
    stored(cli, 6, exit_code=1, parent_command_id="01a22bc1-e22e-7376-a95e-999999999999")
    stored(cli, 7, exit_code=0, cwd="/elsewhere", parent_command_id=name(6))
    shown = cli("failures")
    assert (shown.status, shown.stderr) == (0, "")
    assert short(shown.stdout).splitlines() == [
        f"#1  {FAILED}",
        "  attempt 1 of 3: attempt 3 succeeded (#3)",
        "#2  2026-11-30 08:31:58  exit null (timeout) in 0.84 s  make",
        "  attempt 2 of 3: attempt 3 succeeded (#3)",
        f"#4  {FAILED}",
        "  attempt 1 of 2: no later attempt succeeded",
        f"#5  {FAILED}",
        "  attempt 2 of 2: not retried since",
        f"#6  {FAILED}",
        "  attempt 1 of 2 in this store: attempt 2 succeeded, by another command (#7)",
    ]


def test_failures_in_json_and_by_session(cli: CommandLine) -> None:
    """The newest n of one session, and how many more there are."""
    stored(cli, 1, exit_code=1, session_id="a")
    stored(cli, 2, exit_code=3, session_id="a", parent_command_id=name(1))
    stored(cli, 3, exit_code=1, session_id="b")
    stored(cli, 4, exit_code=0, parent_command_id=name(2))
    shown = cli("failures", "--json", "--session", "a", "-n", "1")
    assert shown.stderr == "firsthand: note: 1 older failure not shown: -n 2\n"
    assert shown.objects == [
        {
            "attempt": 2,
            "attempts": 3,
            "command": ["make"],
            "command_id": name(2),
            "cwd": "/home/somebody/project",
            "duration_ms": 840,
            "error": None,
            "exit_code": 3,
            "missing": [],
            "same_command": True,
            "session_id": "a",
            "started_at": STARTED,
            "succeeded_as": name(4),
            "verdict": "exit 3 in 0.84 s",
        }
    ]


def test_failures_of_all_six_files(cli: CommandLine) -> None:
    """The oldest file too, and a bad line is counted."""
    stored(cli, 1, exit_code=1)
    for number in range(10, 50):
        stored(cli, number, size=100_000)
    assert (cli.store / "feedback_record.jsonl.1").exists()
    with (cli.store / "feedback_record.jsonl").open("a") as file:
        file.write("nonsense\n")
    shown = cli("failures")
    assert short(shown.stdout) == f"#1  {FAILED}\n  attempt 1 of 1: not retried since\n"
    assert shown.stderr == "firsthand: note: 1 bad line skipped: not a record; firsthand verify tells more\n"


def test_no_failures(cli: CommandLine) -> None:
    """Nothing to show is no error, and makes no store."""
    shown = cli("failures")
    assert (shown.status, shown.stdout) == (0, "")
    assert shown.stderr == "firsthand: note: no failed attempt in this store\n"
    assert not cli.store.exists()
