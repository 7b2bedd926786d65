"""Read one configuration file; every key, its check and the setting that it changes stand here."""

from __future__ import annotations

from firsthand.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

RESERVED_TABLES = frozenset(("acceptance",))
"""Top-level tables of the project file that other parts read."""


def parse(path: str, data: bytes) -> dict[str, Any]:
    """Return what the configuration file at ``path`` sets, by the attribute of ``config.Config``.

    Raises:
        ConfigError: it is not TOML, has an unknown key or a bad value.
    """
    import tomllib

    try:
        tables = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{path} is not TOML: {problem}", "correct that line") from None
    found: dict[str, Any] = {}
    for name, table in tables.items():
        if name not in RESERVED_TABLES:
            found.update(_table(path, name, table))
    return found


def _table(path: str, name: str, table: Any) -> dict[str, Any]:
    if name == "timeouts":
        return {"timeouts": [_timeout_entry(path, entry) for entry in _a_list(path, name, table)]}
    known = SETTINGS.get(name)
    if known is None or not isinstance(table, dict):
        raise _unknown(path, name, [*SETTINGS, "timeouts"])
    found = {}
    for key, value in table.items():
        if key not in known:
            raise _unknown(path, f"{name}.{key}", [f"{name}.{each}" for each in known])
        attribute, check = known[key]
        try:
            found[attribute] = check(value)
        except ValueError as problem:
            raise ConfigError(
                f"{path}: {name}.{key} {problem}", "docs/configuration.md lists every key"
            ) from None
    return found


def _unknown(path: str, name: str, known: list[str]) -> ConfigError:
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
    return ConfigError(f"{path}: unknown key {name}", hint)


def _a_list(path: str, name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ConfigError(f"{path}: {name} is not a list of tables", f"write it as [[{name}]]")
    return value


def _timeout_entry(path: str, entry: Any) -> tuple[list[str], float | None]:
    form = '[[timeouts]] has command = ["pytest"] (how an argv begins) and seconds = 900 (0 for none)'
    if not isinstance(entry, dict) or set(entry) != {"command", "seconds"}:
        raise ConfigError(f"{path}: a [[timeouts]] table needs command and seconds, nothing else", form)
    try:
        return _words(entry["command"]), seconds(entry["seconds"])
    except ValueError as problem:
        raise ConfigError(f"{path}: a [[timeouts]] table: {problem}", form) from None


LONGEST_LIMIT = 1_000_000_000
"""Seconds, some 31 years: more is a mistake, and 0 means no limit."""


def seconds(value: Any) -> float | None:
    """Check a time limit: seconds, 0 for none (which is None here)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LONGEST_LIMIT:
        raise ValueError(f"is not a number of seconds from 0 to {LONGEST_LIMIT:,}")
    return float(value) or None


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError("is not a list of texts")
    return value


def _words(value: Any) -> list[str]:
    if not _texts(value):
        raise ValueError("is empty")
    return list(value)


def _count(least: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if type(value) is not int or value < least:
            raise ValueError(f"is not a whole number of at least {least}")
        return value

    return check


def _choice(*words: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in words:
            raise ValueError(f"is not one of {', '.join(words)}")
        return str(value)

    return check


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("is not true or false")  # noqa: TRY004  # a bad setting, not a bug
    return value


SETTINGS: dict[str, dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "run": {"timeout": ("timeout", seconds), "environment": ("environment", _choice("agent", "inherit"))},
    "strays": {"policy": ("strays", _choice("auto", "stop", "keep")), "keep": ("keep_strays", _texts)},
    "capture": {
        "head_lines": ("head_lines", _count(0)),
        "tail_lines": ("tail_lines", _count(1)),
        "line_characters": ("line_characters", _count(60)),
        "stream_bytes": ("stream_bytes", _count(256)),
    },
    "store": {"fsync": ("fsync", _flag)},
}
"""Every key of a configuration file, the attribute that it sets and the check of its value."""
