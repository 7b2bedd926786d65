"""The front: what the caller started; it forwards signals to the keeper and outlives it if need be."""

from __future__ import annotations

import os
import select

from firsthand import procfs
from firsthand.process import channel, keeper, kernel, signals, spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from firsthand.process.keeper import Job
    from firsthand.survey import Process

    MakeRelay = Callable[[int, int, int, int, Sequence[int]], "Relay"]


class KeeperDied(Exception):  # noqa: N818  # an event, and named as the record names it
    """The keeper was killed; what it ran has been ended, except the processes in ``left``."""

    def __init__(self, left: list[Process]) -> None:
        super().__init__("keeper died")
        self.left = left


def run(job: Job, keep: list[int], callers: Sequence[int] = (), make_relay: MakeRelay | None = None) -> Any:
    """Fork a keeper for the job and return its answer.

    ``callers`` are further descriptors that speak for a caller: what arrives on one is passed on, and its
    end of file (or a pidfd becoming readable) means that the caller is gone. ``make_relay`` makes another
    :class:`Relay`, one that shows what happens.

    Raises:
        KeeperDied: it was killed before it could answer.
        OSError: the system had nothing left to start it with.
    """
    spawn.require_room()
    kernel.become_subreaper()
    others = _children()
    ends: list[int] = []
    try:
        wake = _listen(ends)
        ends += spawn.pipe()
        ends += spawn.pipe()
        pid = os.fork()
    except OSError:
        for fd in ends:
            os.close(fd)
        raise
    control_read, control_write, answer_read, answer_write = ends[2:]
    if pid == 0:
        keeper.serve(job, control_read, answer_write, keep)
    os.close(control_read)
    os.close(answer_write)
    message = (make_relay or Relay)(pid, answer_read, control_write, wake, callers).wait()
    if message is None:
        from firsthand.process import aftermath

        raise KeeperDied(aftermath.sweep(pid, others, wake))
    spawn.wait(pid, 0)
    return message


def _children() -> frozenset[int]:
    """Return the children that we have already: a shell that execs us may leave us its background jobs."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return frozenset()
    return frozenset(procfs.children(os.getpid()))


def _listen(ends: list[int]) -> int:
    """Have cancelling signals arrive as bytes; one that ``nohup`` had ignored stays ignored."""
    wake, ring = spawn.pipe(os.O_NONBLOCK)
    ends += (wake, ring)
    numbers = [
        number for number in signals.CANCELLING if number != signals.SIGHUP or not signals.ignored(number)
    ]
    signals.wake_by((*numbers, signals.SIGCHLD), ring)
    return wake


class Relay:
    """Passes on to the keeper what the caller says, until the answer is whole or the keeper is gone."""

    __slots__ = ("answer", "control", "inbox", "keeper", "poller")

    def __init__(self, keeper: int, answer: int, control: int, wake: int, callers: Sequence[int]) -> None:
        self.keeper = keeper
        self.answer = answer
        self.control = control
        self.inbox = channel.Inbox()
        self.poller = select.poll()
        for fd in (answer, wake, *callers):
            self.poller.register(fd, select.POLLIN)

    def wait(self) -> Any | None:
        """Return the answer, or None when the keeper died before it was whole."""
        while True:
            for fd, _ in self.poller.poll():
                if fd != self.answer:
                    self._pass_on(fd)
                elif not self.inbox.take(fd):
                    return self.inbox.message()

    def _pass_on(self, fd: int) -> bytes:
        """Pass on what has come on one descriptor, and return it."""
        try:
            data = os.read(fd, 64)
        except BlockingIOError:
            return b""
        except OSError:  # a pidfd: readable once its process is gone, and never by read()
            data = b""
        if not data:
            self.poller.unregister(fd)
            self._hang_up()
        if signals.SIGCHLD in data:
            self._wake_keeper()
        if data and self.control >= 0:
            try:
                os.write(self.control, data)
            except OSError:  # the keeper is gone: its end-of-file says so
                return data
        return data

    def _wake_keeper(self) -> None:
        """Let a keeper go on that its own command has stopped (``kill -STOP $PPID``)."""
        flags = os.WSTOPPED | os.WNOHANG
        try:
            if os.waitid(os.P_PID, self.keeper, flags):
                os.kill(self.keeper, signals.SIGCONT)
        except (ChildProcessError, ProcessLookupError):
            return

    def _hang_up(self) -> None:
        """The caller is gone: the keeper sees its control pipe end."""
        if self.control >= 0:
            os.close(self.control)
            self.control = -1


def ensure_stdio() -> None:
    """Put ``/dev/null`` on standard descriptors that the caller closed, before something else lands there."""
    while True:
        fd = os.open(os.devnull, os.O_RDWR)
        if fd >= spawn.FIRST_FREE_FD:
            os.close(fd)
            return
        os.set_inheritable(fd, True)
