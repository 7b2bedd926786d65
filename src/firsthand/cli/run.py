"""``firsthand run``: parsed by hand, because an argument parser costs more than the rest of a start."""

from __future__ import annotations

import os

from firsthand import config, request, runner
from firsthand.cli import say
from firsthand.errors import ConfigError, FirsthandError, UsageError
from firsthand.process import front
from firsthand.store import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.cli.screen import Screen
    from firsthand.record import Record

USAGE = """\
usage: firsthand run [OPTIONS] [--] COMMAND [ARG ...]
       firsthand run [OPTIONS] --shell LINE

Run a command and leave one record of what really happened.
Options come before the command; from the first other word on, everything is the command's.

  --note TEXT           what you expect, in one line, written down before the run
  --expect TEXT         the output must contain this text
  --expect-exit N[,N]   the exit code must be one of these
  --timeout SECONDS     stop it after so long (default 300; 0: no limit)
  --parent ID           the record of the attempt that this one retries
  --retry               the same for the newest failed attempt of this command, folder and session
  --from ID             a record whose output this command uses (again for more)
  --cwd DIR             run it there
  --session ID          group records (default: $FIRSTHAND_SESSION)
  --env agent|inherit   no colours, pagers, editors, prompts (default); or the environment as it is
  --strays auto|stop|keep
                        what becomes of processes that outlive the command
  --stdin               hand our standard input (a pipe or a file) to the command; else it has none
  --shell LINE          run a line of bash with pipefail; the record says how each member of its last
                        pipeline ended, where that can be known
  --project DIR         whose store to write to (default: the project around the working folder)
  --json                print the record as one JSON object
  --stream              show the output while it is printed, then one line about the record; the default
                        where standard output is a terminal; with --json it goes to standard error
  --no-stream           only the view of the record, as for a pipe

Exit status: the command's own. Without one: 124 time-out, 127 not found, 126 not executable,
128+n ended by signal n, 125 anything else; the record says which.

Examples:
  firsthand run --note "expect 12 passed" --expect "12 passed" -- pytest -q
  firsthand run --retry --timeout 900 -- make check
  firsthand run --shell 'make 2>&1 | tee build.log'
"""

VALUES = frozenset((
    "--note", "--expect", "--expect-exit", "--timeout", "--parent", "--from", "--cwd", "--session", "--env",
    "--strays", "--project", "--shell",
))  # fmt: skip
FLAGS = frozenset(("--json", "--retry", "--stdin", "--stream", "--no-stream"))

MORE = frozenset(("--expect", "--expect-exit", "--timeout", "--parent", "--from", "--shell", "--stdin"))
"""Options that ``options.values`` reads."""

OWN_FAILURE = 125
STATUSES = {"timeout": 124, "not_found": 127, "permission": 126, "exec_format": 126}
"""Exit status of ``run`` for a null record; the record itself never holds these numbers."""


def main(arguments: list[str]) -> int:
    """Run one command; return the exit status that stands for its record."""
    if arguments[:1] in (["--help"], ["-h"]):
        say.out(USAGE)
        return 0
    as_json = "--json" in _own(arguments)
    try:
        options, argv = split(arguments)
        wanted = _request(options, argv)
        screen = _screen(options)
        record, signal, notice = runner.run_command_line(wanted, _stdin(options), screen)
    except FirsthandError as problem:
        say.error(problem, as_json)
        return OWN_FAILURE
    if screen is not None:
        screen.end(record)
    if notice:
        say.note(notice)
    if screen is None or as_json:
        _print(record, as_json)
    return status(record, signal)


def _own(arguments: list[str]) -> list[str]:
    """Return the words that can be ours even where the line cannot be parsed."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def split(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return our options and the command's argv.

    Raises:
        UsageError: an unknown option, one without its value, or no command.
    """
    options: dict[str, str] = {}
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        word = arguments[position]
        position += 1
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name in FLAGS and not equals:
            options[name] = ""
        elif name in VALUES:
            if not equals and position == len(arguments):
                raise UsageError(f"{name} needs a value", f"firsthand run {name} VALUE -- COMMAND")
            value = value if equals else arguments[position]
            position += not equals
            options[name] = f"{options[name]},{value}" if name == "--from" and name in options else value
        else:
            raise _unknown(word)
    return options, _command(options, arguments[position:])


def _command(options: dict[str, str], words: list[str]) -> list[str]:
    if "--shell" in options:
        if words:
            raise UsageError("both --shell and a command", f"leave out {words[0]!r}, or put it into the line")
        from firsthand.cli import options as more

        return [*more.SHELL, options["--shell"]]
    if not words:
        raise UsageError("no command to run", "firsthand run -- COMMAND [ARG ...]")
    return words


def _unknown(word: str) -> UsageError:
    import difflib

    near = difflib.get_close_matches(word.partition("=")[0], sorted(VALUES | FLAGS), 1)
    hint = f"did you mean {near[0]}? " if near else ""
    return UsageError(
        f"run has no option {word}", f"{hint}options come before the command: firsthand run --help"
    )


def _request(options: dict[str, str], argv: list[str]) -> Any:
    folder = request.from_here(options.get("--cwd"))
    project = request.from_here(options["--project"]) if "--project" in options else None
    root = place.project_root(request.base_of(folder), project)
    settings = config.load(root, os.environ)
    wanted = request.build(
        argv,
        settings,
        via="cli",
        cwd=folder,
        root=root,
        note=options.get("--note", ""),
        session=options.get("--session"),
        kind=options.get("--env"),
        strays=options.get("--strays"),
        **_more(options, root),
    )
    if "--retry" in options:
        wanted.parent = _retried(options, wanted)
    return wanted


def _more(options: dict[str, str], root: str) -> dict[str, Any]:
    if MORE.isdisjoint(options):
        return {}
    from firsthand.cli import options as more

    return more.values(options, root)


def _screen(options: dict[str, str]) -> Screen | None:
    """Return what shows the run to a person, or None where only its record is wanted."""
    if "--stream" in options and "--no-stream" in options:
        raise UsageError("--stream and --no-stream exclude each other", "leave one of them out")
    if "--stream" not in options and ("--no-stream" in options or "--json" in options or not os.isatty(1)):
        return None
    from firsthand.cli import screen

    return screen.Screen(apart="--json" not in options)


def _retried(options: dict[str, str], wanted: Any) -> str:
    from firsthand.cli import options as more

    if "--parent" in options:
        raise UsageError("both --retry and --parent", "give one of them")
    return more.retried(wanted)


def _stdin(options: dict[str, str]) -> int | None:
    if "--stdin" not in options:
        return None
    from firsthand.cli import options as more

    return more.stdin()


def _print(record: Record, as_json: bool) -> None:
    if as_json:
        say.obj(record)
        return
    from firsthand.cli import view

    say.write(1, view.full(record))


def status(record: Record, signal: int | None) -> int:
    """Return the exit status that stands for a record."""
    if record["exit_code"] is not None:
        return int(record["exit_code"])
    word = record["error"]
    if word == "cancelled" and signal:
        return 128 + signal
    if word.startswith("signal:"):
        from firsthand.process import signals

        return next(
            (128 + number for number in signals.every() if signals.name(number) == word[7:]), OWN_FAILURE
        )
    return STATUSES.get(word, OWN_FAILURE)


def entry(arguments: list[str]) -> None:
    """Run, print, and leave at once: an interpreter's orderly end costs as much as its start."""
    front.ensure_stdio()
    try:
        code = main(arguments)
    except ConfigError as problem:
        say.error(problem)
        code = OWN_FAILURE
    os._exit(code)
