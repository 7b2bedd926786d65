"""A host of the library that forks itself with multiprocessing while runs go on; parent and children all run commands.

The order: ``children``, ``runs`` (of each), ``contain``.
The report: ``parent`` and ``children``, the exit code and stdout of each run; ``statuses`` of the children.
"""

import json
import multiprocessing
import sys
import threading
import warnings

import firsthand

warnings.simplefilter("ignore")  # of a fork with threads; whoever does it must not pay with our records
order = json.loads(sys.argv[1])
fork = multiprocessing.get_context("fork")


def work(name, into):
    for number in range(order["runs"]):
        record = firsthand.run(["sh", "-c", f"echo {name} {number}; sleep 0.05; exit 7"], contain=order["contain"])
        into([record["exit_code"], record["stdout_tail"]])


def child(name, queue):
    work(name, queue.put)


def main():
    work("warm", lambda _: None)  # whatever is kept between runs is there before the fork
    parent, queue = [], fork.SimpleQueue()
    thread = threading.Thread(target=work, args=("parent", parent.append))
    thread.start()
    children = [fork.Process(target=child, args=(f"child-{number}", queue)) for number in range(order["children"])]
    for each in children:
        each.start()
    found = sorted(queue.get() for _ in range(order["children"] * order["runs"]))
    for each in children:
        each.join()
    thread.join()
    print(json.dumps({"parent": parent, "children": found, "statuses": [each.exitcode for each in children]}), flush=True)
    sys.stdin.buffer.read()


main()
