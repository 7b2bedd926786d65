"""Misuse of the Python functions is a UsageError with a hint, before anything runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

import firsthand

if TYPE_CHECKING:
    from pathlib import Path

TRUE = ["true"]


@pytest.mark.parametrize(
    ("argv", "options"),
    [
        ("true", {}), (b"true", {}), ([], {}), (None, {}), ([1], {}), ({"true"}, {}), ({"true": 1}, {}),
        (["echo", "\ud800"], {}),
        (TRUE, {"timeout": -1}), (TRUE, {"timeout": float("nan")}), (TRUE, {"timeout": 10**400}),
        (TRUE, {"timeout": "soon"}), (TRUE, {"timeout": True}), (TRUE, {"timeout": 1e300}),
        (TRUE, {"env": {"A=B": "x"}}), (TRUE, {"env": {"A": 1}}), (TRUE, {"env": {"A": "\0"}}),
        (TRUE, {"env": "A=B"}),
        (TRUE, {"env": {"A": "\ud800"}}),
        (TRUE, {"expect": {}}), (TRUE, {"expect": 0}), (TRUE, {"note": 3}), (TRUE, {"session": 3}),
        (TRUE, {"parent": "x"}), (TRUE, {"parent": {}}), (TRUE, {"inputs": ["x"]}),
        (TRUE, {"inputs": ["01a22bc1-e22e-7376-a95e-c3955fbb5bd0"] * 21}),
        (TRUE, {"cwd": 3}), (TRUE, {"cwd": ""}), (TRUE, {"cwd": "a\0b"}),
        (TRUE, {"environment": "mine"}), (TRUE, {"strays": "love"}), (TRUE, {"contain": "jail"}),
        (TRUE, {"stdin": "/no/such/file"}), (TRUE, {"stdin": 0.5}),
    ],
)  # fmt: skip
def test_misuse_of_run(own_store: Path, argv: Any, options: dict[str, Any]) -> None:
    """Nothing is run and nothing is stored."""
    with pytest.raises(firsthand.UsageError) as caught:
        firsthand.run(argv, **options)
    assert caught.value.hint
    assert not own_store.exists()


@pytest.mark.parametrize("n", [0, -1, "x", True, 1.5])
def test_misuse_of_load(own_store: Path, n: Any) -> None:
    """A count is a whole number of at least 1."""
    del own_store
    with pytest.raises(firsthand.UsageError):
        firsthand.load(n)


def test_redact_text_takes_text() -> None:
    """Bytes are decoded by whoever knows their encoding."""
    with pytest.raises(firsthand.UsageError):
        firsthand.redact_text(b"x")  # type: ignore[arg-type]


def test_a_pipe_that_nobody_writes_to_is_at_its_end(own_store: Path, tmp_path: Path) -> None:
    """A named pipe as standard input cannot hang the start."""
    del own_store
    os.mkfifo(tmp_path / "pipe")
    assert firsthand.run(["cat"], stdin=tmp_path / "pipe", timeout=60).exit_code == 0


@pytest.mark.parametrize("seconds", [2_147_484, 999_999_999])
def test_a_limit_of_years_is_a_limit(own_store: Path, seconds: int) -> None:
    """Beyond what one poll of the kernel takes."""
    del own_store
    for contain in ("keeper", "group"):
        assert firsthand.run(["sleep", "0.1"], timeout=seconds, contain=contain).exit_code == 0
