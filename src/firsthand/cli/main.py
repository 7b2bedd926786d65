"""Choose the verb. To add one: write ``cli/VERB.py`` with ``main(arguments) -> int`` and list it here."""

from __future__ import annotations

import sys

from firsthand.cli import say

VERBS = {
    "run": "run a command and leave one record of what really happened",
    "last": "list the newest records",
    "show": "show one record, or page through what was kept of its output",
    "check": "may an agent go on after this record?",
    "chain": "one command's attempts, oldest first",
    "failures": "list the failed attempts, and whether a retry succeeded",
    "strays": "list, or stop, what commands left running",
    "replay": "run a record's command again and compare",
    "verify": "is the store as it was written?",
    "doctor": "check this installation and this project's store",
    "completion": "print the completions of bash, zsh or fish",
    "demo": "see it work on a small project",
}

USAGE = """\
usage: firsthand VERB [OPTIONS] ...

Every command an agent runs comes back as one small, honest, redacted record.

{verbs}

firsthand VERB --help says more. Records are kept in .firsthand/ of the project, or in $FIRSTHAND_DIR.
"""

USAGE_STATUS = 2


def main(arguments: list[str] | None = None) -> int:
    """Run one verb and return its exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    verb = words[0] if words else "--help"
    if verb == "run":
        from firsthand.cli import run

        run.entry(words[1:])
    if verb == "help" and len(words) > 1:
        return main([words[1], "--help"])
    if verb in ("--help", "-h", "help"):
        say.out(usage())
        return 0 if words else USAGE_STATUS
    if verb in ("--version", "-V"):
        from firsthand._version import __version__

        say.out(f"firsthand {__version__}")
        return 0
    if verb not in VERBS:
        return _unknown(verb, "--json" in words)
    return _call(verb, words[1:])


def usage() -> str:
    width = max(map(len, VERBS))
    return USAGE.format(verbs="\n".join(f"  {verb:<{width}}  {text}" for verb, text in VERBS.items()))


def _unknown(verb: str, as_json: bool) -> int:
    import difflib

    from firsthand.errors import UsageError

    near = difflib.get_close_matches(verb, VERBS, 1)
    hint = f"did you mean {near[0]}?" if near else f"to run a command: firsthand run -- {verb} ..."
    say.error(UsageError(f"no verb {verb!r}", hint), as_json)
    return USAGE_STATUS


def _call(verb: str, arguments: list[str]) -> int:
    from importlib import import_module

    from firsthand.errors import FirsthandError

    try:
        return int(import_module(f"firsthand.cli.{verb}").main(arguments))
    except FirsthandError as problem:
        say.error(problem, "--json" in arguments)
        return USAGE_STATUS
    except KeyboardInterrupt:
        return 130
