"""Predictions: their form, and when they count as met."""

from __future__ import annotations

from typing import Any

import pytest

from firsthand.errors import UsageError
from firsthand.expectation import met, normal


@pytest.mark.parametrize(
    ("expect", "shown", "code", "text", "cut", "answer"),
    [
        ({"contains": "12 passed"}, None, 1, "12 passed", False, True),
        ({"contains": "12 passed"}, None, 0, "11 passed", False, False),
        ({"contains": "12 passed"}, None, 0, "11 passed", True, None),
        ({"exit_code": [0, 1]}, None, 1, "", False, True),
        ({"exit_code": [0]}, None, None, "", False, False),
        ({"exit_code": [0], "contains": "a"}, None, 1, "a", True, False),
        ({"contains": "truncated 5"}, None, 0, "a\n...truncated 5 lines...\nb", True, None),
        ({"contains": "REDACTED"}, None, 0, "x=[REDACTED:password#1]", False, False),
        (
            {"contains": "p=s"},
            {"contains": "p=[REDACTED:password#1]"},
            0,
            "p=[REDACTED:password#1]",
            False,
            True,
        ),
        ({"contains": "p=s"}, {"contains": "p=[REDACTED:password#1]"}, 0, "nothing", False, None),
    ],
)
def test_met(
    expect: dict[str, Any],
    shown: dict[str, Any] | None,
    code: int | None,
    text: str,
    cut: bool,
    answer: bool | None,
) -> None:
    """True, false, or null where nobody can tell; our own markers fulfil nothing."""
    assert met(expect, shown or expect, code, (text,), cut) is answer


@pytest.mark.parametrize(
    "expect", [{}, {"stdout": "x"}, {"contains": ""}, {"exit_code": []}, {"exit_code": [True]}, ""]
)
def test_a_prediction_of_nothing_is_refused(expect: Any) -> None:
    """With the form that it should have."""
    with pytest.raises(UsageError) as caught:
        normal(expect)
    assert "12 passed" in caught.value.hint


def test_codes_are_sorted_and_single_ones_are_lists() -> None:
    """As the record holds them."""
    assert normal({"exit_code": [1, 0, 1]}) == {"exit_code": [0, 1]}
    assert normal({"exit_code": 3}) == {"exit_code": [3]}
