"""What ``firsthand doctor`` looks at beside the store: Python, the kernel, configuration, git, extras."""

from __future__ import annotations

import os
import sys

from firsthand import config
from firsthand.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from firsthand.store.place import Place

OK, WARNING, BROKEN = "ok", "warning", "broken"

OLDEST_PYTHON = (3, 11)
"""As ``requires-python`` says; an interpreter may have been changed under an installation."""

EXTRAS = {
    "shell": ("tree_sitter_bash", "reads shell lines, to see which exit codes they hide"),
    "mcp": ("mcp", "serves agents over the Model Context Protocol"),
    "tui": ("textual", "watches and reports in the terminal"),
}
"""Optional parts: the module that shows that one is there, and what it is for."""


class Finding:
    """The answer of one check: its state, what was found, and the next action where it is not well."""

    __slots__ = ("check", "hint", "message", "state")

    def __init__(self, check: str, state: str, message: str, hint: str = "") -> None:
        self.check = check
        self.state = state
        self.message = message
        self.hint = hint


def of_system() -> Iterator[Finding]:
    """Look at the interpreter and the kernel."""
    yield _python()
    yield _subreaper()
    yield _pidfd()
    yield _children()


def of_surroundings(where: Place) -> Iterator[Finding]:
    """Look at configuration files, git and optional parts."""
    yield _configuration(where.root)
    yield _git()
    yield from map(_extra, EXTRAS)


def _python() -> Finding:
    from firsthand._version import __version__

    found = f"firsthand {__version__}, Python {sys.version.split()[0]} ({sys.executable})"
    if sys.version_info[:2] < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        return Finding("python", BROKEN, found, f"install firsthand with Python {oldest} or newer")
    return Finding("python", OK, found)


def _subreaper() -> Finding:
    from firsthand.process import kernel

    if kernel.become_subreaper():
        return Finding("containment", OK, "this system has child subreapers: no descendant escapes")
    missing = "no child subreaper (prctl): descendants that detach themselves escape"
    return Finding("containment", BROKEN, missing, "run on Linux, with ctypes in Python and prctl allowed")


def _pidfd() -> Finding:
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError) as problem:
        missing = f"pidfd_open does not work ({problem}): waits are slower, strays --stop stops nothing"
        return Finding("pidfd", BROKEN, missing, "use Linux 5.3 or newer, and a sandbox that allows it")
    return Finding("pidfd", OK, "pidfd_open works")


def _children() -> Finding:
    from firsthand import survey

    if survey.has_children_files():
        return Finding("children", OK, "the kernel lists the children of a process")
    missing = "no /proc/PID/task/TID/children: strays are looked for by scanning every process"
    return Finding("children", WARNING, missing, "use a kernel with CONFIG_PROC_CHILDREN, and mount /proc")


def _configuration(root: str) -> Finding:
    try:
        config.load(root, os.environ)
    except ConfigError as problem:
        return Finding("configuration", BROKEN, problem.message, problem.hint)
    paths = (config.user_file(os.environ), os.path.join(root, config.PROJECT_FILE))
    found = [path for path in paths if os.path.isfile(path)]
    return Finding("configuration", OK, " and ".join(found) or "no file, so the defaults")


def _git() -> Finding:
    import shutil

    path = shutil.which("git")
    if path:
        return Finding("git", OK, path)
    return Finding(
        "git", WARNING, "no git on PATH: files of a work tree cannot be listed by it", "install git"
    )


def _extra(name: str) -> Finding:
    from importlib.util import find_spec

    module, purpose = EXTRAS[name]
    there = "installed" if find_spec(module) else "not installed"
    return Finding(f"extra {name}", OK, f"{there} ({purpose})")
