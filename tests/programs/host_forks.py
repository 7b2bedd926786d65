"""A host of the library that forks a child of its own while a run goes on; both live until they are shot.

The order: ``mark``, a file that the command makes. The pid of the child is told when both are there.
"""

import json
import os
import signal
import sys
import threading
import time
import warnings

import firsthand

warnings.simplefilter("ignore")  # a fork with threads: newer interpreters warn, hosts do it all the same
order = json.loads(sys.argv[1])
command = ["sh", "-c", ': >"$1"; sleep 300', "sh", order["mark"]]
threading.Thread(target=firsthand.run, args=(command,), daemon=True).start()
while not os.path.exists(order["mark"]):
    time.sleep(0.01)
child = os.fork()
if not child:
    os.closerange(1, 3)  # the test waits for the end of these
    signal.pause()
print(child, flush=True)
signal.pause()
