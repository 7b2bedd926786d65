"""Start one program, end it when it takes too long, and write what it has cost.

A small process of its own, because the kernel counts the memory of the process that starts a program as the
program's: ``python -I -S launch.py ANSWER PATIENCE PROGRAM ARGUMENT...``
"""

import json
import os
import select
import signal
import sys
import time

SIGNALS = (signal.SIGTERM, signal.SIGKILL)


def main(answer: str, patience: float, argv: list[str]) -> None:
    """Ask with SIGTERM after ``patience`` seconds, insist with SIGKILL after as many again."""
    began = time.perf_counter()
    try:
        pid = os.posix_spawn(argv[0], argv, os.environ)
    except OSError as problem:
        return _write(answer, {"problem": f"does not start: {problem.strerror}"})
    stopped = _await_end(pid, patience)
    _, status, usage = os.wait4(pid, 0)
    found = {
        "took": time.perf_counter() - began,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_kib": usage.ru_maxrss,
        "status": os.waitstatus_to_exitcode(status),
        "stopped": stopped,
    }
    return _write(answer, found)


def _await_end(pid: int, patience: float) -> str:
    """Return the name of the last signal that was needed, or nothing."""
    watch, stopped = os.pidfd_open(pid), ""
    for number in SIGNALS:
        if select.select([watch], [], [], patience)[0]:
            break
        stopped = number.name
        os.kill(pid, number)
    return stopped


def _write(answer: str, found: dict[str, object]) -> None:
    with open(answer, "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3:])
