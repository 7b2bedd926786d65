"""Become another program, but first do to this process what an odd caller would have done.

    start_with.py [--ignore NAMES] [--block NAMES] [--close FDS] [--open FDS] [--gone DIR] -- ARGV...

NAMES and FDS are joined by commas. ``--open`` opens inheritable descriptors, ``--gone`` makes DIR, goes there
and removes it.
"""

import os
import signal
import sys


def main():
    options, argv = split(sys.argv[1:])
    for name in options.get("--ignore", ()):
        signal.signal(signal.Signals[name], signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.Signals[name] for name in options.get("--block", ())])
    for folder in options.get("--gone", ()):
        os.mkdir(folder)
        os.chdir(folder)
        os.rmdir(folder)
    for fd in map(int, options.get("--open", ())):
        os.dup2(os.open("/dev/null", os.O_RDWR), fd)
    for fd in map(int, options.get("--close", ())):
        os.close(fd)
    os.execvp(argv[0], argv)


def split(words):
    end = words.index("--")
    pairs = words[:end]
    return dict(zip(pairs[::2], (value.split(",") for value in pairs[1::2]))), words[end + 1 :]


main()
