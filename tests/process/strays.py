"""What the tests of strays look at: the entries of a record, and the processes that they name."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support import check_stored, check_whole

if TYPE_CHECKING:
    from tests.support import CommandLine, Launch

DAEMON = "setsid sleep 303 >/dev/null 2>&1 </dev/null & sleep 0.2"
"""A line for ``sh`` that leaves a proper daemon."""


def actions(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Return command and action of each stray, in the order of the record."""
    return [(stray["command"], stray["action"]) for stray in record["strays"]]


def check_entries(record: dict[str, Any]) -> None:
    """Check that each stray is described in full; the one after the twentieth only counts the rest."""
    for stray in record["strays"][:20]:
        assert set(stray) == {"pid", "start", "command", "action", "reason"}
        boot, _, ticks = stray["start"].partition(":")
        assert (len(boot), ticks.isdigit()) == (36, True), stray
        assert stray["reason"], stray


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in b"ZX"
    except OSError:
        return False


def end(strays: list[dict[str, Any]], token: str) -> None:
    """End strays that firsthand kept, by pid, where their command line shows that they are the test's own."""
    for stray in strays:
        try:
            if token.encode() in Path(f"/proc/{stray['pid']}/cmdline").read_bytes().replace(b"\0", b" "):
                os.kill(stray["pid"], signal.SIGKILL)
        except OSError:
            pass


def run_ok(cli: CommandLine, *args: str) -> tuple[dict[str, Any], Launch]:
    """Run a command that must end with 0 and a whole, stored record."""
    launch = cli.start("run", "--json", *args)
    result = launch.wait()
    record = result.record
    assert (result.status, result.stderr, record["exit_code"]) == (0, "", 0), record
    check_whole(record, via="cli", took_ms=result.seconds * 1000)
    check_stored(record, cli.store)
    check_entries(record)
    return record, launch
