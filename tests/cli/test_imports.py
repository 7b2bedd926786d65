"""The ``run`` path imports almost nothing: an interpreter's start is most of what a run costs."""

from __future__ import annotations

import sys

from tests.support import CommandLine

PROGRAM = """
import os, sys
bare = set(sys.modules)
leave = os._exit
def end(code):
    os.write(2, " ".join(sorted(set(sys.modules) - bare)).encode())
    leave(code)
os._exit = end
sys.argv[1:] = ["run", *sys.argv[1:], "--", "true"]
from firsthand.cli.main import main
main()
"""

STANDARD = {"__future__", "_ctypes", "errno", "fcntl", "select"}
"""All of the standard library that a plain run adds to a bare interpreter."""

MODULES = 48
"""At most so many modules of our own: each costs 0.1 ms."""

OPTIONS = {"firsthand.cli.options", "firsthand.settings", "firsthand.expectation"}
"""What options with a number or a prediction add."""

LIVE = {"firsthand.cli.screen", "firsthand.cli.terminal", "firsthand.process.live"}
"""What shows a run at a terminal."""


def test_a_plain_run_imports_only_what_it_needs(cli: CommandLine) -> None:
    """Neither re nor json, subprocess, enum, threading, asyncio or typing; the list is complete."""
    result = cli.program(sys.executable, "-c", PROGRAM).wait()
    names = set(result.stderr.split())
    ours = {name for name in names if name.partition(".")[0] == "firsthand"}
    assert names - ours - {"gc"} <= STANDARD
    assert "firsthand.process.supervise" not in ours or len(ours) <= MODULES
    assert len(ours) <= MODULES
    assert ours.isdisjoint(LIVE)


def test_common_options_add_little(cli: CommandLine) -> None:
    """A time limit or an expected exit code needs neither the store's readers nor ``re``."""
    for options in (["--timeout", "5"], ["--note", "x", "--expect-exit", "0"]):
        plain = set(cli.program(sys.executable, "-c", PROGRAM).wait().stderr.split())
        added = set(cli.program(sys.executable, "-c", PROGRAM, *options).wait().stderr.split()) - plain
        assert added <= OPTIONS, options
