"""Split a line of simple commands into pipelines and members, and find the pipeline that bash ran last.

Only lines of simple commands joined by ``&&``, ``||``, ``;`` and ``|`` are taken. Whatever needs a grammar
(groups, loops, substitutions, here-documents, background jobs, several lines, backslashes), and whatever
changes the shell itself, is left alone: not known. A wrong status would be worse than none.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

RESERVED = frozenset((
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while", "{", "}",
))  # fmt: skip
"""Words that begin something other than a simple command (bash: Reserved Words)."""

OWN_WAYS = frozenset((
    ".", "alias", "builtin", "command", "declare", "enable", "eval", "exec", "exit", "export", "local",
    "logout", "readonly", "return", "set", "shopt", "source", "trap", "typeset", "unset",
))  # fmt: skip
"""Words after which bash does not reach our exit trap, has another one, or counts in another way."""

TELLING = ("BASH", "PIPESTATUS", "IFS", "trap")
"""What a line names that could see or change what we do."""

LONGEST_LINE = 4000
"""Characters: what bash reports of a longer one may not fit into a pipe that is read at the end."""

DANGLING = re.compile(r"[<>][&|]?+\s*+(?:$|[<>|&])")
"""A redirection without a target, as in ``echo >``; bash would show our trap in its message."""

_OPERATORS = ("&&", "||", "|&", ";", "|")
_BLANKS = " \t"


class NotSimple(Exception):  # noqa: N818  # an answer, not a fault
    """The line is more than simple commands."""


def pipelines(line: str) -> list[list[str]] | None:
    """Return the members of each pipeline of a line, or None where the line is more than that.

    >>> pipelines("make | tee log && ! true") is None
    True
    >>> pipelines("make 2>&1 | tee 'a|b' && echo done; ls")
    [['make 2>&1', "tee 'a|b'"], ['echo done'], ['ls']]
    """
    strange = len(line) > LONGEST_LINE or line.lstrip()[:1] in ("-", "+")
    if strange or any(word in line for word in TELLING):
        return None
    try:
        return _grouped(_parts(line))
    except NotSimple:
        return None


def _grouped(parts: list[str]) -> list[list[str]]:
    """Make pipelines of members and the operators between them."""
    found: list[list[str]] = [[]]
    for position in range(0, len(parts), 2):
        member, operator = parts[position].strip(_BLANKS), parts[position + 1]
        if not member and operator == "" and position and parts[position - 1] == ";":
            break  # the line ends with a semicolon
        found[-1].append(_checked(member))
        if operator not in ("|", "|&", ""):
            found.append([])
    return [members for members in found if members]


def _checked(member: str) -> str:
    words = member.split()
    first = next((word for word in words if not _is_assignment(word)), "")
    if not member or first in RESERVED or OWN_WAYS.intersection(words):
        raise NotSimple
    if DANGLING.search(member.replace(">>", ">").replace("<>", "<")):
        raise NotSimple
    return member


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.rstrip("+").isidentifier()


def _parts(line: str) -> list[str]:
    """Return the texts between operators and the operators by turns; the last operator is empty."""
    parts, start, at = [], 0, 0
    while at < len(line):
        operator = next((each for each in _OPERATORS if line.startswith(each, at)), "")
        if operator and not (operator[0] == "|" and line[at - 1 : at] == ">"):
            parts += [line[start:at], operator]
            at += len(operator)
            start = at
        else:
            at = _past(line, at)
            if at < 0:  # a comment goes to the end
                return [*parts, line[start : -at - 1], ""]
    return [*parts, line[start:], ""]


def _past(line: str, at: int) -> int:
    """Return the place after what begins at ``at``; negative, less one, where a comment begins there."""
    character = line[at]
    if character in "\n()`" or line.startswith(("$(", "${", "<<"), at):
        raise NotSimple
    if character == "\\":
        raise NotSimple
    if character == "'":
        return _closing(line, at, "'")
    if character == '"':
        return _closing(line, at, '"')
    if character == "#" and (at == 0 or line[at - 1] in _BLANKS + ";|&"):
        return -at - 1
    if character == "&" and line[at - 1 : at] not in (">", "<") and line[at + 1 : at + 2] != ">":
        raise NotSimple  # a background job
    return at + 1


def _closing(line: str, at: int, quote: str) -> int:
    """Return the place after the quoted text that begins at ``at``."""
    if line[at - 1 : at] == "$":
        raise NotSimple  # $'…' has escapes of its own
    end = at + 1
    while end < len(line) and line[end] != quote:
        if quote == '"' and (line[end] == "`" or line.startswith(("$(", "${"), end)):
            raise NotSimple
        end += 2 if quote == '"' and line[end] == "\\" else 1
    if end >= len(line):
        raise NotSimple
    return end + 1


def last_pipeline(
    line: str, statuses: Sequence[int], last_command: str, exit_code: int | None
) -> list[dict[str, Any]] | None:
    """Return ``[{"command", "exit_code"}]`` of the pipeline that bash ran last, None where it is not known.

    ``statuses`` is bash's ``PIPESTATUS`` and ``last_command`` its ``BASH_COMMAND``, both in an exit trap
    under ``pipefail``. They must fit each other, the line and the exit code: ``exit 3`` leaves the statuses
    of what ran before it.
    """
    failed = [status for status in statuses if status]
    if not statuses or exit_code != (failed[-1] if failed else 0):
        return None
    known = pipelines(line) or []
    fitting = [members for members in known if len(members) == len(statuses)]
    if len(known) > 1:  # also when only one has so many members: what ran last must be that one
        fitting = [members for members in fitting if _plain(members[-1]) == _plain(last_command)]
    if not fitting or any(members != fitting[0] for members in fitting):
        return None
    return [
        {"command": member, "exit_code": status} for member, status in zip(fitting[0], statuses, strict=True)
    ]


def _plain(command: str) -> str:
    """Return a command without what bash writes in its own way: blanks, and how it spells redirections.

    Two members that differ in nothing else are the same here, and then neither of them is known.
    """
    return re.sub(r"\d*([<>])", r"\1", "".join(command.split())).replace(">&", "&>")
