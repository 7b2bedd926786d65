"""A host of the library that runs commands one after another and reports what came.

The order: ``argvs`` (each is run), ``times`` (default 1), ``contain``, ``options`` (more arguments of the call),
``host``: ``plain``, ``ignores`` (SIGCHLD), ``reaps`` (a thread collects every child that it can get), ``blocks``
(SIGCHLD is blocked in this thread); ``opens`` (inheritable descriptors); ``nofile`` (the limit of descriptors,
set after the imports).
The report: ``ends`` (exit code, error, containment, standard output of each record), ``raised``.
"""

import json
import os
import resource
import signal
import sys
import threading
import time
import traceback

import firsthand


def main():
    order = json.loads(sys.argv[1])
    become(order.get("host", "plain"))
    surround(order.get("opens", ()), order.get("nofile"))
    report = {"ends": [], "raised": None}
    try:
        for _ in range(order.get("times", 1)):
            for argv in order["argvs"]:
                record = firsthand.run(argv, contain=order["contain"], **order.get("options", {}))
                report["ends"].append([record[key] for key in ("exit_code", "error", "containment", "stdout_tail")])
    except BaseException:
        report["raised"] = traceback.format_exc()
    print(json.dumps(report), flush=True)
    sys.stdin.buffer.read()


def become(kind):
    if kind == "ignores":
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    elif kind == "blocks":
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    elif kind == "reaps":
        threading.Thread(target=reap, daemon=True).start()


def surround(opens, nofile):
    for fd in opens:
        os.dup2(0, fd)
    if nofile:
        firsthand.run  # resolved before the limit comes
        resource.setrlimit(resource.RLIMIT_NOFILE, (nofile, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def reap():
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            time.sleep(0.0002)


main()
