"""Shared test code: the command line in fresh folders, its store read back, processes found by a mark.

::

    def test_mirrors_the_exit_code(cli: CommandLine) -> None:
        result = cli("run", "--json", "--", "sh", "-c", "exit 3")
        assert result.status == 3
        assert result.stderr == ""
        assert result.record["exit_code"] == 3
        assert store_records(cli.store) == [result.record]
"""

from __future__ import annotations

from tests.support.alive import alive, children, wait_gone, zombies
from tests.support.cli import CommandLine, library_environment
from tests.support.launch import Launch, Result
from tests.support.slack import SLACK, eventually
from tests.support.store import bad_lines, store_files, store_lines, store_records
from tests.support.whole import check_stored, check_whole, expected_status, one_object

__all__ = [
    "SLACK",
    "CommandLine",
    "Launch",
    "Result",
    "alive",
    "bad_lines",
    "check_stored",
    "check_whole",
    "children",
    "eventually",
    "expected_status",
    "library_environment",
    "one_object",
    "store_files",
    "store_lines",
    "store_records",
    "wait_gone",
    "zombies",
]
