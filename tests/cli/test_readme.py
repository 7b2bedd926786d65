"""The examples of README and docs do what they say."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support import store_records

if TYPE_CHECKING:
    from tests.support import CommandLine

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PROCESSES = (ROOT / "docs/processes.md").read_text()
ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def blocks(kind: str, page: str = README) -> list[str]:
    """Return the fenced blocks of one kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def steps(block: str) -> list[tuple[str, str]]:
    """Return each command of a console block with the output that is shown below it."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def masked(text: str) -> str:
    """Return output without what differs from run to run."""
    return re.sub(r"\d+\.\d+ ?s\b", "T s", re.sub(r"pid \d+", "pid N", re.sub(ID, "ID", text)))


def pattern(shown: str) -> str:
    """Return a pattern for shown output in which a line of three dots stands for any lines."""
    return re.escape(masked(shown)).replace(re.escape("\n...\n"), "\n(?:.*\n)*?")


@pytest.mark.parametrize("block", blocks("console", PROCESSES))
def test_what_is_said_of_processes_is_so(cli: CommandLine, block: str) -> None:
    """Each command prints what is shown; nothing outlives the block."""
    for command, shown in steps(block):
        words = shlex.split(command)
        result = cli(*words[1:])
        assert re.fullmatch(pattern(shown), masked(result.stdout)), result.stdout
    assert cli("strays").stdout == ""


def sessions() -> list[str]:
    return [block for block in blocks("console") if "$ firsthand run" in block and "pip install" not in block]


@pytest.mark.parametrize("block", sessions(), ids=["tests", "time-out"])
def test_console_sessions_are_real(cli: CommandLine, block: str) -> None:
    """Each command is run in a copy of the example, and prints what is shown."""
    project = cli.tmp / "webapp"
    shutil.copytree(ROOT / "examples/webapp", project)
    for command, shown in steps(block):
        words = shlex.split(command)
        if words[0] != "firsthand":
            subprocess.run(words, cwd=project, check=True)
            continue
        if "--parent" in words:
            words[words.index("--parent") + 1] = store_records(cli.store)[0]["command_id"]
        result = cli(*words[1:], cwd=project)
        assert re.fullmatch(pattern(shown), masked(result.stdout)), result.stdout


def test_the_python_example_runs(cli: CommandLine) -> None:
    """As it stands."""
    (code,) = blocks("python")
    launch = cli.program(sys.executable, "-c", code)
    result = launch.wait()
    assert (result.status, result.stderr) == (0, "")


def test_named_files_and_verbs_exist(cli: CommandLine) -> None:
    """Scripts, links and commands."""
    for name in re.findall(r"\]\(([^)#:]+)\)|`(docs/[^`]*/)`|^\$ \./(\S+)", README, re.MULTILINE):
        assert (ROOT / "".join(name)).exists(), name
    helped = cli("--help").stdout
    for verb in re.findall(r"^\| `firsthand (\w+)", README, re.MULTILINE):
        assert f"  {verb} " in helped
