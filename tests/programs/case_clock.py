"""The command line, or with ``--library`` the library, while the wall clock steps back by an hour.

``case_clock.py FILE --library ARGV...`` prints the record and how long it really took as one JSON object;
``case_clock.py FILE ARGV...`` is ``firsthand ARGV...``. The clock steps 0.3 s after it was first read; FILE
gets a line for each reading, ``before`` or ``after`` the step, so that the caller can see that it was in use.
"""

import json
import os
import runpy
import sys
import time

STEP_NS = -3600 * 10**9
STEP_AFTER_SECONDS = 0.3


class Clock:
    """The wall clock, until it is set back."""

    def __init__(self, path):
        self.real = time.time_ns
        self.log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.first = None

    def time_ns(self):
        now = time.monotonic()
        self.first = self.first or now
        after = now - self.first >= STEP_AFTER_SECONDS
        try:
            os.write(self.log, b"after\n" if after else b"before\n")
        except OSError:  # a keeper closes the descriptors of its caller
            pass
        return self.real() + (STEP_NS if after else 0)

    def time(self):
        return self.time_ns() / 10**9


def main():
    path, *words = sys.argv[1:]
    import firsthand

    run = firsthand.run
    clock = Clock(path)
    time.time_ns, time.time = clock.time_ns, clock.time
    if words[0] != "--library":
        sys.argv[1:] = words
        runpy.run_module("firsthand", run_name="__main__", alter_sys=True)
        return
    started = time.monotonic()
    record = run(words[1:], timeout=60, contain="group")
    took_ms = (time.monotonic() - started) * 1000
    print(json.dumps({"record": record, "took_ms": took_ms}))


if __name__ == "__main__":
    main()
