"""``arun``: runs awaited on the host's own loop, which goes on with its work meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.process.hosts import CONTAINS, told
from tests.support import store_records
from tests.support.whole import check_quiet

if TYPE_CHECKING:
    from tests.support import CommandLine

TRIES = 3
"""One that is not delayed by this machine shows it."""

GRACE = 2.0
"""Seconds that a command has after a polite end was asked for."""


@pytest.fixture(params=CONTAINS)
def contain(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def reported(cli: CommandLine, what: str, contain: str) -> Any:
    """Return what the host's function found; no task of ours is left in its loop."""
    report = told(cli, "host_async", what=what, contain=contain)
    assert report["tasks"] == 0
    check_quiet(cli.store)
    return report["found"], report["ticks"]


def test_many_at_once(cli: CommandLine, contain: str) -> None:
    """Each has its own output and status, the host's child too, and the loop is never blocked for long."""
    found, ticks = reported(cli, "many", contain)
    containment = "subreaper" if contain == "keeper" else "group"
    assert found == [*([number, str(number), containment] for number in range(40)), 7]
    assert ticks > 10
    assert len(store_records(cli.store)) == 40


def test_a_cancelled_task_has_the_record(cli: CommandLine, contain: str) -> None:
    """The command is stopped, what it had printed is kept."""
    (code, error, printed, _), _ = reported(cli, "cancelled", contain)
    assert (code, error, printed) == (None, "cancelled", "printed")
    assert [record["error"] for record in store_records(cli.store)] == ["cancelled"]


def test_a_second_cancel_is_a_hard_one(cli: CommandLine, contain: str) -> None:
    """A command that ignores SIGTERM would have two seconds."""
    for _ in range(TRIES):
        (code, error, _, took), _ = reported(cli, "cancelled_twice", contain)
        assert (code, error) == (None, "cancelled")
        if took < GRACE:
            return
    pytest.fail("each time it had its two seconds")


def test_the_hosts_own_time_limit(cli: CommandLine, contain: str) -> None:
    """``asyncio.timeout`` raises what it always raises; the record is on its cause."""
    assert reported(cli, "timed_out", contain)[0] == ["CancelledError", "cancelled"]


def test_cancelled_before_it_began(cli: CommandLine, contain: str) -> None:
    """Then there is no run and no record."""
    assert reported(cli, "cancelled_early", contain)[0] == [None]
    assert not store_records(cli.store)


def test_the_same_options(cli: CommandLine, contain: str) -> None:
    """Input, prediction, and misuse that is refused."""
    found, _ = reported(cli, "data", contain)
    assert found == ["some\nlines", "a note", True, "the command is one text, not a list"]
