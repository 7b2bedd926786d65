"""What the notes of some rows ask for beside the row itself."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from tests.cases.drive import start_library
from tests.cases.rows import Row, load, prepare
from tests.support import check_stored, check_whole, wait_gone

if TYPE_CHECKING:
    from tests.support import CommandLine


def _row(name: str, cli: CommandLine) -> Row:
    return prepare(next(row for row in load() if row["id"] == name), cli.tmp)


def test_b07_a_proper_daemon_is_kept_and_named(cli: CommandLine) -> None:
    """Without ``--strays stop`` what left the session and the pipes lives on, and the record says so."""
    row = _row("B07", cli)
    (token,) = row["expect"]["gone"]
    record = cli("run", "--json", "--", *row["argv"]).record
    (stray,) = record["strays"]
    assert (stray["action"], token in stray["command"]) == ("kept", True)
    os.kill(stray["pid"], signal.SIGKILL)
    assert not wait_gone(token)


@pytest.mark.parametrize("size", [27000, 28500, 29500, 30500])
def test_e08_the_last_line_stays_at_each_size(size: int, cli: CommandLine) -> None:
    """The verdict of a run stands at its end, behind one long line of any length."""
    program = f"print(('L%05d ' % {size}) * ({size} // 7)); print('END-{size}')"
    assert (
        cli("run", "--json", "--", "python3", "-c", program).record["stdout_tail"].endswith(f"\nEND-{size}")
    )


@pytest.mark.parametrize("name", ["H07", "H09"])
def test_h07_h09_bytes_that_are_no_text_are_marked(name: str, cli: CommandLine) -> None:
    """An argument that no JSON can hold is shown by a stand-in; the record is marked as not replayable."""
    row = {**_row(name, cli), "via": "library"}
    launch, report = start_library(row, cli)
    (record,) = report["records"]
    program, argument = record["command"]
    assert (program, argument.isprintable(), len(argument) > 0) == ("echo", True, True)
    assert record["replayable"] == "bytes"
    launch.end_stdin()
    assert launch.wait().status == 0


def test_h08_a_reader_gives_back_the_same_record(cli: CommandLine) -> None:
    """What was printed when the command ran is what ``last`` prints later."""
    record = cli("run", "--json", "--", *_row("H08", cli)["argv"]).record
    assert cli("last", "--json").objects == [record]


@pytest.mark.parametrize("limit", [4, 6, 8, 10, 12, 16])
def test_d18_without_descriptors_the_record_says_so(limit: int, cli: CommandLine) -> None:
    """Where the limit is really hit nothing is raised: ``no_resources``, or it could still be run."""
    row = {**_row("D18", cli), "argv": ["true"], "timeout_s": 20, "nofile": limit, "repeat": 3}
    launch, report = start_library(row, cli)
    for record, seconds in zip(report["records"], report["seconds"], strict=True):
        check_whole(record, via="library", took_ms=seconds * 1000)
        assert (record["exit_code"], record["error"]) in {(0, None), (None, "no_resources")}
        if record["log_error"] is None:
            check_stored(record, cli.store)
    launch.end_stdin()
    assert b"Traceback" not in launch.wait().err
