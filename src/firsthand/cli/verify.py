"""``firsthand verify``: is the store as it was written, and what is that worth?"""

from __future__ import annotations

from firsthand.cli import common, say

ABOUT = """\
Check that records are as they were written, over all rotated files and what is kept beside them: every
stored byte against the hash chain. A write that a crash or a power loss cut off is told from a change."""

LEVELS = """\
What the answer is worth:
  level 0  the same user can forge, rewrite and delete everything here; nothing stops it
  level 1  the hash chain shows accidental or clumsy change (this verb)
  level 2  a signer that runs as another user and keeps its own count shows change since signing
  level 3  the acceptance commands run by CI from a clean checkout: the only proof that they ran

Exit status: 0 intact, 1 changed, 2 cannot tell (no records, a power loss, usage).

Examples:
  firsthand verify
  firsthand verify --json | jq .first_bad"""


def parser() -> common.Parser:
    """Return what the verb takes."""
    return common.Parser("verify", ABOUT, LEVELS)


def main(arguments: list[str]) -> int:
    """Check every stored byte against the chain: 0 yes, 1 no, 2 cannot tell."""
    options = parser().parse_args(arguments)
    from firsthand.store.verification import verify

    found = verify(common.find_place(options.project))
    if options.json:
        say.obj(
            {
                "ok": found.ok,
                "status": found.status,
                "records": found.records,
                "first_bad": list(found.first_bad) if found.first_bad else None,
                "notes": list(found.notes),
            }
        )
    else:
        say.out(f"{found.status}: {found.records} {'record' if found.records == 1 else 'records'}")
        if found.first_bad:
            file, line, reason = found.first_bad
            say.out(f"first bad: {file}, line {line}: {reason}")
        for note in found.notes:
            say.out(f"note: {note}")
    return {True: 0, False: 1, None: 2}[found.ok]
