"""A command that leaves many processes behind that do not want to be stopped, says ``ready`` and sleeps.

    hostile.py DAEMONS REFORKERS [C_REFORKER COUNT] [loud]

A daemon has a session of its own, no living parent, and ignores what can be ignored; every other one holds our
pipes, with ``loud`` all of them. A re-forker does nothing but fork itself and leave it to its child, as fast as
it can. When all are there, the file ``ready`` is made as well.
"""

import os
import signal
import sys

IGNORED = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGPIPE", "SIGUSR1")
QUIET = os.open("/dev/null", os.O_RDWR)
LOUD = "loud" in sys.argv


def main():
    daemons, reforkers, *more = (word for word in sys.argv[1:] if word != "loud")
    for number in range(int(daemons)):
        leave(number, signal.pause)
    for number in range(int(reforkers)):
        leave(number, refork)
    for number in range(int(more[1]) if more else 0):
        leave(number, lambda: os.execv(more[0], more[:1]))
    print("ready", flush=True)
    open("ready", "w").close()
    signal.pause()


def leave(number, work):
    """Do ``work`` for ever in a double-forked process."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for name in IGNORED:
        signal.signal(signal.Signals[name], signal.SIG_IGN)
    for fd in (1, 2) if number % 2 and not LOUD else ():
        os.dup2(QUIET, fd)
    work()


def refork():
    while True:
        if os.fork():
            os._exit(0)
        os.setsid()


main()
