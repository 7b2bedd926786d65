"""Goes on printing to both streams for some seconds, then writes how that went into a file.

    chatty.py SECONDS FILE
"""

import os
import signal
import sys
import time

signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # then a lost reader is an error that can be told
until = time.monotonic() + float(sys.argv[1])
end = "printed to the end"
try:
    while time.monotonic() < until:
        for fd in (1, 2):
            os.write(fd, b"still here\n" * 100)
        time.sleep(0.01)
except OSError as problem:
    end = repr(problem)
with open(sys.argv[2] + ".new", "w", encoding="utf-8") as file:
    file.write(end)
os.rename(sys.argv[2] + ".new", sys.argv[2])
