"""Hang as a development server does: a worker holds this command's output, and nobody ends it."""

import subprocess
import sys

WORKER = "import time; time.sleep(600)"
"""Ten minutes are for ever to whoever waits, and an end for a forgotten one."""

print("starting the worker ...", flush=True)
with subprocess.Popen([sys.executable, "-c", WORKER]) as worker:
    print("waiting for it to be ready ...", flush=True)
    sys.exit(worker.wait())
