"""A host of the library with runs in two threads at once, each of which leaves a stray of its own.

The order: ``contain``, ``rounds``, ``first`` and ``second`` (texts for ``sh -c``).
The report: ``first`` and ``second``, the ends of their runs: exit code, the strays' commands and actions, stdout.
"""

import json
import sys
import threading

import firsthand

order = json.loads(sys.argv[1])
report = {"first": [], "second": []}


def work(name):
    record = firsthand.run(["sh", "-c", order[name]], contain=order["contain"])
    strays = [[stray["command"], stray["action"]] for stray in record["strays"]]
    report[name].append([record["exit_code"], strays, record["stdout_tail"]])


for _ in range(order["rounds"]):
    threads = [threading.Thread(target=work, args=(name,)) for name in report]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(json.dumps(report), flush=True)
sys.stdin.buffer.read()
