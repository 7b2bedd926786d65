"""Every row of the public case file, run as it stands: what went wrong elsewhere goes right here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cases.clock_case import clock_case
from tests.cases.drive import drive
from tests.cases.expectations import check
from tests.cases.rows import LATER, Row, load, prepare, refuse_unknown
from tests.cases.store_cases import store_case

if TYPE_CHECKING:
    from tests.support import CommandLine

ROWS = [pytest.param(row, id=row["id"]) for row in load() if row["group"] not in LATER]


@pytest.mark.parametrize("row", ROWS)
def test_row(row: Row, cli: CommandLine) -> None:
    """The record, and all that is around it, is as the row says."""
    refuse_unknown(row)
    if row["group"] == "store":
        store_case(row, cli)
    elif row["group"] == "clock":
        clock_case(row, cli)
    else:
        row = prepare(row, cli.tmp)
        with drive(row, cli) as seen:
            check(row["expect"], seen)
