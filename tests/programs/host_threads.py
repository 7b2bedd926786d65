"""A host of the library with many runs at once, in threads of its own or in those of asyncio, beside children of its own.

The order: ``how`` (``threads``, ``asyncio``), ``threads``, ``runs`` (of each thread), ``contain``.
Run r of thread t prints ``t r`` on stdout and ``err t r`` on stderr, and exits with 10*t+r. Meanwhile the host has
children: Popen, fork, and under asyncio its own subprocesses; each exits with a number of its own.
The report: ``ends`` (thread, run, exit code, stdout, stderr), ``children`` (expected and reported status), ``raised``.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
import traceback
import warnings

import firsthand

warnings.simplefilter("ignore")  # a fork with threads: newer interpreters warn, hosts do it all the same
order = json.loads(sys.argv[1])
report = {"ends": [], "children": [], "raised": []}
SCRIPT = 'echo "$1 $2"; echo "err $1 $2" >&2; sleep 0.0$2; exit $(($1 * 10 + $2))'


def main():
    {"threads": in_threads, "asyncio": lambda: asyncio.run(in_asyncio())}[order["how"]]()
    report["ends"].sort()
    print(json.dumps(report), flush=True)
    sys.stdin.buffer.read()


def in_threads():
    workers = [threading.Thread(target=work, args=(number,)) for number in range(order["threads"])]
    for worker in workers:
        worker.start()
    number = 0
    while any(worker.is_alive() for worker in workers):
        number += 1
        own_children(number % 100)
    for worker in workers:
        worker.join()


async def in_asyncio():
    runs = [asyncio.to_thread(work, number) for number in range(order["threads"])]
    await asyncio.gather(*runs, *(async_child(number) for number in range(20)))


async def async_child(number):
    await asyncio.sleep(number / 50)
    child = await asyncio.create_subprocess_exec("sh", "-c", f"exit {number}", stdout=subprocess.PIPE)
    await child.communicate()
    report["children"].append([number, child.returncode])


def own_children(number):
    """Start two children in the two usual ways, and note how they ended."""
    child = subprocess.Popen(["sh", "-c", f"sleep 0.02; exit {number}"])
    pid = os.fork()
    if not pid:
        time.sleep(0.01)
        os._exit(number)
    report["children"].append([number, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])])
    report["children"].append([number, child.wait()])


def work(thread):
    try:
        for number in range(order["runs"]):
            argv = ["sh", "-c", SCRIPT, "sh", str(thread), str(number)]
            record = firsthand.run(argv, contain=order["contain"])
            report["ends"].append([thread, number, *(record[k] for k in ("exit_code", "stdout_tail", "stderr_tail"))])
    except BaseException:
        report["raised"].append(traceback.format_exc())


main()
