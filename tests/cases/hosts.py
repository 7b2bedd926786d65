"""Processes that run commands with the library when they are told to, for the cases of the store."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.support import CommandLine, library_environment
from tests.support.launch import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator


class Host:
    """A process of its own that runs commands with the library when it is told to."""

    def __init__(self, cli: CommandLine) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAMS / "case_writer.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=library_environment(cli.env),
            cwd=cli.tmp,
            text=True,
        )
        assert self._answer() == {"ready": True}

    def tell(self, **order: Any) -> None:
        """Start it on an order; :meth:`records` waits for the answer."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def records(self) -> list[dict[str, Any]]:
        """Return the records of the last order, of which only some keys are told; nothing may have raised."""
        answer = self._answer()
        assert answer["raised"] is None, answer["raised"]
        found: list[dict[str, Any]] = answer["records"]
        return found

    def ask(self, **order: Any) -> list[dict[str, Any]]:
        """Give an order and return its records."""
        self.tell(**order)
        return self.records()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the host has died"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End it as a host ends by itself."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait() == 0


@contextlib.contextmanager
def hosts(cli: CommandLine, count: int) -> Iterator[list[Host]]:
    """Start so many hosts; each has done its imports before the first gets an order."""
    with contextlib.ExitStack() as stack:
        started = [Host(cli) for _ in range(count)]
        for host in started:
            stack.callback(host.close)
        yield started
