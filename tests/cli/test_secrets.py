"""Nothing raw on disk: whatever field a secret comes in by, no file of the store holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support import CommandLine
from tests.support.slack import eventually

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "hunter" + "2" * 20
ASSIGNMENT = "pass" + "word=" + SECRET


def stored(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_no_field_leaks(cli: CommandLine) -> None:
    """Streams, argv, note, prediction, session, folder and error sentence, cut or not."""
    folder = cli.tmp / ASSIGNMENT
    folder.mkdir()
    flood = f"seq 1 5000; echo {ASSIGNMENT}; seq 1 30; echo {ASSIGNMENT} >&2"
    outputs = [
        cli(
            "run",
            "--json",
            "--cwd",
            str(folder),
            "--note",
            ASSIGNMENT,
            "--session",
            ASSIGNMENT,
            "--",
            "bash",
            "-c",
            flood,
        ),
        cli("run", "--json", "--expect", ASSIGNMENT, "--", "echo", ASSIGNMENT),
        cli("run", "--json", "--", f"/no/such/{ASSIGNMENT}"),
        cli("run", "--json", "--cwd", f"/no/such/{ASSIGNMENT}", "--", "true"),
        cli(
            "run",
            "--json",
            "--",
            "bash",
            "-c",
            f"sleep 60.5 & : {ASSIGNMENT}; exec -a {ASSIGNMENT} sleep 0.1",
        ),
        cli("run", "--", "echo", ASSIGNMENT),
        cli("show", "--stream", "stdout"),
        cli("last"),
    ]
    for result in outputs:
        assert SECRET not in result.stdout + result.stderr
    assert SECRET.encode() not in stored(cli.store)
    assert outputs[1].record["expectation_met"] is False or outputs[1].record["redactions"]


def test_the_running_file_is_redacted_too(cli: CommandLine) -> None:
    """It is written before the command starts, and it may outlive us."""
    launch = cli.start("run", "--", "sh", "-c", ": >begun; sleep 60", ASSIGNMENT)
    running = cli.store / "running"
    assert eventually((cli.tmp / "begun").exists, bool, 10)
    content = stored(running)
    launch.signal(2)
    launch.wait()
    assert SECRET.encode() not in content
    assert b"[REDACTED:password#1]" in content


def test_a_secret_cut_by_every_limit_leaves_no_half(cli: CommandLine) -> None:
    """Whatever its distance to the line limit, to the windows' edges and to the kept lines."""
    program = (
        "import sys\n"
        "secret = 'pass' + 'word=' + 'Zq7' * 12\n"
        "for shift in range(0, 1100, 37): print('x' * shift, secret, 'y' * 900)\n"
        "print('z' * 16000, secret, 'z' * 200000, secret, 'end')\n"
    )
    result = cli("run", "--json", "--", "python3", "-c", program)
    assert "Zq7Zq7" not in result.stdout
    assert b"Zq7Zq7" not in stored(cli.store)
