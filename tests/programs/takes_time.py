"""A process that needs a moment for its last words.

    takes_time.py at_eof FILE       reads its input to the end, computes, and writes FILE
    takes_time.py at_sigterm FILE   makes FILE.ready; on SIGTERM it takes its time, writes FILE and leaves
"""

import signal
import sys
import time


def main():
    how, path = sys.argv[1:]
    if how == "at_eof":
        size = len(sys.stdin.buffer.read())
        while time.process_time() < 0.6:
            pass
        write(path, f"{size} bytes")
    else:
        signal.signal(signal.SIGTERM, lambda *_: clean_up(path))
        write(path + ".ready", "")
        while True:
            signal.pause()


def clean_up(path):
    time.sleep(0.7)
    write(path, "cleaned")
    sys.exit()


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


main()
