"""Start one program and stay its parent: tell how it ended and what it left behind.

Orders come on stdin, answers go to stdout, one a line. The first order says what to start::

    {"argv": [...], "env": {...}, "cwd": "...", "fds": [5, 6, 7], "terminal": false, "limits": {}}
                ->  {"pid": 12, "started": 34.5}, at its end {"status": 0, "ended": 35.1, "max_rss_kib": 9000}
    signal 2        sends that signal to the program alone, while it lives
    left 2.5    ->  {"left": [[13, "sleep 9"]]}: all of its descendants that still live, asked for up to 2.5 s
    end of file     kills the program and all that it left, and ends

Texts are bytes read as latin-1, ``status`` is negative for a signal, times are of the monotonic clock.
It is small, because the peak memory of a child starts at that of its parent; it sets every signal back
to its default; and it is a child subreaper, so that nothing that was started can hide by losing its parent.
"""

import ctypes
import json
import os
import resource
import select
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
TIOCSCTTY = 0x540E
TICK_MS = 20
"""How often orphans are reaped and ``left`` looks again."""
SWEEP_SECONDS = 5.0
"""What SIGKILL did not end by then is not ours to end."""


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    orders = Orders(0)
    start = json.loads(orders.first())
    started = time.monotonic()
    replaced, until_replaced = os.pipe()  # the other end is closed by the exec
    program = os.fork()
    if not program:
        become(start, until_replaced)
    for fd in {until_replaced, *start["fds"]}:
        os.close(fd)
    os.read(replaced, 1)
    say(pid=program, started=started)
    watch(orders, program)
    sweep()


def become(start, until_replaced):
    """Turn this forked child into the program."""
    try:
        os.setsid()
        for target, fd in enumerate(start["fds"]):
            os.dup2(fd, target)
        if start["terminal"]:
            import fcntl

            fcntl.ioctl(0, TIOCSCTTY, 0)
        os.closerange(3, until_replaced)
        os.closerange(until_replaced + 1, 4096)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.chdir(raw(start["cwd"]))
        for name, value in start["limits"].items():
            kind = getattr(resource, name)
            resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))
        argv = [raw(word) for word in start["argv"]]
        os.execvpe(argv[0], argv, {raw(name): raw(value) for name, value in start["env"].items()})
    except BaseException as error:
        os.write(2, f"case_launch: cannot start: {error!r}\n".encode())
    finally:
        os._exit(127)


def watch(orders, program):
    """Answer orders until their end of file."""
    poll = select.poll()
    poll.register(orders.fd, select.POLLIN)
    pidfd = os.pidfd_open(program)
    poll.register(pidfd, select.POLLIN)
    ended, asked_until = False, None
    while not orders.closed:
        poll.poll(TICK_MS)
        now = time.monotonic()
        for pid, status, usage in reap():
            if pid == program:
                ended = True
                poll.unregister(pidfd)
                say(status=os.waitstatus_to_exitcode(status), ended=now, max_rss_kib=usage.ru_maxrss)
        for word, value in orders.read():
            if word == "left":
                asked_until = now + float(value)
            elif not ended:
                os.kill(program, int(value))
        if asked_until is not None:
            left = living()
            if not left or now >= asked_until:
                say(left=left)
                asked_until = None


def reap():
    """Yield ``(pid, status, usage)`` of each child that has ended."""
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        yield pid, status, usage


def sweep():
    """Kill all that is left, by id."""
    until = time.monotonic() + SWEEP_SECONDS
    while (left := living()) and time.monotonic() < until:
        for pid, _ in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.005)
        for _ in reap():
            pass


def living():
    """Return ``[pid, command]`` of each descendant that is no zombie."""
    found, waiting = [], children(os.getpid())
    while waiting:
        pid = waiting.pop()
        waiting += children(pid)
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat, open(f"/proc/{pid}/cmdline", "rb") as cmdline:
                state = stat.read().rpartition(b")")[2].split()[0]
                words = cmdline.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state not in b"ZX":
            found.append([pid, words[:200]])
    return found


def children(pid):
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as listed:
                found += map(int, listed.read().split())
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


class Orders:
    """The lines that come on one descriptor."""

    def __init__(self, fd):
        self.fd = fd
        self.closed = False
        self.buffer = b""
        os.set_blocking(fd, True)

    def first(self):
        while b"\n" not in self.buffer:
            self.take()
            if self.closed:
                os._exit(0)
        line, _, self.buffer = self.buffer.partition(b"\n")
        os.set_blocking(self.fd, False)
        return line

    def read(self):
        try:
            self.take()
        except BlockingIOError:
            pass
        *lines, self.buffer = self.buffer.split(b"\n")
        return [line.decode().split() for line in lines]

    def take(self):
        data = os.read(self.fd, 65536)
        self.buffer += data
        self.closed = not data


def say(**answer):
    try:
        os.write(1, json.dumps(answer).encode() + b"\n")
    except BrokenPipeError:
        pass


def raw(text):
    return text.encode("latin-1")


if __name__ == "__main__":
    sys.exit(main())
