"""Programs of the tests, started with one JSON order and asked for one JSON report, and what they leave."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from tests.support import eventually, one_object, store_records
from tests.support.cli import command
from tests.support.launch import PROGRAMS

if TYPE_CHECKING:
    from tests.support import CommandLine, Launch

CONTAINS = ("keeper", "group")
"""Both ways of the library to hold a command."""


def host(cli: CommandLine, program: str, **order: Any) -> Launch:
    """Start ``programs/PROGRAM.py`` with its order; it reports in one line and lives until its stdin ends."""
    return cli.program(sys.executable, str(PROGRAMS / f"{program}.py"), json.dumps(order))


def told(cli: CommandLine, program: str, *, within: float = 60.0, **order: Any) -> dict[str, Any]:
    """Start such a program to its end, see that it left nothing, and return what it reported."""
    launch = host(cli, program, **order)
    report = one_object(launch.line(within))
    launch.end_stdin()
    result = launch.wait()
    assert (result.status, result.stderr) == (0, "")
    left = launch.left(0.5)
    assert not left, f"left alive: {left}"
    cli.let_go(launch)
    return report


def start_with(cli: CommandLine, *options: str, args: tuple[str, ...]) -> Launch:
    """Start the command line through ``programs/start_with.py``, as a caller with odd habits would."""
    program = str(PROGRAMS / "start_with.py")
    return cli.program(sys.executable, "-I", "-S", program, *options, "--", *command(), *args)


def python(program: str, *args: str) -> list[str]:
    """Return the argv of ``programs/PROGRAM.py`` as a command that firsthand is to run."""
    return ["python3", "-I", "-S", str(PROGRAMS / f"{program}.py"), *args]


def began(cli: CommandLine, name: str = "begun") -> None:
    """Wait until the command has made this file."""
    assert eventually((cli.tmp / name).exists, bool, 5)


def the_record(cli: CommandLine) -> dict[str, Any]:
    """Return the only record of the store, once it is there."""
    (record,) = eventually(lambda: store_records(cli.store), bool, 2)
    return record
