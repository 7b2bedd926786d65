"""A command that leaves many processes behind that do not want to be stopped, says ``ready`` and sleeps.

    hostile.py DAEMONS REFORKERS [C_REFORKER COUNT] [loud] [together]

A daemon has a session of its own, no living parent, and ignores what can be ignored; every other one holds our
pipes, with ``loud`` all of them. With ``together`` all stay in one session and group. A re-forker does nothing
but fork itself and leave it to its child, as fast as it can. When all are there, the file ``ready`` is made as
well. While one lives the file ``alive`` is locked: no look at processes shows a re-forker for certain, the
kernel's lock does.
"""

import fcntl
import os
import signal
import sys

IGNORED = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGPIPE", "SIGUSR1")
QUIET = os.open("/dev/null", os.O_RDWR)
LOUD, TOGETHER = "loud" in sys.argv, "together" in sys.argv


def main():
    lock = os.open("alive", os.O_RDWR | os.O_CREAT, 0o600)
    os.set_inheritable(lock, True)
    fcntl.flock(lock, fcntl.LOCK_SH)
    daemons, reforkers, *more = (word for word in sys.argv[1:] if word not in ("loud", "together"))
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
    if not TOGETHER:
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
        if not TOGETHER:
            os.setsid()


main()
