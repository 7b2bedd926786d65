"""``firsthand demo``: the main job on a small real project, in a temporary folder."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import shlex
import shutil
import sys
import tempfile

from firsthand import library, survey
from firsthand.cli import chain, failures, replay, say, view
from firsthand.cli.common import Parser
from firsthand.errors import StoreError
from firsthand.store import place
from firsthand.store.readers import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from firsthand.record import Record

SLOW_LIMIT = 2
"""Seconds that the hanging command of the demo is given."""

ABOUT = """\
See it work: run a small project's failing tests, mend it, retry, hang, misspell, flood and leak. It
happens in a copy in a temporary folder; nothing is installed and nothing is left behind."""

MORE = """\
Exit status: 0 when every record is there, no secret is on disk and no process is left; else 1.

Example:
  firsthand demo --keep"""

SUITE = ["python3", "-m", "unittest"]


class Demo:
    """The copied project, the records made so far, and what they should show."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.records: list[Record] = []

    def run(self, title: str, argv: list[str], **options: Any) -> Record:
        """Run one command through the library and print its record as an agent reads it."""
        say.out(f"\n## {title}\n$ {shlex.join(argv)}")
        record = library.run([_program(argv[0]), *argv[1:]], cwd=self.project, **options)
        self.records.append(record)
        say.out(view.full(record))
        return record

    def play(self) -> None:
        """Fail, mend, retry; hang; misspell; flood; leak."""
        first = self.run("A test suite that fails", SUITE, note="12 tests pass", expect="Ran 12 tests")
        self.run("The fix", ["cp", "fix/slugs.py", "webapp/slugs.py"])
        self.run(
            "The retry, linked to its parent",
            SUITE,
            note="12 tests pass now",
            expect={"exit_code": [0], "contains": "Ran 12 tests"},
            parent=first.command_id,
        )
        self.run(
            f"A server that hangs, with a child on its pipe, and a limit of {SLOW_LIMIT} s",
            ["python3", "tools/serve_slowly.py"],
            timeout=SLOW_LIMIT,
        )
        self.run("A program that does not exist", ["pytset", "-x"])
        self.run("A log of 50 MB", ["python3", "tools/big_log.py"])
        self.run("A program that prints its secrets", ["python3", "tools/leak_config.py"])

    def look_back(self) -> int:
        """Read it all back as a reviewer would; return how many commands were run for that."""
        retry = next(record for record in self.records if record.parent_command_id)
        fix = self.records[1]
        self.read("What failed, and what became of it", failures.main, ["failures"])
        self.read("The attempts that belong together", chain.main, ["chain", retry.command_id])
        self.read("The fix once more: does the same come out?", replay.main, ["replay", fix.command_id])
        return 1

    def read(self, title: str, verb: Callable[[list[str]], int], words: list[str]) -> None:
        """Run one reading verb on the demo's store."""
        say.out(f"\n## {title}\n$ firsthand {shlex.join(words)}")
        verb(words[1:])

    def leaked(self) -> list[str]:
        """Return the secrets of the last command that stand in any file of the store."""
        heard = io.StringIO()
        with contextlib.redirect_stdout(heard):
            runpy.run_path(os.path.join(self.project, "tools", "leak_config.py"))
        lines = [line for line in heard.getvalue().splitlines() if "=" in line or "Bearer" in line]
        secrets = [line.replace("=", " ").split()[-1] for line in lines if "webapp" not in line]
        stored = b"".join(_files(os.environ["FIRSTHAND_DIR"]))
        return [secret for secret in secrets if len(secret) >= LONG_ENOUGH and secret.encode() in stored]

    def alive(self) -> list[int]:
        """Return the processes that still work in the project's folder."""
        return [pid for pid in survey.pids() if pid != os.getpid() and _works_in(pid, self.project)]


LONG_ENOUGH = 16
"""Characters of the demo's made-up secrets, at least; the harmless settings beside them are shorter."""


def parser() -> Parser:
    """Return what the verb takes."""
    made = Parser("demo", ABOUT, MORE, reads=False)
    made.add_argument("--keep", action="store_true", help="leave the temporary folder to look around in")
    return made


def main(arguments: list[str]) -> int:
    """Play the demo; 0 when everything was as it should be."""
    options = parser().parse_args(arguments)
    folder = tempfile.mkdtemp(prefix="firsthand-demo-")
    project = os.path.join(folder, "webapp")
    shutil.copytree(example(), project, ignore=shutil.ignore_patterns("__pycache__"))
    os.environ["FIRSTHAND_DIR"] = os.path.join(project, place.STORE_NAME)
    try:
        return _play(Demo(project))
    finally:
        if options.keep:
            say.out(f"kept: {project}")
        else:
            shutil.rmtree(folder)


def _play(demo: Demo) -> int:
    demo.play()
    commands = len(demo.records) + demo.look_back()
    leaked, alive = demo.leaked(), demo.alive()
    stored = list(Reader(place.find_place(demo.project)).all())
    say.out("\n## What is left")
    size = sum(map(len, _files(os.environ["FIRSTHAND_DIR"])))
    say.out(f"records: {len(stored)} of {commands} commands, {size // 1024} KiB in {place.STORE_NAME}/")
    say.out(f"secrets on disk: {len(leaked)}")
    say.out(f"processes left running: {len(alive)}")
    return 0 if len(stored) == commands and not leaked and not alive else 1


def example() -> str:
    """Return the folder of the example project: beside the package, or in the repository.

    Raises:
        StoreError: this installation has none.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    repository = os.path.dirname(os.path.dirname(package))
    for folder in (os.path.join(package, "_examples"), os.path.join(repository, "examples")):
        if os.path.isdir(os.path.join(folder, "webapp")):
            return os.path.join(folder, "webapp")
    raise StoreError("this installation has no example project", "reinstall firsthand from its wheel")


def _program(name: str) -> str:
    return sys.executable if name == "python3" else name


def _files(folder: str) -> list[bytes]:
    found = []
    for path, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                found.append(file.read())
    return found


def _works_in(pid: int, folder: str) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd").startswith(folder)
    except OSError:
        return False
