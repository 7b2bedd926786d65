"""``completion``, ``--help`` and docs/cli.md: one table of verbs and options behind all three."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firsthand.cli import run
from firsthand.cli.main import VERBS

if TYPE_CHECKING:
    from typing import Any

    from tests.support import CommandLine

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "src/firsthand/completions"
SHELLS = ("bash", "zsh", "fish")

ASK = """
source {script}
COMP_WORDS=({words})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_firsthand
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    """What scripts/reference.py defines."""
    return runpy.run_path(str(ROOT / "scripts/reference.py"))


def test_generated_files_are_up_to_date(reference: dict[str, Any]) -> None:
    """Else: python3 scripts/reference.py."""
    files = reference["files"]()
    assert len(files) == 4
    for path, content in files.items():
        assert (ROOT / path).read_text(encoding="utf-8") == content, f"{path}: run scripts/reference.py"


def test_the_table_of_run_is_whole(reference: dict[str, Any]) -> None:
    """Its usage text and its parser name the same options."""
    options = reference["arguments"]("run")
    names = {name for option in options for name in option.names}
    assert names - {"-h", "--help"} == run.VALUES | run.FLAGS
    assert {name for option in options if option.value for name in option.names} == run.VALUES
    assert all(option.text for option in options)


@pytest.mark.parametrize("columns", ["20", "200"])
def test_the_page_has_each_help_text_as_it_is(cli: CommandLine, columns: str) -> None:
    """Every verb and no other, however wide the terminal."""
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"^## `firsthand (\w+)`\n\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    assert list(blocks) == list(VERBS)
    for verb, text in blocks.items():
        shown = cli(verb, "--help", env={"COLUMNS": columns})
        assert (shown.status, shown.stdout, shown.stderr) == (0, text, "")


def test_a_help_text_says_what_one_needs() -> None:
    """Usage, options, exit status; an example for every verb but ``run``, whose text is its own."""
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    for verb, text in re.findall(
        r"^```text\nusage: firsthand (\w+)(.*?)^```$", page, re.MULTILINE | re.DOTALL
    ):
        assert "\nExit status: " in text, verb
        assert verb == "run" or re.search(rf"\nExamples?:\n(  .*\n)*.*firsthand {verb}", text), verb
        assert max(map(len, text.splitlines())) <= 105, verb


@pytest.mark.parametrize("shell", SHELLS)
def test_it_prints_the_script_of_the_package(cli: CommandLine, shell: str) -> None:
    """As it is, without a store."""
    shown = cli("completion", shell)
    assert (shown.status, shown.out, shown.stderr) == (0, (SCRIPTS / shell).read_bytes(), "")
    assert not cli.store.exists()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_its_script(shell: str) -> None:
    """Where it is installed."""
    program = shutil.which(shell)
    if not program:
        pytest.skip(f"no {shell} here")
    done = subprocess.run([program, "-n", str(SCRIPTS / shell)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ver", ["verify"]),
        ("--v", ["--version"]),
        ("last --f", ["--failed"]),
        ("show --stream ''", ["stdout", "stderr"]),
        ("show --stream = std", ["stdout", "stderr"]),
        ("show --lines ''", [""]),
        ("completion z", ["zsh"]),
        ("run --env =", ["agent", "inherit"]),
        ("run --env ag", ["agent"]),
        ("run --exp", ["--expect", "--expect-exit"]),
        ("run --note --ex --strays k", ["keep"]),
        ("run --env = agent --js", ["--json"]),
        ("run --note x fh-pro", ["fh-program"]),
        ("run -- fh-pro", ["fh-program"]),
        ("run -- --js", [""]),
        ("run -- ls --js", [""]),
        ("run --json ls fo", ["folder"]),
        ("run --cwd fo", ["folder"]),
        ("replay --from fi", [""]),
    ],
)
def test_bash_really_completes(tmp_path: Path, line: str, expected: list[str]) -> None:
    """What bash calls when TAB is pressed, called in a real bash."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "fh-program").touch(0o755)
    script = ASK.format(script=shlex.quote(str(SCRIPTS / "bash")), words=f"firsthand {line}")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", "--norc", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert (done.stdout.splitlines(), done.stderr) == (expected, "")


def test_an_unknown_shell(cli: CommandLine) -> None:
    """Usage."""
    result = cli("completion", "csh")
    assert (result.status, result.stderr.splitlines()[1]) == (2, "hint: firsthand completion --help")
