"""What ``import firsthand`` gives, and what it costs."""

from __future__ import annotations

import subprocess
import sys

import firsthand


def test_all_names_exist_sorted_and_documented() -> None:
    """``__all__`` is sorted, every name is there, every function and class says what it is for."""
    assert sorted(firsthand.__all__) == firsthand.__all__
    for name in firsthand.__all__:
        value = getattr(firsthand, name)
        assert isinstance(value, str) or value.__doc__, name
    assert firsthand.__all__ == dir(firsthand)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """Lazy names must not hide a misspelling."""
    assert not hasattr(firsthand, "rum")


def test_importing_costs_nothing() -> None:
    """No submodule and no heavy standard module is imported before it is needed."""
    code = (
        "import sys; before = set(sys.modules); import firsthand; print(*sorted(set(sys.modules) - before))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "firsthand\n"
