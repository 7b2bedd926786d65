"""The front: what the caller started; it forwards signals to the keeper and outlives it if need be."""

from __future__ import annotations

import os
import select
import time

from firsthand.process import channel, keeper, kernel, procfs, signals, spawn
from firsthand.process.reach import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from firsthand.process.keeper import Job
    from firsthand.process.procfs import Process


class KeeperDied(Exception):  # noqa: N818  # an event, and named as the record names it
    """The keeper was killed; what it ran has been ended, except the processes in ``left``."""

    def __init__(self, left: list[Process]) -> None:
        super().__init__("keeper died")
        self.left = left


def run(job: Job, keep: list[int]) -> Any:
    """Fork a keeper for the job and return its answer.

    Raises:
        KeeperDied: it was killed before it could answer.
    """
    wake = _listen()
    others = frozenset(procfs.children(os.getpid()))
    kernel.become_subreaper()
    control_read, control_write = spawn.pipe()
    answer_read, answer_write = spawn.pipe()
    pid = os.fork()
    if pid == 0:
        keeper.serve(job, control_read, answer_write, keep)
    os.close(control_read)
    os.close(answer_write)
    born = procfs.look(pid)
    message = _wait(answer_read, control_write, wake)
    spawn.wait(pid, 0)
    if message is None:
        raise KeeperDied(_sweep(others, born.start if born else 0, wake))
    return message


def _listen() -> int:
    """Have cancelling signals arrive as bytes; one that ``nohup`` had ignored stays ignored."""
    wake, ring = spawn.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(ring, False)
    numbers = [
        number for number in signals.CANCELLING if number != signals.SIGHUP or not signals.ignored(number)
    ]
    signals.default(signals.SIGCHLD)
    signals.wake_by(tuple(numbers), ring)
    signals.unblock()
    return wake


def _wait(answer: int, control: int, wake: int) -> Any | None:
    """Pass signals on until the answer is whole or the keeper is gone."""
    inbox = channel.Inbox()
    poller = select.poll()
    poller.register(answer, select.POLLIN)
    poller.register(wake, select.POLLIN)
    while True:
        for fd, _ in poller.poll():
            if fd == answer and not inbox.take(answer):
                return inbox.message()
            if fd == wake:
                _forward(wake, control)


def _forward(wake: int, control: int) -> None:
    try:
        os.write(control, os.read(wake, 64))
    except OSError:  # the keeper is gone: its end-of-file says so
        return


def _sweep(others: frozenset[int], since: int, wake: int) -> list[Process]:
    """End what the dead keeper ran: orphaned to us, as the next subreaper above it."""
    from firsthand.process.ending import end_all

    tree = Tree(spared=others, since=since)
    poller = select.poll()
    poller.register(wake, select.POLLIN)
    return end_all(
        tree, lambda seconds: _sleep(poller, seconds), time.monotonic, lambda: bool(poller.poll(0))
    )


def _sleep(poller: select.poll, seconds: float) -> None:
    poller.poll(max(1, int(seconds * 1000)))


def ensure_stdio() -> None:
    """Put ``/dev/null`` on standard descriptors that the caller closed, before something else lands there."""
    while True:
        fd = os.open(os.devnull, os.O_RDWR)
        if fd >= spawn.FIRST_FREE_FD:
            os.close(fd)
            return
        os.set_inheritable(fd, True)
