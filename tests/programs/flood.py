"""Floods both streams as fast as it can, each with its own text, then leaves with exit code 5.

    flood.py LINES
"""

import os
import sys

LINES = int(sys.argv[1])
AT_ONCE = 500
for first in range(0, LINES, AT_ONCE):
    for fd, name in ((1, "out"), (2, "err")):
        data = "".join(f"{name} line {first + number}\n" for number in range(min(AT_ONCE, LINES - first))).encode()
        while data:
            data = data[os.write(fd, data) :]
os._exit(5)
