"""Start a program in front of the tests with pipes, a terminal or limits, and wait for all of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.alive import Process
from tests.support.slack import SLACK
from tests.support.streams import Streams
from tests.support.terminal import Terminal
from tests.support.whole import one_object

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROGRAMS = Path(__file__).parent.parent / "programs"
"""The small programs that tests start."""

WITHIN = 60.0
"""Hang guard of one program in seconds, before the slack."""

_END_OF_FILE_WITHIN = 2.0
"""The caller's streams are closed at once when the program ends; whoever holds them longer is a leak."""


@dataclass(frozen=True)
class Result:
    """How one program ended: ``status`` is negative for a signal, ``max_rss_mb`` covers its children."""

    status: int
    out: bytes
    err: bytes
    seconds: float
    max_rss_mb: float
    stdin_left: bytes

    @property
    def stdout(self) -> str:
        """The standard output as strict UTF-8."""
        return self.out.decode("utf-8")

    @property
    def stderr(self) -> str:
        """The standard error as strict UTF-8."""
        return self.err.decode("utf-8")

    @property
    def record(self) -> dict[str, Any]:
        """The one record that stands on stdout; anything else there fails the test."""
        value = one_object(self.out)
        assert value.get("schema") == "firsthand.record/1", f"no record but {value}; stderr: {self.err!r}"
        return value

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The JSON objects on stdout, one a line."""
        return [one_object(line) for line in self.out.splitlines()]


class Launch:
    """One started program, below a small process that watches it, so that nothing it starts can hide.

    ``stdin`` is what its standard input holds, a pipe that stays open where ``stdin_open``. With ``terminal``
    stdin and stderr are a real terminal, the controlling one, with ``"all"`` stdout too. ``limits`` are
    soft: ``{"RLIMIT_CPU": 9}``.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str | os.PathLike[str],
        stdin: bytes = b"",
        stdin_open: bool = True,
        terminal: bool | str = False,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        self._streams = Streams(stdin, stdin_open=stdin_open, terminal=terminal)
        self._answers: dict[str, Any] = {}
        self.closed = False
        self._watch_parent()
        order = {"argv": [_raw(word) for word in argv], "env": {_raw(k): _raw(v) for k, v in env.items()}}
        order |= {"cwd": _raw(os.fspath(cwd)), "limits": dict(limits or {})}
        self._order(json.dumps(order | {"fds": self._streams.theirs, "terminal": bool(terminal)}))
        self._streams.release_theirs()
        self._await("pid", WITHIN)
        self.pid: int = self._answers["pid"]
        self.started: float = self._answers["started"]
        self.root = self._parent.pid

    def _watch_parent(self) -> None:
        self._parent = subprocess.Popen(
            [sys.executable, "-I", "-S", str(PROGRAMS / "case_launch.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            pass_fds=sorted(set(self._streams.theirs)),
            start_new_session=True,
            cwd="/",
        )
        assert self._parent.stdout
        self._streams.add("answers", os.dup(self._parent.stdout.fileno()))
        self._parent.stdout.close()

    def _order(self, line: str) -> None:
        assert self._parent.stdin
        self._parent.stdin.write(line.encode() + b"\n")

    def _await(self, name: str, seconds: float) -> None:
        if not self._streams.pump(lambda: self._answered(name), seconds):
            self.close()
            raise AssertionError(f"hang: no {name} after {seconds} s x {SLACK}; so far {self._streams.kept}")

    def _answered(self, name: str) -> bool:
        assert self._streams.open("answers"), "the launcher has ended"
        *lines, self._streams.kept["answers"] = self._streams.kept["answers"].split(b"\n")
        for line in lines:
            self._answers |= json.loads(line)
        return name in self._answers

    def signal(self, number: int) -> None:
        """Send a signal to the program's own process only; nothing once it has ended."""
        self._order(f"signal {int(number)}")

    def end_stdin(self) -> None:
        """Give the program the end of file on its standard input."""
        self._streams.end_stdin()

    def line(self, within: float = WITHIN) -> bytes:
        """Return its first line on stdout, while it goes on running."""
        self._streams.pump(
            lambda: b"\n" in self._streams.kept["out"] or not self._streams.open("out"), within
        )
        line, end, _ = self._streams.kept["out"].partition(b"\n")
        assert end, f"no line on stdout after {within} s x {SLACK}: {self._streams.kept}"
        return line

    @property
    def terminal(self) -> Terminal:
        """Its terminal, as the person before it has it."""
        return Terminal(self._streams)

    def wait(self, within: float = WITHIN) -> Result:
        """Return how it ended; to take longer than ``within`` seconds times the slack fails the test."""
        self._await("status", within)
        if not self._streams.pump(lambda: not self._streams.open("out", "err"), _END_OF_FILE_WITHIN):
            raise AssertionError(f"it has ended, but somebody holds its stdout or stderr: {self.left(0)}")
        return Result(
            status=self._answers["status"],
            out=self._streams.kept["out"],
            err=self._streams.kept["err"],
            seconds=self._answers["ended"] - self.started,
            max_rss_mb=self._answers["max_rss_kib"] / 1024,
            stdin_left=self._streams.unread(),
        )

    def left(self, seconds: float = 0.5) -> list[Process]:
        """Return what lives of all that it started, and itself; waits up to ``seconds``, times the slack."""
        if self.closed:
            return []
        self._answers.pop("left", None)
        self._order(f"left {seconds * SLACK}")
        self._await("left", seconds + 10)
        return [Process(pid, 0, "", command) for pid, command in self._answers["left"]]

    def close(self) -> None:
        """Kill what is left of it, by id, and give everything back."""
        self.closed = True
        if self._parent.stdin:
            self._parent.stdin.close()
        self._parent.wait()
        self._streams.close()


def _raw(text: str) -> str:
    return os.fsencode(text).decode("latin-1")
