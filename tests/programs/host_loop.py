"""A host of the library that runs one command after another, and tells each record at once, until it is shot.

The order: ``text`` for ``sh -c``, to which a file name is given that begins with ``mark``; ``contain``; ``times``.
A line for each run: ``note``, ``command_id``, ``exit_code``, ``error``. When its stdin has
ended it ends too, after the first run that went undisturbed.
"""

import json
import os
import select
import sys

import firsthand

order = json.loads(sys.argv[1])
for number in range(order["times"]):
    mark = f"{order['mark']}-{number}"
    note = os.path.basename(mark)
    record = firsthand.run(["sh", "-c", order["text"], "sh", mark], note=note, contain=order["contain"])
    print(json.dumps({"note": note} | {key: record[key] for key in ("command_id", "exit_code", "error")}), flush=True)
    if record.error is None and select.select([0], [], [], 0)[0]:
        break
