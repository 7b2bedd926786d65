"""Begin a run and wait to be killed: store_runner.py FOLDER [WITH]. Prints the command_id once it is begun.

WITH: ``child`` (start a child that sleeps and note it; prints its pid too), ``fork`` (a second process holds the
lock too; prints its pid), ``stored`` (the record is stored, the running file is not yet taken away).
"""

import os
import signal
import subprocess
import sys

from store_sample import sample

from firsthand.store.append import Store
from firsthand.procfs import start_stamp
from firsthand.store.place import Place
from firsthand.store.running import begin


def main():
    folder, extra = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    place = Place(os.path.dirname(folder), folder)
    record = sample()
    running = begin(place, record)
    other = 0
    if extra == "child":
        other = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).pid
        running.child(other, start_stamp(other))
    elif extra == "fork":
        other = os.fork()
    elif extra == "stored":
        Store(place).append(record)
    if extra != "fork" or other:
        os.write(1, f"{record.command_id} {other}\n".encode())
    signal.pause()


if __name__ == "__main__":
    main()
