"""One command through one peer, in a working folder and a home of its own, and everything that came of it."""

from __future__ import annotations

import contextlib
import fnmatch
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers import host, launch
from benchmarks.peers.environments import Environment
from benchmarks.peers.peers import Peer, outcome, spec

PATH = "/usr/bin:/bin"
"""All that a peer's environment has beside HOME: what a login on a bare machine has."""

PATIENCE = 60
"""Seconds until a peer that should come back by itself is stopped."""

_numbers = itertools.count()


class Answer(NamedTuple):
    """What came of one command."""

    outcome: str
    """How it ended, in the record's own words."""
    status: int | None
    """Exit status of a command line; None for a library."""
    took: float
    cpu: float
    peak_kib: int
    stopped: str
    """The signal that we had to send, or nothing."""
    handed_back: bytes
    """Standard output and error of a command line, the value of a library's call."""
    record: bytes
    files: dict[str, bytes]
    """What it wrote below its working folder and its home."""
    traceback: bool


class Place(NamedTuple):
    """A peer, its environment, and a folder for its runs."""

    peer: Peer
    environment: Environment
    base: Path
    floor_kib: int = 0
    """Peak memory that the measurement itself has."""

    def run(
        self, argv: list[str], *, limit: int = PATIENCE, patience: float = PATIENCE, calls: int = 0
    ) -> Answer:
        """Put one command through the peer, in fresh folders."""
        return self.fresh().run(argv, limit, patience, calls)

    def fresh(self) -> Scratch:
        """Return fresh folders, with what the peer wants to be there before a first run."""
        folder = self.base / f"run{next(_numbers)}"
        for name in ("work/.git/objects", "work/.git/refs", "home"):
            (folder / name).mkdir(parents=True)
        (folder / "work/.git/HEAD").write_text("ref: refs/heads/main\n")
        scratch = Scratch(self, folder)
        if self.peer.prepare:
            scratch.start(scratch.words(self.peer.prepare, PATIENCE), PATIENCE)
        return scratch


class Scratch(NamedTuple):
    """The folders of one run, or of several that follow each other."""

    place: Place
    folder: Path

    def run(
        self, argv: list[str], limit: int = PATIENCE, patience: float = PATIENCE, calls: int = 0
    ) -> Answer:
        """Put one command through the peer."""
        peer, before = self.place.peer, self._files()
        command = self._host(argv, limit, calls) if peer.library else self._command(argv, limit)
        cost = self.start(command, patience)
        files = {name: data for name, data in self._files().items() if before.get(name) != data}
        said = _loaded(self._read("answer.json"))
        out, err = self._read("stdout"), self._read("stderr")
        handed_back = str(said.get("text", "")).encode() if peer.library else out + err
        record = _record(files, peer.record) if peer.record else handed_back if peer.library else out
        return Answer(
            cost.get("problem") or (_said(said) if peer.library else outcome(record, peer.keys)),
            None if peer.library else cost.get("status"),
            said.get("took", cost.get("took", 0.0)),
            said.get("cpu", cost.get("cpu", 0.0)),
            cost.get("peak_kib", 0),
            cost.get("stopped", ""),
            handed_back,
            record,
            files,
            traceback=b"Traceback (most recent call last)" in err,
        )

    def words(self, template: tuple[str, ...], limit: int) -> list[str]:
        """Fill in a peer's words."""
        known = {
            "{bin}": str(self.place.environment.bin),
            "{limit}": str(limit),
            "{spec}": str(self.folder / "spec.json"),
        }
        filled = list(template)
        for name, value in known.items():
            filled = [word.replace(name, value) for word in filled]
        return filled

    def start(self, command: list[str], patience: float) -> dict[str, Any]:
        """Start a program with an empty environment; return what it has cost."""
        launcher = [
            sys.executable,
            "-I",
            "-S",
            launch.__file__,
            str(self.folder / "cost.json"),
            str(patience),
        ]
        with open(self.folder / "stdout", "wb") as out, open(self.folder / "stderr", "wb") as err:
            subprocess.run(
                [*launcher, *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=self.folder / "work",
                env={"PATH": PATH, "HOME": str(self.folder / "home")},
                check=True,
            )
        return _loaded(self._read("cost.json"))

    def _command(self, argv: list[str], limit: int) -> list[str]:
        start = self.place.peer.start
        if "{spec}" not in start:
            return [*self.words(start, limit), *argv]
        (self.folder / "spec.json").write_text(spec(argv, limit))
        return self.words(start, limit)

    def _host(self, argv: list[str], limit: int, calls: int) -> list[str]:
        order, answer = self.folder / "order.json", self.folder / "answer.json"
        order.write_text(json.dumps({"argv": argv, "limit": limit, "calls": calls}))
        python = str(self.place.environment.bin / "python")
        return [python, host.__file__, self.place.peer.library, str(order), str(answer)]

    def _read(self, name: str) -> bytes:
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / name).read_bytes()
        return b""

    def _files(self) -> dict[str, bytes]:
        """Read every file below the working folder and the home."""
        paths = [
            path for top in ("work", "home") for path in (self.folder / top).rglob("*") if path.is_file()
        ]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}


def _said(answer: dict[str, Any]) -> str:
    """Say what became of a library's call; there is no answer when its process had to be stopped."""
    return str(answer.get("outcome", "")) if answer else "did not return"


def _loaded(text: bytes) -> dict[str, Any]:
    return json.loads(text) if text else {}


def _record(files: dict[str, bytes], pattern: str) -> bytes:
    found = [data for name, data in files.items() if fnmatch.fnmatch(name, f"work/{pattern}")]
    return found[0] if found else b""
