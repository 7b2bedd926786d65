"""The built wheel in a fresh environment, as a user has it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Installed:
    """A fresh virtual environment below ``base`` that holds nothing but firsthand."""

    def __init__(self, base: Path) -> None:
        self.base = base
        wheels = base / "wheels"
        _quiet(sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(wheels), str(ROOT))
        _quiet(sys.executable, "-m", "venv", str(base / "venv"))
        wheel = next(wheels.glob("*.whl"))
        _quiet(str(base / "venv/bin/python3"), "-m", "pip", "install", "--no-index", "--no-deps", str(wheel))
        self.python = str(base / "venv/bin/python3")
        self.firsthand = str(base / "venv/bin/firsthand")

    def folder(self, name: str) -> str:
        """Return a fresh working folder with a git top level, so that the store is inside it."""
        path = self.base / name
        (path / ".git").mkdir(parents=True)
        (path / ".git/HEAD").write_text("ref: refs/heads/main\n")
        return str(path)


def _quiet(*argv: str) -> None:
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
