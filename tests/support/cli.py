"""The command line of firsthand as a test starts it: in fresh folders, with a small environment."""

from __future__ import annotations

import functools
import importlib.util
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.launch import WITHIN, Launch, Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.support.alive import Process


def command() -> list[str]:
    """Return what starts the command line: this interpreter, or what FIRSTHAND_TEST_COMMAND names."""
    return shlex.split(os.environ.get("FIRSTHAND_TEST_COMMAND", "")) or [sys.executable, "-m", "firsthand"]


@functools.cache
def _python_path() -> dict[str, str]:
    """Return PYTHONPATH where the package is not installed for this interpreter, else nothing."""
    spec = importlib.util.find_spec("firsthand")
    assert spec, "firsthand is neither installed nor on PYTHONPATH"
    assert spec.origin
    find = "import importlib.util as u; print(getattr(u.find_spec('firsthand'), 'origin', ''))"
    found = subprocess.run([sys.executable, "-I", "-c", find], capture_output=True, text=True, check=True)
    if os.path.realpath(found.stdout.strip()) == os.path.realpath(spec.origin):
        return {}
    return {"PYTHONPATH": str(Path(spec.origin).parent.parent)}


def small_environment(home: Path, store: Path, programs: Path) -> dict[str, str]:
    """Return what every run starts from; in the folder ``programs``, ``python3`` is a plain interpreter."""
    programs.mkdir(parents=True, exist_ok=True)
    python = programs / "python3"
    if not python.is_symlink():
        python.symlink_to(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    return {
        "PATH": f"{programs}:{os.environ.get('PATH', os.defpath)}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "FIRSTHAND_DIR": str(store),
    }


def library_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return ``env`` with what this interpreter needs to import the package."""
    return {**env, **_python_path()}


class CommandLine:
    """``cli("run", "--json", "--", "true")`` in folders that no other test has.

    ``tmp`` is where it runs, ``home`` is HOME, ``store`` is FIRSTHAND_DIR, which does not exist yet.
    ``env`` may be changed before a call. After the test all that was started must be gone, see :meth:`close`.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self.tmp, self.home, self.store = base / "tmp", base / "home", base / "store"
        self.tmp.mkdir()
        self.home.mkdir()
        self.env = small_environment(self.home, self.store, base / "bin")
        self._launched: list[Launch] = []

    def __call__(
        self,
        *args: str,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str | None] | None = None,
        stdin: bytes = b"",
        stdin_open: bool = True,
        terminal: bool | str = False,
        limits: Mapping[str, int] | None = None,
        within: float = WITHIN,
    ) -> Result:
        """Run it to its end; ``env`` is added (None takes a variable away), the rest as in :class:`Launch`.

        ``within`` is the hang guard in seconds, before the slack. ``stdin`` is a pipe that holds this and
        stays open, as under a server over stdio; with ``stdin_open=False`` it ends there.
        """
        launch = self.start(
            *args, cwd=cwd, env=env, stdin=stdin, stdin_open=stdin_open, terminal=terminal, limits=limits
        )
        result = launch.wait(within)
        self.let_go(launch)
        return result

    def start(
        self,
        *args: str,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str | None] | None = None,
        stdin: bytes = b"",
        stdin_open: bool = True,
        terminal: bool | str = False,
        limits: Mapping[str, int] | None = None,
    ) -> Launch:
        """Start it and return at once, to signal it or look at it while it runs."""
        prefix = {} if os.environ.get("FIRSTHAND_TEST_COMMAND") else _python_path()
        launch = Launch(
            [*command(), *args],
            env=_changed({**self.env, **prefix}, env or {}),
            cwd=cwd or self.tmp,
            stdin=stdin,
            stdin_open=stdin_open,
            terminal=terminal,
            limits=limits,
        )
        self._launched.append(launch)
        return launch

    def program(
        self, *argv: str, cwd: str | os.PathLike[str] | None = None, terminal: bool | str = False
    ) -> Launch:
        """Start another program that imports the package, as a host of the library."""
        env = library_environment(self.env)
        launch = Launch(argv, env=env, cwd=cwd or self.tmp, terminal=terminal)
        self._launched.append(launch)
        return launch

    def let_go(self, launch: Launch) -> None:
        """Forget a launch that left nothing; one that did is looked at again in :meth:`close`."""
        if not launch.left(0):
            launch.close()
            self._launched.remove(launch)

    def close(self) -> list[Process]:
        """End all that was started and return what was still alive of it, 0.5 s times the slack later."""
        left: list[Process] = []
        for launch in self._launched:
            launch.end_stdin()  # a host of the library ends with its stdin
            left += launch.left(0.5)
            launch.close()
        self._launched.clear()
        return left


def _changed(env: dict[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    kept = {name: value for name, value in env.items() if name not in changes}
    return kept | {name: value for name, value in changes.items() if value is not None}
