"""The comparison's pure parts: reading a record, rendering a table, and the page that is checked in."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from benchmarks.peers import peers, table

PAGE = Path(__file__).parents[2] / "docs/comparison.md"


def test_a_table_has_a_line_for_its_headers_and_one_for_each_row() -> None:
    """A table is Markdown, and a cell never leaves its place."""
    assert table.markdown(("peer", "says"), [("a", "x | y"), ("b", "two\nlines")]) == (
        "| peer | says |\n| --- | --- |\n| a | x \\| y |\n| b | two lines |"
    )


def test_a_row_that_does_not_fit_is_refused() -> None:
    """A cell too few would shift every later one."""
    with pytest.raises(ValueError, match="b has 1 cells, the table has 2"):
        table.markdown(("peer", "says"), [("a", "x"), ("b",)])


def test_only_what_is_between_the_markers_is_replaced() -> None:
    """Prose around the generated part stays, and writing twice is writing once."""
    page = f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n"
    written = table.insert(page, "new\n")
    assert written == f"before\n{table.BEGIN}\n\nnew\n\n{table.END}\nafter\n"
    assert table.insert(written, "new\n") == written
    assert table.generated_part(written) == "new\n"


@pytest.mark.parametrize(
    "page",
    [
        "",
        table.BEGIN,
        table.END,
        f"{table.END}{table.BEGIN}",
        f"{table.BEGIN}{table.END}{table.END}",
        f"{table.BEGIN}{table.BEGIN}{table.END}",
    ],
)
def test_a_page_without_one_pair_of_markers_is_refused(page: str) -> None:
    """Prose is not overwritten by guessing where the generated part ends."""
    with pytest.raises(ValueError, match="one pair of markers"):
        table.insert(page, "new\n")


@pytest.mark.parametrize(
    ("record", "keys", "words"),
    [
        (b'{"exit": 3}', ("exit",), "exit 3"),
        (b'{"exit": 0}\n{"exit": 3}\n', ("exit",), "exit 3"),
        (b'{\n "a": [{"code": 1}],\n "code": null\n}', ("code", "error"), "code null"),
        (b"", ("exit",), peers.NO_RECORD),
        (b"no JSON", ("exit",), peers.NO_RECORD),
    ],
)
def test_a_record_is_told_in_its_own_words(record: bytes, keys: tuple[str, ...], words: str) -> None:
    """The last document counts, the nearest key counts, and what is absent is not made up."""
    assert peers.outcome(record, keys) == words


def test_a_contract_holds_the_argv_as_it_is() -> None:
    """The peer that takes a file is given the same argv as the others."""
    assert json.loads(peers.spec(["sh", "-c", "exit 3"], 2))["argv"] == ["sh", "-c", "exit 3"]


def test_every_table_of_the_page_has_a_row_for_every_peer() -> None:
    """Nobody is left out of a probe, whatever came of it."""
    tables = _tables(table.generated_part(PAGE.read_text()))
    everybody = [peer.name for peer in peers.PEERS]
    *probes, starts, calls = [[row[0] for row in rows] for _, *rows in tables]
    assert probes == [everybody] * 5
    assert [*starts[2:], *calls] == everybody


def test_every_row_of_the_page_has_as_many_cells_as_its_table() -> None:
    """The tables are well-formed, and no cell is empty."""
    for header, *rows in _tables(table.generated_part(PAGE.read_text())):
        assert [len(row) for row in rows] == [len(header)] * len(rows)
        assert all(cell for row in rows for cell in row)


def test_the_page_names_no_path_and_no_address() -> None:
    """What was measured is published, where it was is not."""
    assert not re.search(r"https?:|/tmp/|/home/|/root/", PAGE.read_text())


def _tables(text: str) -> list[list[list[str]]]:
    """Return each table as its header and its rows, without the line between them."""
    blocks = [block for block in text.split("\n\n") if block.startswith("|")]
    return [
        [_cells(line) for number, line in enumerate(block.splitlines()) if number != 1] for block in blocks
    ]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
