"""A host that was started by posix_spawn with plain signals: the C library leaves 32 and 33 ignored in it."""

import os
import sys

if len(sys.argv) == 1:
    signals = [number for number in range(1, 65) if number not in (9, 19, 32, 33)]
    pid = os.posix_spawn(
        sys.executable, [sys.executable, __file__, "host"], os.environ, setsigdef=signals, setsigmask=[]
    )
    os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

import firsthand

print(firsthand.run(["sh", "-c", "exit 3"], contain="group").containment)
