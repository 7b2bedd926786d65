"""A fresh environment for each peer, as ``pip install NAME`` makes it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.installed import Installed
from benchmarks.peers.peers import OURS, Peer

REASON_CHARACTERS = 100
"""Of pip's message: enough to say what is wrong, short enough for a cell."""


class Environment(NamedTuple):
    """Where a peer is installed; ``problem`` says why it is not."""

    bin: Path
    version: str
    problem: str = ""


def make(peer: Peer, base: Path) -> Environment:
    """Install the newest version, unless ``base`` has it from an earlier run."""
    name = peer.package or "nothing"
    folder = base / ("ours" if name == OURS else name)
    try:
        if name == OURS:
            return _ours(folder)
        if not (folder / "ready").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            _install(folder, peer.package)
            (folder / "ready").touch()
        return Environment(folder / "bin", _version(folder / "bin", peer.package))
    except subprocess.CalledProcessError as problem:
        return Environment(folder, "?", f"not installed: {_reason(problem)}")


def _ours(folder: Path) -> Environment:
    """Build and install this working copy, once for both of its rows."""
    binaries = folder / "venv/bin"
    if not binaries.exists():
        folder.mkdir(parents=True)
        Installed(folder)
    return Environment(binaries, _version(binaries, OURS))


def _install(folder: Path, package: str | None) -> None:
    if package is not None:
        pip = [str(folder / "bin/python"), "-m", "pip", "install", "-q", package]
        variables = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        subprocess.run(pip, check=True, capture_output=True, text=True, env=variables)


def _version(binaries: Path, package: str | None) -> str:
    ask = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    if package is None:
        ask = "import platform; print('Python', platform.python_version())"
    argv = [str(binaries / "python"), "-c", ask, str(package)]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()


def _reason(problem: subprocess.CalledProcessError) -> str:
    """Return the first error that pip names, without addresses and paths."""
    lines = [line for line in (problem.stderr or "").splitlines() if line.startswith("ERROR")]
    words = re.sub(r"\S*/\S*", "...", lines[0] if lines else f"exit {problem.returncode}")
    return words.removeprefix("ERROR: ")[:REASON_CHARACTERS]
