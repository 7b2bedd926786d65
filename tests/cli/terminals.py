"""``firsthand run`` at a real terminal, and what the terminal then shows."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from tests.support import eventually, store_records

if TYPE_CHECKING:
    from tests.support import CommandLine, Launch

ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
SUMMARY = rf"firsthand: exit 0 in \d+\.\d\d s; record {ID}"
WAIT = "until [ -e go ]; do sleep 0.02; done"
FLOOD = 8_000_000
QUIET_FOR = re.compile(rb"quiet for (\d+) s")

QUICKLY_QUIET = """
import functools, sys
from firsthand.cli import main, screen
screen.Screen = functools.partial(screen.Screen, quiet=0.3)
sys.exit(main.main(["run", *sys.argv[1:]]))
"""
"""The command line with another notion of quiet."""


def at_terminal(cli: CommandLine, text: str, *options: str) -> Launch:
    """Start it; no line about a quiet run gets in between, however slow the machine is."""
    cli.env["CI"] = "true"
    return cli.start("run", *options, "--", "sh", "-c", text, terminal="all")


def quickly_quiet(cli: CommandLine, text: str, *options: str) -> Launch:
    words = [sys.executable, "-c", QUICKLY_QUIET, *options, "--", "sh", "-c", text]
    return cli.program(*words, terminal="all")


def let_go_on(cli: CommandLine) -> None:
    (cli.tmp / "go").touch()


def records(cli: CommandLine, seconds: float = 10) -> list[dict[str, Any]]:
    """Return the records once there are any; nobody reads from the terminal meanwhile."""
    return eventually(lambda: store_records(cli.store), bool, seconds)


def plain(shown: bytes) -> str:
    """Return what was shown without styles."""
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())


def screen(shown: bytes) -> list[str]:
    """Return the lines that a terminal shows at last: CR goes back, and what comes then overwrites."""
    lines = []
    for line in plain(shown).split("\n"):
        seen = ""
        for part in line.split("\r"):
            seen = part + seen[len(part) :]
        lines.append(seen.rstrip())
    return lines
