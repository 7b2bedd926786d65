"""Both streams are read apart and to their end, and nobody who holds them delays the return."""

from __future__ import annotations

import itertools
import os
import threading
import time
from typing import TYPE_CHECKING

import pytest
from tests.process.hosts import CONTAINS, began, python, told
from tests.support import check_stored, check_whole, eventually, store_records

if TYPE_CHECKING:
    from tests.support import CommandLine


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "writing"])
def test_a_holder_outside_our_reach_cannot_delay_the_return(cli: CommandLine, busy: bool) -> None:
    """This test process opens the command's pipes, holds them and writes: the run ends with its command."""
    launch = cli.start(
        "run", "--json", "--", "sh", "-c", "echo $$; echo $$ >begun; while [ -e begun ]; do sleep 0.02; done"
    )
    began(cli)
    pid = int(eventually((cli.tmp / "begun").read_text, bool, 5))
    held = [os.open(f"/proc/{pid}/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK) for fd in (1, 2)]
    writer = threading.Thread(target=_write_until_broken, args=(held,))
    try:
        if busy:
            writer.start()
        (cli.tmp / "begun").unlink()
        gone = time.monotonic()
        result = launch.wait(5)
    finally:
        if busy:
            writer.join()
        for fd in held:
            os.close(fd)
    assert (result.status, result.record["exit_code"]) == (0, 0)
    assert result.record["stdout_tail"].splitlines()[0] == str(pid)
    assert time.monotonic() - gone < 5, "the drain has a bound, and nobody waits for end of file"
    assert result.record["strays"] == []


def _write_until_broken(fds: list[int]) -> None:
    """Write to both pipes until nobody reads them."""
    for fd in itertools.cycle(fds):
        try:
            os.write(fd, b"from elsewhere\n" * 100)
        except BlockingIOError:
            time.sleep(0.001)
        except BrokenPipeError:
            return


@pytest.mark.parametrize("contain", CONTAINS)
def test_floods_on_both_streams(cli: CommandLine, contain: str) -> None:
    """Both streams are read to their ends, apart, whatever the speed; every byte and line is counted."""
    lines = 300_000
    report = told(cli, "host_runs", argvs=[python("flood", str(lines))], contain=contain)
    (record,) = store_records(cli.store)
    assert [end[:2] for end in report["ends"]] == [[5, None]]
    for stream, name in (("stdout", "out"), ("stderr", "err")):
        size = sum(len(f"{name} line {number}\n") for number in range(lines))
        assert record["bytes"][stream] == size
        shown = record[f"{stream}_tail"].splitlines()
        assert shown[:2] == [f"{name} line 0", f"{name} line 1"]
        assert shown[-1] == f"{name} line {lines - 1}"
        assert len(shown) - 1 + record["truncations"][stream] == lines


def test_a_flood_up_to_the_time_limit(cli: CommandLine) -> None:
    """``yes`` on both streams ends at the limit with what was seen until then."""
    result = cli("run", "--json", "--timeout", "0.5", "--", "sh", "-c", "yes out & yes err >&2", within=10)
    record = result.record
    assert (result.status, record["error"]) == (124, "timeout")
    assert record["stdout_tail"].endswith("\nout")
    assert record["stderr_tail"].endswith("\nerr")
    check_whole(record, via="cli", took_ms=result.seconds * 1000)
    check_stored(record, cli.store)


def test_output_just_before_the_end_is_kept(cli: CommandLine) -> None:
    """What the command wrote last is never lost, though it is gone before anybody read it."""
    argv = ["sh", "-c", "echo first; printf last; echo error >&2"]
    report = told(cli, "host_runs", argvs=[argv], times=60, contain="group")
    assert report["ends"] == [[0, None, "group", "first\nlast"]] * 60
    assert {record["stderr_tail"] for record in store_records(cli.store)} == {"error"}


def test_partial_output_on_a_time_out(cli: CommandLine) -> None:
    """All that was printed until then is in the record, an unfinished line too."""
    text = "echo one; echo two >&2; printf 'three, no end'; sleep 300"
    result = cli("run", "--json", "--timeout", "0.5", "--", "sh", "-c", text)
    record = result.record
    assert (result.status, record["exit_code"], record["error"]) == (124, None, "timeout")
    assert (record["stdout_tail"], record["stderr_tail"]) == ("one\nthree, no end", "two")
    assert record["duration_ms"] >= 500


def test_output_after_sigterm_is_kept(cli: CommandLine) -> None:
    """What a command says while it cleans up belongs to the record; its own exit code then does not count."""
    text = 'trap "echo cleaned; exit 0" TERM; echo begun; while :; do sleep 0.05; done'
    result = cli("run", "--json", "--timeout", "0.4", "--", "sh", "-c", text)
    record = result.record
    assert (result.status, record["exit_code"], record["error"]) == (124, None, "timeout")
    assert record["stdout_tail"] == "begun\ncleaned"
    assert record["duration_ms"] >= 400
