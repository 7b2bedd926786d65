"""Retry chains: nobody is lost, nothing loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.programs.store_sample import sample

from firsthand.attempts import Chains

if TYPE_CHECKING:
    from firsthand.record import Record


def attempt(name: str, parent: str | None = None, exit_code: int | None = 1) -> Record:
    return sample(command_id=name, parent_command_id=parent, exit_code=exit_code)


def ids(chains: Chains, name: str) -> list[str]:
    return [record["command_id"] for record in chains.of(name).attempts]


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([("a", None)], ["a"]),
        ([("a", None), ("b", "a"), ("c", "b")], ["a", "b", "c"]),
        ([("a", None), ("b", "a"), ("c", "a"), ("d", "b")], ["a", "b", "c", "d"]),
        ([("a", "a")], ["a"]),
        ([("a", "b"), ("b", "a"), ("c", "a")], ["a", "b", "c"]),
        ([("a", "c"), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "d")], ["a", "b", "c", "d", "e"]),
        ([("a", "gone"), ("b", "gone"), ("c", "b")], ["a", "b", "c"]),
    ],
    ids=["alone", "line", "fork", "itself", "cycle", "cycle with a tail", "one missing parent"],
)
def test_every_member_gives_the_whole_chain(links: list[tuple[str, str | None]], expected: list[str]) -> None:
    """Whichever attempt one asks for, and beside another chain."""
    chains = Chains([attempt("x"), *(attempt(*link) for link in links), attempt("y", "x")])
    for name, _ in links:
        assert ids(chains, name) == expected
    assert ids(chains, "y") == ["x", "y"]


def test_numbers_and_what_is_missing() -> None:
    """Numbers go by the order of the store; a missing parent is named once."""
    chain = Chains([attempt("b", "gone"), attempt("a", "b"), attempt("c", "gone")]).of("a")
    assert chain.numbers == {"b": 1, "a": 2, "c": 3}
    assert chain.missing() == ["gone"]


def test_only_exit_code_0_is_a_success() -> None:
    """Not null, and not an earlier attempt."""
    records = [attempt("a", None, 0), attempt("b", "a"), attempt("c", "b", None), attempt("d", "c", 0)]
    chain = Chains(records).of("a")
    assert chain.success_after(1) == chain.success_after(3) == records[3]
    assert chain.success_after(4) is None


def test_a_long_chain_is_no_problem() -> None:
    """As a loop leaves it: neither recursion nor a walk for each attempt."""
    records = [attempt("0"), *(attempt(str(number), str(number - 1)) for number in range(1, 5000))]
    chains = Chains(records)
    assert all(chains.of(record["command_id"]) is chains.of("0") for record in records)
    assert chains.of("4999").numbers["4999"] == 5000
