"""Runners that are stopped (SIGSTOP), by the command or by somebody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support import CommandLine


def test_a_command_that_stops_its_parent_keeps_its_limit(cli: CommandLine) -> None:
    """The front lets the keeper go on: the limit holds, and the record says so."""
    record = cli("run", "--json", "--timeout", "1", "--", "sh", "-c", "kill -STOP $PPID; sleep 300").record
    assert (record["exit_code"], record["error"]) == (None, "timeout")


def test_a_command_that_stops_its_parent_again_and_again(cli: CommandLine) -> None:
    """As often as it likes; its own end is what counts."""
    text = "for i in 1 2 3 4 5; do kill -STOP $PPID; sleep 0.05; done; exit 3"
    assert cli("run", "--json", "--", "sh", "-c", text).record["exit_code"] == 3
