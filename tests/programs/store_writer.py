"""Append records: store_writer.py FOLDER COUNT SIZE. Prints one line for each: its id, its number, its log_error.

Waits for a line on standard input first, so that several can begin at once. COUNT 0 goes on until killed.
"""

import itertools
import os
import sys

from store_sample import sample

from firsthand.store.append import Store
from firsthand.store.place import Place


def main():
    folder, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    store = Store(Place(os.path.dirname(folder), folder))
    sys.stdin.readline()
    for _ in range(count) if count else itertools.count():
        record = store.append(sample(size))
        # One write a line: what stands here has been acknowledged, whatever happens to us next.
        os.write(1, f"{record.command_id} {record.seq} {record.log_error}\n".encode())


if __name__ == "__main__":
    main()
