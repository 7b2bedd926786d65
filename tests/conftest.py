"""What every test gets: a clean environment, fresh folders, and a look for whatever was left alive."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

sys.path.insert(0, str(Path(__file__).parent.parent))  # the shared test code is imported as tests.support
pytest.register_assert_rewrite("tests.support", "tests.cases.expectations", "tests.cases.store_cases")

from tests.support import CommandLine  # noqa: E402
from tests.support.leaks import kill, leaks  # noqa: E402

_OUTSIDE = ("FIRSTHAND_", "XDG_", "GIT_")
"""Variables of the person who runs the tests that must not reach them."""


def pytest_configure() -> None:
    """Start from the same place, whoever starts the tests; properties depend on no machine's speed."""
    settings.register_profile("any speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any speed")
    for name in list(os.environ):
        if name.startswith(_OUTSIDE) and not name.startswith("FIRSTHAND_TEST_"):
            del os.environ[name]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background job; children would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[CommandLine]:
    """The command line in fresh folders; what a test leaves alive fails it, and is killed."""
    command_line = CommandLine(tmp_path)
    yield command_line
    left = command_line.close()
    assert not left, f"left alive by this test: {left}"


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh HOME and FIRSTHAND_DIR for the test process itself; returns the store, not yet made."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("FIRSTHAND_DIR", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture(scope="session", autouse=True)
def _nobody_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """After the last test nothing that the tests started is alive, and this process has no child."""
    base = tmp_path_factory.getbasetemp()
    yield
    left = leaks(base)
    kill(left, base)
    assert not left, f"left alive by the tests: {left}"
