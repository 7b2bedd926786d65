"""A host of the library that looks at itself after its first run, and again after many.

The order: ``runs``, ``contain``, ``argvs`` (each is run in turn), ``options``.
The report: ``before``, ``first`` and ``last``: all that a library must leave as it was.
"""

import ctypes
import json
import os
import resource
import signal
import sys
import threading

import firsthand

PR_GET_CHILD_SUBREAPER = 37


def main():
    order = json.loads(sys.argv[1])
    wakeup = os.pipe2(os.O_NONBLOCK)[1]
    signal.set_wakeup_fd(wakeup)
    signal.signal(signal.SIGUSR1, handler)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2] if order["contain"] == "keeper" else [])
    report = {"before": look(wakeup)}
    for number in range(order["runs"]):
        firsthand.run(order["argvs"][number % len(order["argvs"])], contain=order["contain"], **order["options"])
        if number in (len(order["argvs"]) - 1, order["runs"] - 1):
            report["first" if number < order["runs"] - 1 else "last"] = look(wakeup)
    print(json.dumps(report), flush=True)
    sys.stdin.buffer.read()


def handler(*_):
    """A handler of the host's own."""


def look(wakeup):
    subreaper = ctypes.c_int(-1)
    ctypes.CDLL(None).prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(subreaper), 0, 0, 0)
    signal.set_wakeup_fd(signal.set_wakeup_fd(-1))
    umask = os.umask(0)
    os.umask(umask)
    return {
        "fds": len(os.listdir("/proc/self/fd")),
        "children": children(),
        "threads": threading.active_count(),
        "handlers": [repr(signal.getsignal(number)) for number in sorted(signal.valid_signals())],
        "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "timers": [signal.getitimer(which) for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)],
        "wakeup": signal.set_wakeup_fd(wakeup) == wakeup,
        "subreaper": subreaper.value,
        "umask": umask,
        "cwd": os.getcwd(),
        "environ": len(os.environ),
        "nofile": resource.getrlimit(resource.RLIMIT_NOFILE),
        "group": [os.getpgid(0), os.getsid(0)] == [os.getpgid(os.getppid()), os.getsid(os.getppid())],
    }


def children():
    """Return state and command line of each child."""
    found = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children", encoding="ascii") as listed:
            pids = listed.read().split()
        for pid in pids:
            with open(f"/proc/{pid}/stat", "rb") as stat, open(f"/proc/{pid}/cmdline", "rb") as cmdline:
                state = stat.read().rpartition(b")")[2].split()[0].decode()
                found.append([state, cmdline.read().replace(b"\0", b" ").decode(errors="replace")])
    return found


main()
