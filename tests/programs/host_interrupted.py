"""A host of the library whose user presses Ctrl+C while a command runs; then it runs another one.

The order: ``argv``, ``contain``, ``once`` (no second run; it ends at once).
The report: ``raised`` (the name of the exception, or null), ``record`` (that of the exception, or the returned one),
``next`` (exit code of a run after it), ``handler`` (whether SIGINT is still handled as before).
"""

import json
import signal
import sys

import firsthand

order = json.loads(sys.argv[1])
before = signal.getsignal(signal.SIGINT)
report = {"raised": None}
try:
    report["record"] = firsthand.run(order["argv"], contain=order["contain"], note="interrupted")
except BaseException as problem:
    report["raised"] = type(problem).__name__
    report["record"] = getattr(problem, "record", None)
report["handler"] = signal.getsignal(signal.SIGINT) is before
if not order.get("once"):
    report["next"] = firsthand.run(["sh", "-c", "exit 3"], contain=order["contain"]).exit_code
print(json.dumps(report), flush=True)
if not order.get("once"):
    sys.stdin.buffer.read()
