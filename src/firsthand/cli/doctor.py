"""``firsthand doctor``: what is broken here, and what to do about it."""

from __future__ import annotations

import os

from firsthand.cli import checks, common, say, store_checks
from firsthand.store import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.cli.checks import Finding
    from firsthand.store.place import Place

ABOUT = """\
Check what firsthand needs, and name what is broken with the next action: Python, the kernel (subreaper,
pidfd, lists of children), where the store is and why there, whether it can be written and is closed to
others, its lock, free space, the clock, configuration files, git, optional parts. Nothing is written:
a project without a store has none afterwards."""

MORE = """\
Exit status: 0; 1 something is broken (a warning alone is not); 2 usage.

Examples:
  firsthand doctor
  firsthand doctor --json | jq 'select(.state != "ok")'"""

WIDTH = max(map(len, (checks.OK, checks.WARNING, checks.BROKEN)))


def parser() -> common.Parser:
    """Return what the verb takes."""
    return common.Parser("doctor", ABOUT, MORE)


def main(arguments: list[str]) -> int:
    """Run every check and tell its answer."""
    options = parser().parse_args(arguments)
    where = common.find_place(options.project)
    why = _why(where, options.project)
    broken = 0
    for found in (
        *checks.of_system(),
        *store_checks.of_store(where, why),
        *checks.of_surroundings(where),
    ):
        _show(found, options.json)
        broken += found.state == checks.BROKEN
    return 1 if broken else 0


def _why(where: Place, project: str | None) -> str:
    """Return the rule by which the store is where it is."""
    if os.environ.get("FIRSTHAND_DIR"):
        return "FIRSTHAND_DIR says so"
    if project is not None:
        return "of --project"
    if os.path.lexists(os.path.join(where.root, ".git")):
        return "in the top level of the git work tree"
    if os.path.lexists(os.path.join(where.root, place.CONFIG_NAME)):
        return f"beside the nearest {place.CONFIG_NAME}"
    return "in the current folder, which belongs to no project"


def _show(found: Finding, as_json: bool) -> None:
    from firsthand.redact import Redactor

    hide = Redactor().raw  # paths and other people's messages, which no record has passed
    message, hint = hide(found.message), hide(found.hint)
    if as_json:
        say.obj({"check": found.check, "state": found.state, "message": message, "hint": hint or None})
        return
    say.out(
        f"{found.state:<{WIDTH}}  {found.check}: {message}"
        + (f"\n{'':<{WIDTH}}  hint: {hint}" if hint else "")
    )
