"""The keeper: the process of our own that runs the command, whoever of the others dies."""

from __future__ import annotations

import os

from firsthand.process import channel, kernel, signals, spawn
from firsthand.process.pump import Orders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Job = Callable[[Orders, str], tuple[Any, list[int]]]
    """Runs the command, given the orders and how far containment reaches; returns the answer to send and
    the streams that a kept stray still holds."""


def serve(job: Job, control: int, answer: int, keep: list[int]) -> None:
    """Do the job as a keeper and leave this process; never returns.

    ``control`` is the read end whose end-of-file means that the caller is gone, ``answer`` the write end for
    the one message, ``keep`` further descriptors of ours that stay open.
    """
    try:
        _serve(job, control, answer, keep)
    finally:  # whatever happens, this copy of the caller must not go on as if it were the caller
        os._exit(0)


def _serve(job: Job, control: int, answer: int, keep: list[int]) -> None:
    kept: list[int] = []
    try:
        orders = _prepare(control, [answer, *keep])
        containment = "subreaper" if kernel.become_subreaper() else "group"
        message, kept = job(orders, containment)
    except BaseException:  # noqa: BLE001  # a fault of ours must reach the caller as such, not as silence
        from firsthand.process import aftermath

        message = {"crash": aftermath.fault()}
        aftermath.end_everything()
    channel.send(answer, message)
    if kept:
        from firsthand.process import reader

        reader.leave(kept)


def _prepare(control: int, keep: list[int]) -> Orders:
    """Cut every tie to the caller: its session, descriptors, terminal, ignored and blocked signals."""
    signals.reset()
    if os.getpid() != os.getsid(0):
        os.setsid()
    os.closerange(0, spawn.FIRST_FREE_FD)  # first: to list the others takes a descriptor
    close_all_but([control, *keep])
    null_stdio()
    wake, ring = spawn.pipe(os.O_NONBLOCK)
    signals.wake_by((*signals.CANCELLING, signals.SIGCHLD), ring)
    return Orders(control, wake)


def close_all_but(keep: list[int]) -> None:
    """Close every descriptor that the caller left open, so that nobody waits on us for end-of-file."""
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd not in keep:
            try:
                os.close(fd)
            except OSError:  # the one of the listing itself
                continue


def null_stdio() -> None:
    """Put ``/dev/null`` on standard input, output and error."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(spawn.FIRST_FREE_FD):
        if fd != null:
            os.dup2(null, fd)
    if null >= spawn.FIRST_FREE_FD:
        os.close(null)
