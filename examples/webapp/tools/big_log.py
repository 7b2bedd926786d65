"""Write 50 MB of log: 625,000 lines of 80 bytes, one of them an ERROR, 12 before the end."""

import sys

LINES = 625_000
BLOCK = 5_000
ERROR_AT = LINES - 12


def line(number):
    if number == ERROR_AT:
        text = f"{number:07d} ERROR links: slug table is full, the last link was not stored"
    else:
        text = f"{number:07d} INFO  web: GET /links/{number % 9973:04d} answered 200 in {number % 17:02d} ms"
    return text.ljust(79) + "\n"


for start in range(1, LINES + 1, BLOCK):
    sys.stdout.write("".join(map(line, range(start, start + BLOCK))))
