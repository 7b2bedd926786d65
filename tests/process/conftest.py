"""The command line as an ordinary user: for tests that root starts, and whose point is not to be root."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import CommandLine
from tests.support.cli import command

import firsthand

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65534
"""The user and group that own nothing on a usual system."""

_BECOME = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
_IS_PYTHON = "import sys; sys.exit(sys.version_info < (3, 11))"


@pytest.fixture
def user_cli(monkeypatch: pytest.MonkeyPatch) -> Iterator[CommandLine]:
    """The command line run by an ordinary user, in folders of that user; skips where we are not root.

    pytest's own folders let nobody else in, so these are made beside them and removed at the end.
    """
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can become an ordinary user, with setpriv")
    with tempfile.TemporaryDirectory(prefix="firsthand-user-") as folder:
        command_line = CommandLine(Path(folder))
        _settle(command_line, _interpreter(), monkeypatch)
        yield command_line
        left = command_line.close()
    assert not left, f"left alive by this test: {left}"


@pytest.fixture(params=["self", "user"])
def any_cli(request: pytest.FixtureRequest) -> CommandLine:
    """The command line twice: as who runs the tests, and as an ordinary user."""
    found = request.getfixturevalue("cli" if request.param == "self" else "user_cli")
    assert isinstance(found, CommandLine)
    return found


def _interpreter() -> str:
    """Return a Python that an ordinary user may start; the one of the tests may lie in root's home folder."""
    for python in (sys.executable, shutil.which("python3", path=os.defpath)):
        if python and subprocess.run([*_BECOME, python, "-I", "-c", _IS_PYTHON], check=False).returncode == 0:
            return python
    pytest.skip("no Python 3.11 that an ordinary user may start")


def _settle(cli: CommandLine, python: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all that is in the folder to the user, with a copy of the package, and start it as that user."""
    ours = command()
    if ours[0] == sys.executable:
        ours[0] = python
        assert firsthand.__file__
        package = Path(firsthand.__file__).parent
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(package, cli.base / "packages" / package.name, ignore=ignored)
        cli.env["PYTHONPATH"] = str(cli.base / "packages")
    elif subprocess.run([*_BECOME, *ours, "--help"], check=False, capture_output=True).returncode:
        pytest.skip("an ordinary user may not start what FIRSTHAND_TEST_COMMAND names")
    monkeypatch.setenv("FIRSTHAND_TEST_COMMAND", shlex.join([*_BECOME, *ours]))
    (cli.base / "bin" / "python3").unlink()
    (cli.base / "bin" / "python3").symlink_to(python)
    for path in (cli.base, *cli.base.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
