"""Run a command through one library, in this process, as an agent that uses the library would.

Started with that library's own interpreter: ``python host.py LIBRARY ORDER ANSWER``. The order is JSON:
``argv``, ``limit`` in seconds, and ``calls``, how often to time it after one that warms up (0: one call).
"""

import asyncio
import json
import os
import resource
import shlex
import sys
import time
from collections.abc import Callable
from typing import Any

Call = Callable[[list[str], int], tuple[str, str]]
"""Takes argv and limit; returns how the command ended, in the library's words, and what it hands back."""


def firsthand_run(contain: str = "keeper") -> Call:
    """Hand back the record."""
    import firsthand

    def call(argv: list[str], limit: int) -> tuple[str, str]:
        record = firsthand.run(argv, timeout=limit, contain=contain)
        words = f"exit_code {json.dumps(record.exit_code)}, error {json.dumps(record.error)}"
        return words, json.dumps(record)

    return call


def firsthand_group() -> Call:
    """Hand back the record of a run without a process beside the host."""
    return firsthand_run("group")


def subprocess_run() -> Call:
    """Call the standard library as most programs do."""
    import subprocess

    def call(argv: list[str], limit: int) -> tuple[str, str]:
        done = subprocess.run(argv, capture_output=True, timeout=limit, check=False)
        return f"returncode {done.returncode}", (done.stdout + done.stderr).decode(errors="replace")

    return call


def swe_rex() -> Call:
    """Execute one command without a shell session, which is its cheapest way."""
    from swerex.deployment.local import LocalDeployment
    from swerex.runtime.abstract import Command

    runner, deployment = asyncio.Runner(), LocalDeployment()
    runner.run(deployment.start())

    def call(argv: list[str], limit: int) -> tuple[str, str]:
        done = runner.run(deployment.runtime.execute(Command(command=argv, timeout=limit)))
        return f"exit_code {done.exit_code}", done.stdout + done.stderr

    return call


def mini_swe_agent() -> Call:
    """Give it the argv as a shell line, the only thing that it takes."""
    from minisweagent.environments.local import LocalEnvironment

    environment = LocalEnvironment()

    def call(argv: list[str], limit: int) -> tuple[str, str]:
        done = environment.execute({"command": shlex.join(argv)}, timeout=limit)
        kind = done.get("extra", {}).get("exception_type")
        return f"returncode {done['returncode']}" + (f", {kind}" if kind else ""), done["output"]

    return call


def inspect_ai() -> Call:
    """Execute in the sandbox that is the machine itself."""
    from inspect_ai.util._sandbox.local import LocalSandboxEnvironment

    runner, sandbox = asyncio.Runner(), LocalSandboxEnvironment()

    def call(argv: list[str], limit: int) -> tuple[str, str]:
        done = runner.run(sandbox.exec(argv, cwd=os.getcwd(), timeout=limit))
        return f"returncode {done.returncode}", done.stdout + done.stderr

    return call


LIBRARIES = (firsthand_run, firsthand_group, subprocess_run, swe_rex, mini_swe_agent, inspect_ai)


def _once(call: Call, argv: list[str], limit: int) -> dict[str, Any]:
    """Make one call; what it raises is an answer too."""
    began = time.perf_counter()
    try:
        words, text = call(argv, limit)
    except Exception as problem:  # noqa: BLE001  # each library has its own; which one goes into the table
        words, text = f"raised {type(problem).__name__}", _partial(problem) + str(problem)
    return {"outcome": words, "text": text, "took": time.perf_counter() - began}


def _partial(problem: Exception) -> str:
    """Return the output that an exception carries, as the standard library's do."""
    found = [getattr(problem, name, None) or b"" for name in ("stdout", "stderr")]
    return "".join(each.decode(errors="replace") if isinstance(each, bytes) else each for each in found)


def _timed(call: Call, argv: list[str], limit: int, calls: int) -> dict[str, Any]:
    """Return wall and CPU seconds of one call, a mean over many after the first."""
    call(argv, limit)
    wall, cpu = time.perf_counter(), _cpu()
    for _ in range(calls):
        call(argv, limit)
    return {"took": (time.perf_counter() - wall) / calls, "cpu": (_cpu() - cpu) / calls}


def _cpu() -> float:
    """Return CPU seconds of this process and of the children that it has waited for."""
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + waited.ru_utime + waited.ru_stime


def _answer(library: str, argv: list[str], limit: int, calls: int) -> dict[str, Any]:
    try:
        call = {each.__name__: each for each in LIBRARIES}[library]()
    except Exception as problem:  # noqa: BLE001  # whatever keeps it from starting
        return {"outcome": f"does not start: {type(problem).__name__}", "text": str(problem)}
    return _timed(call, argv, limit, calls) if calls else _once(call, argv, limit)


def main(library: str, order: str, answer: str) -> None:
    """Do what the order says and leave the answer as JSON."""
    with open(order, encoding="utf-8") as file:
        found = _answer(library, **json.load(file))
    with open(answer, "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
