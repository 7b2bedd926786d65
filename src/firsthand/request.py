"""What a caller asks for: one command with its folder, environment, limits and prediction, checked."""

from __future__ import annotations

import os

from firsthand import caps, environment, record
from firsthand.capture import Limits
from firsthand.errors import UsageError
from firsthand.redact import display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from firsthand.config import Config
    from firsthand.process.strays import Policy

ID_LENGTH = 36
"""Characters of a ``command_id``."""

STRAY_POLICIES = ("auto", "stop", "keep")


class Request:
    """Plain values only, so that it travels to a keeper in another process as ``vars(request)``."""

    command_id: str
    argv: list[bytes]
    cwd: bytes
    env: dict[bytes, bytes]
    environment: str
    timeout: float | None
    strays: str
    keep_strays: list[str]
    note: str
    expect: dict[str, Any] | None
    parent: str | None
    inputs: list[str]
    session: str | None
    via: str
    has_stdin: bool
    trapped: bool
    kept: tuple[int, int, int, int]
    fsync: bool
    root: str
    folders: dict[str, str]

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def limits(self) -> Limits:
        head, tail, characters, size = self.kept
        return Limits(head, tail, characters, size)

    def policy(self) -> Policy:
        """Return what becomes of strays; built only when there is one."""
        from firsthand.process.strays import SERVERS, Policy

        listed = [(pattern, "listed under [strays] keep") for pattern in self.keep_strays]
        return Policy(self.strays, [*listed, *SERVERS])


PLACE_VARIABLES = ("FIRSTHAND_DIR", "HOME", "XDG_STATE_HOME")
"""What decides where the store is; taken from the caller, never from the command's own environment."""


def build(
    argv: Sequence[str | bytes | os.PathLike[str]],
    settings: Config,
    *,
    via: str,
    cwd: str,
    root: str,
    note: str = "",
    expect: Mapping[str, Any] | str | None = None,
    timeout: float | str | None = "default",
    parent: str | None = None,
    inputs: Sequence[str] = (),
    session: str | None = None,
    env: Mapping[str, str] | None = None,
    kind: str | None = None,
    strays: str | None = None,
    has_stdin: bool = False,
    trapped: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> Request:
    """Check what a caller asks for and return it with every default filled in.

    ``root`` is the real path of the project that it belongs to; ``timeout`` is in seconds, 0 or None for
    none, ``"default"`` for what the configuration says. ``trapped``: the last word is a line of simple
    commands for bash, which is to say how its last pipeline ended.

    Raises:
        UsageError: naming the argument that makes no sense.
    """
    words = [os.fsencode(argument) for argument in _checked_argv(argv)]
    return Request(
        command_id=record.new_id(),
        argv=words,
        cwd=os.fsencode(cwd),
        env=environment.build(
            _choice("environment", kind or settings.environment, ("agent", "inherit")), _pairs(env)
        ),
        environment=kind or settings.environment,
        timeout=_limit(timeout, settings, words),
        strays=_choice("strays", strays or settings.strays, STRAY_POLICIES),
        keep_strays=settings.keep_strays,
        note=_text("note", note),
        expect=None if expect is None else _expectation(expect),
        parent=parent,
        inputs=_ids(inputs),
        session=_text("session", session or "") or environ.get("FIRSTHAND_SESSION") or None,
        via=via,
        has_stdin=has_stdin,
        trapped=trapped,
        kept=(settings.head_lines, settings.tail_lines, settings.line_characters, settings.stream_bytes),
        fsync=settings.fsync,
        root=root,
        folders={name: _absolute(name, environ[name]) for name in PLACE_VARIABLES if environ.get(name)},
    )


def from_here(path: str | bytes | os.PathLike[str] | None) -> str:
    """Return an absolute path; that of a deleted current folder is its last known name.

    Raises:
        UsageError: an empty path, or one with a NUL byte.
    """
    try:
        here = os.getcwd()
    except FileNotFoundError:
        here = os.readlink("/proc/self/cwd").removesuffix(" (deleted)")
    if path is None:
        return here
    text = os.fsdecode(path)
    if not text or "\0" in text:
        raise UsageError(f"{text!r} is no path", "name a folder")
    return os.path.normpath(os.path.join(here, text)) if text.startswith("..") else os.path.join(here, text)


def base_of(cwd: str) -> str:
    """Return the folder whose project a command belongs to: its own, or ours where that does not exist."""
    return cwd if os.path.isdir(cwd) else from_here(None)


def _absolute(name: str, value: str) -> str:
    """A relative store folder starts where the caller stands, not where the command runs."""
    return from_here(value) if name == "FIRSTHAND_DIR" else value


def _checked_argv(argv: Any) -> Any:
    if isinstance(argv, (str, bytes)):
        raise UsageError(
            "the command is one text, not a list",
            'split it: ["pytest", "-x"], or name the shell: ["bash", "-c", TEXT]',
        )
    if isinstance(argv, (set, frozenset, dict)):
        raise UsageError(
            f"the command is a {type(argv).__name__}, which has no order", 'give a list: ["pytest", "-x"]'
        )
    words = list(argv)
    if not words:
        raise UsageError("no command given", 'name one: ["pytest", "-x"]')
    for word in words:
        if not isinstance(word, (str, bytes, os.PathLike)):
            raise UsageError(f"an argument is {type(word).__name__}, not text", "convert it with str() first")
    return words


def _pairs(env: Mapping[str, str] | None) -> Mapping[str, str]:
    for name, value in dict(env or {}).items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise UsageError(
                f"env: {name!r} and its value are not both texts", "convert them with str() first"
            )
        if not name or "=" in name or "\0" in name + value:
            raise UsageError(f"env: {name!r} is no variable", "names hold no '=', neither part a NUL")
    return env or {}


def _limit(timeout: Any, settings: Config, argv: list[bytes]) -> float | None:
    if timeout == "default":
        return settings.timeout_of([display(word) for word in argv])
    from firsthand.settings import seconds

    try:
        return None if timeout is None else seconds(timeout)
    except ValueError:
        raise UsageError(
            f"timeout {timeout!r} is not a number of seconds", "give 30, 0.5, or 0 for none"
        ) from None


def _expectation(expect: Mapping[str, Any] | str) -> dict[str, Any] | None:
    from firsthand import expectation

    return expectation.normal(expect)


def _choice(name: str, value: str, words: tuple[str, ...]) -> str:
    if value not in words:
        raise UsageError(f"{name} cannot be {value!r}", f"give one of {', '.join(words)}")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{name} is {type(value).__name__}, not a text", "give one line of text")
    return value


def _ids(inputs: Sequence[str]) -> list[str]:
    if len(inputs) > caps.INPUTS_SHOWN:
        raise UsageError(f"{len(inputs)} input records", f"{caps.INPUTS_SHOWN} at most")
    return [is_id("input", each) for each in inputs]


def is_id(name: str, value: str) -> str:
    """Return a whole ``command_id`` in lower case.

    Raises:
        UsageError: not 36 characters of hexadecimal digits and dashes.
    """
    text = value.lower()
    groups = [len(part) for part in text.split("-")]
    if groups != [8, 4, 4, 4, 12] or set(text) - set("0123456789abcdef-"):
        raise UsageError(f"{name} {value!r} is no command_id", "firsthand last shows them")
    return text
