"""A host of the library that changes what its children inherit between its runs.

The order: ``argv``, ``contain``, ``folders`` (it goes to each in turn).
The report: ``said``, the standard output of each run; before it, the folder, the umask, a variable and a limit are new.
"""

import json
import os
import resource
import sys

import firsthand

order = json.loads(sys.argv[1])
said = []
for number, folder in enumerate(order["folders"]):
    os.chdir(folder)
    os.umask(0o20 + number)
    os.environ["FH_NUMBER"] = str(number)
    resource.setrlimit(resource.RLIMIT_NOFILE, (500 + number, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    said.append(firsthand.run(order["argv"], contain=order["contain"]).stdout_tail)
print(json.dumps({"said": said}), flush=True)
sys.stdin.buffer.read()
