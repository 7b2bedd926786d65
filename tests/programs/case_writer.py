"""A host that runs commands with the library as it is told: one JSON order a line, one JSON answer a line.

An order: ``runs`` (so many, default 1), or ``bytes`` (until the records come to so many), ``until`` (no more
once this file is there); ``lines`` of ``width`` characters that begin with ``mark`` is what each run prints,
unless ``argv`` is given; ``contain``; ``fsize`` (the soft RLIMIT_FSIZE from now on, null for none).
The answer: ``records`` with what the caller compares, ``raised`` (a traceback or null).
"""

import json
import os
import resource
import sys
import traceback

import firsthand

COMPARED = ("command_id", "exit_code", "error", "log_error", "seq", "prev_hash", "hash", "torn")


def main():
    answer(ready=True)
    for line in sys.stdin:
        order = json.loads(line)
        if "fsize" in order:
            limit(order["fsize"])
        records = []
        try:
            work(order, records)
            answer(records=records, raised=None)
        except BaseException:
            answer(records=records, raised=traceback.format_exc())


def work(order, records):
    size = 0
    while not done(order, len(records), size):
        record = firsthand.run(argv(order, len(records)), timeout=60, contain=order.get("contain", "keeper"))
        records.append({key: record[key] for key in COMPARED})
        size += len(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode())


def done(order, runs, size):
    if "until" in order and os.path.exists(order["until"]):
        return True
    if "bytes" in order:
        return size >= order["bytes"]
    return runs >= order.get("runs", 1)


def argv(order, number):
    if "argv" in order:
        return order["argv"]
    begin, width = f"{order.get('mark', 'w')}-{number}", order.get("width", 20)
    lines = [f"{begin}-{line}-".ljust(width, "x") for line in range(order.get("lines", 1))]
    return ["printf", "%s\\n", *lines]


def limit(size):
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard if size is None else size, hard))


def answer(**value):
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
