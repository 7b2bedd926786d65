"""Find the file that an argv starts, and say in one sentence why one cannot be started."""

from __future__ import annotations

import os
import stat

DEFAULT_PATH = b"/bin:/usr/bin"
"""Where to look when PATH is unset: what execvp of the C library uses."""


class StartError(Exception):
    """The command was not started: a word for ``error`` and a sentence for ``error_detail``."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(detail)
        self.error = error
        self.detail = detail


def show(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def check_argv(argv: list[bytes]) -> None:
    """Refuse what no kernel can start."""
    if not argv[0]:
        raise StartError("bad_argv", "The program's name is empty: give a command after the options.")
    for position, argument in enumerate(argv):
        if b"\0" in argument:
            where = f"Argument {position}" if position else "The program's name"
            raise StartError("bad_argv", f"{where} holds a NUL byte, which no argument can: remove it.")


def check_folder(cwd: bytes) -> None:
    """Refuse a working folder that cannot be entered, by its own name and not the program's."""
    if b"\0" in cwd:
        raise StartError("bad_cwd", "The working folder's name holds a NUL byte: name an existing folder.")
    try:
        mode = os.stat(cwd).st_mode
    except OSError as problem:
        raise StartError(
            "bad_cwd",
            f"The working folder {show(cwd)} cannot be used ({problem.strerror}): create or name another.",
        ) from None
    if not stat.S_ISDIR(mode):
        raise StartError("bad_cwd", f"The working folder {show(cwd)} is not a folder: name one with --cwd.")
    if not os.access(cwd, os.X_OK):
        raise StartError(
            "bad_cwd", f"The working folder {show(cwd)} may not be entered: check its permissions."
        )


def find(name: bytes, cwd: bytes, path: bytes | None) -> bytes:
    """Return the absolute path that ``name`` starts in ``cwd``, by the rules of execvp.

    Raises:
        StartError: ``not_found`` or ``permission``.
    """
    if b"/" in name:
        return os.path.join(cwd, name)
    folders = (DEFAULT_PATH if path is None else path).split(b":")
    candidates = [os.path.join(cwd, folder, name) for folder in folders]
    for candidate in candidates:  # no exception for each folder that has it not
        if os.access(candidate, os.X_OK) and _is_file(candidate):
            return candidate
    refused = next(filter(_is_file, candidates), None)
    if refused:
        raise StartError(
            "permission", f"{show(refused)} is not executable: chmod +x it, or name its interpreter."
        )
    raise StartError("not_found", f"No program {show(name)} on PATH: install it, or give its path.")


def _is_file(path: bytes) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False
