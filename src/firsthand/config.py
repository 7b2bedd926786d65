"""Settings: defaults < the user's file < the project's file < arguments; see ``docs/configuration.md``."""

from __future__ import annotations

import os

from firsthand.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

PROJECT_FILE = "firsthand.toml"

LARGEST_FILE = 1 << 20
"""Bytes of a configuration file; a larger one is a mistake."""


class Config:
    """The settings in force; each attribute is one row of the table in ``docs/configuration.md``."""

    def __init__(self) -> None:
        self.timeout: float | None = 300.0
        """Seconds a command may run, None for no limit."""
        self.environment = "agent"
        self.timeouts: list[tuple[list[str], float | None]] = []
        """Limits of their own for commands that begin so; the longest beginning wins."""
        self.strays = "auto"
        self.keep_strays: list[str] = []
        self.head_lines = 10
        self.tail_lines = 50
        self.line_characters = 1000
        self.stream_bytes = 16 * 1024
        self.fsync = False

    def change(self, found: dict[str, Any]) -> None:
        """Take over what a file sets; of its ``timeouts`` the later file's come first."""
        found["timeouts"] = found.get("timeouts", []) + self.timeouts
        self.__dict__.update(found)

    def timeout_of(self, argv: list[str]) -> float | None:
        """Return the time limit of one command in seconds, None for none."""
        fitting = [entry for entry in self.timeouts if argv[: len(entry[0])] == entry[0]]
        return max(fitting, key=lambda entry: len(entry[0]))[1] if fitting else self.timeout


def user_file(environ: Mapping[str, str]) -> str:
    base = environ.get("XDG_CONFIG_HOME") or os.path.join(home(environ), ".config")
    return os.path.join(base, "firsthand", "config.toml")


def home(environ: Mapping[str, str]) -> str:
    """Return the home folder, from the password database where HOME is unset."""
    if environ.get("HOME"):
        return environ["HOME"]
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/"


def load(root: str, environ: Mapping[str, str]) -> Config:
    """Return the settings for a project root.

    Raises:
        ConfigError: a file is not TOML, has an unknown key or a bad value, or belongs to somebody else.
    """
    config = Config()
    for path, owned_like in ((user_file(environ), None), (os.path.join(root, PROJECT_FILE), root)):
        data = _read(path, owned_like)
        if data is not None:
            from firsthand import settings

            config.change(settings.parse(path, data))
    return config


def _owners(owned_like: str | None) -> set[int]:
    ours = {os.getuid(), 0}
    try:
        return ours | {os.stat(owned_like).st_uid} if owned_like else ours
    except OSError:
        return ours


def _read(path: str, owned_like: str | None) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        if not os.path.lexists(path):  # its folder may not be entered; the run will say so itself
            return None
        raise ConfigError(f"{path} cannot be read ({problem.strerror})", "check its permissions") from None
    try:
        if os.fstat(fd).st_uid not in _owners(owned_like):
            raise ConfigError(f"{path} belongs to another user", "take it over with chown, or remove it")
        data = os.read(fd, LARGEST_FILE + 1)
    except OSError as problem:
        raise ConfigError(f"{path} cannot be read ({problem.strerror})", "check that it is a file") from None
    finally:
        os.close(fd)
    if len(data) > LARGEST_FILE:
        raise ConfigError(f"{path} is larger than 1 MiB", "is it a configuration at all?")
    return data
