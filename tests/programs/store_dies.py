"""Append records and die by SIGKILL at one exact moment: store_dies.py FOLDER MOMENT [SIZE].

MOMENT: ``half`` (half of a line is written), ``line`` (a line without its line end is written), ``head`` (the line
is written, the head is not), ``rename:N`` (N files are renamed in a rotation).
"""

import os
import signal
import sys

from store_sample import sample

from firsthand.store.append import Store
from firsthand.store.place import Place

write, pwrite, rename = os.write, os.pwrite, os.rename


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def cut_write(keep):
    def cut(fd, data):
        if data.endswith(b"}\n"):
            write(fd, data[: keep(len(data))])
            die()
        return write(fd, data)

    return cut


def head_after_line():
    """Die at the head that follows a line, not at one that only catches up with a line of another writer."""
    written = []

    def note(fd, data):
        written.append(data)
        return write(fd, data)

    def no_head(*args):
        if written:
            die()
        return pwrite(*args)

    os.write, os.pwrite = note, no_head


def some_renames(most):
    left = [most]

    def some(*args, **options):
        if left[0]:
            rename(*args, **options)
        left[0] -= 1
        if left[0] <= 0:
            die()

    return some


def main():
    folder, moment, size = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 0
    store = Store(Place(os.path.dirname(folder), folder))
    if moment == "half":
        os.write = cut_write(lambda length: length // 2)
    elif moment == "line":
        os.write = cut_write(lambda length: length - 1)
    elif moment == "head":
        head_after_line()
    else:
        os.rename = some_renames(int(moment.partition(":")[2]))
    while True:
        store.append(sample(size))


if __name__ == "__main__":
    main()
