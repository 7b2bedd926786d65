"""``firsthand completion``: the ready-made scripts of ``firsthand/completions``, see scripts/reference.py."""

from __future__ import annotations

import os

from firsthand.cli import common, say

ABOUT = """\
Print a script that completes verbs, options and their values in a shell. It is static: completing starts
no program and reads no store."""

MORE = """\
Exit status: 0; 2 usage.

Examples:
  source <(firsthand completion bash)
  firsthand completion zsh > "${fpath[1]}/_firsthand"
  firsthand completion fish > ~/.config/fish/completions/firsthand.fish"""

SHELLS = ("bash", "zsh", "fish")


def parser() -> common.Parser:
    """Return what the verb takes."""
    made = common.Parser("completion", ABOUT, MORE, reads=False)
    made.add_argument("shell", choices=SHELLS, help="which shell")
    return made


def main(arguments: list[str]) -> int:
    """Print one script."""
    options = parser().parse_args(arguments)
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(package, "completions", options.shell), encoding="utf-8") as file:
        say.out(file.read())
    return 0
