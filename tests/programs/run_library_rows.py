"""Run one row of the case file with the library, all its runs in this one process.

The only argument names a JSON file: ``argv``, ``timeout``, ``cwd``, ``repeat`` and ``nofile`` (or null).
One line of JSON goes to stdout; then the process lives on until its stdin ends, as a host would.
"""

import json
import os
import resource
import sys
import time
import traceback

import firsthand


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        row = json.load(file)
    report = {"records": [], "seconds": [], "fds": [], "raised": None}
    try:
        warm_up()
        if row["nofile"]:
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (row["nofile"], hard))
        for number in range(row["repeat"]):
            run(row, report)
            if number in {0, row["repeat"] - 1}:
                report["fds"].append(open_descriptors())
    except BaseException:
        report["raised"] = traceback.format_exc()
    report["finished"] = time.monotonic()
    print(json.dumps(report), flush=True)
    sys.stdin.buffer.read()


def open_descriptors():
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:  # not even one is left for this
        return None


def warm_up():
    """Resolve the lazy public name, so that the limit comes after the imports."""
    return firsthand.run


def run(row, report):
    started = time.monotonic()
    record = firsthand.run(row["argv"], timeout=row["timeout"], cwd=row["cwd"])
    report["seconds"].append(time.monotonic() - started)
    report["records"].append(dict(record))


if __name__ == "__main__":
    main()
