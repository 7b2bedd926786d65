"""A library's runs awaited in asyncio: its loop watches one descriptor, no thread of its pool is taken."""

from __future__ import annotations

import asyncio
import os
import threading

from firsthand import hosted
from firsthand.process import host, signals, spawn
from firsthand.process.pump import Orders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from firsthand.record import Record
    from firsthand.request import Request


async def run_in_host(wanted: Request, stdin: int | None, contain: str) -> Record:
    """Do what :func:`firsthand.hosted.run_in_host` does, without blocking the loop.

    A cancelled one stops the command, waits for its record, and is raised again with it as ``.record``; a
    second cancel makes the end a hard one.
    """
    if contain == "group" and hosted.grouping_is_safe():
        return await _as_group(wanted, stdin)
    try:
        call = host.Call(hosted.KEEPER_ENTRY, {"request": vars(wanted)}, stdin)
    except host.NoKeeper as refusal:
        return hosted.not_started(wanted, refusal)
    try:
        cancelled = await _until(call.up, call.take, call.cancel)
        return _given(await _record(wanted, call), cancelled)
    finally:
        call.close()


async def _record(wanted: Request, call: host.Call) -> Record:
    try:
        answer = call.answer()
    except host.NoKeeper as refusal:
        return hosted.not_started(wanted, refusal)
    if answer is None:  # front and keeper were shot: to learn what came of it can take seconds
        return await asyncio.to_thread(hosted.record_of, wanted, answer)
    return hosted.record_of(wanted, answer)


async def _until(
    fd: int, take: Callable[[], bool], cancel: Callable[[], None]
) -> asyncio.CancelledError | None:
    """Wait until ``take`` has read all from ``fd``; return the cancellation that came meanwhile, if any."""
    cancelled: asyncio.CancelledError | None = None
    while True:
        try:
            await _readable(fd)
        except asyncio.CancelledError as caught:
            cancelled = caught
            cancel()
            continue
        if not take():
            return cancelled


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(fd, _note, ready)
    try:
        await ready
    finally:
        loop.remove_reader(fd)


def _note(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _given(record: Record, cancelled: asyncio.CancelledError | None) -> Record:
    if cancelled is None:
        return record
    cancelled.record = record  # type: ignore[attr-defined]
    raise cancelled


async def _as_group(wanted: Request, stdin: int | None) -> Record:
    """Run it in a thread of its own, which a pipe tells to stop and another one tells us that it is over."""
    control, stop = spawn.pipe()
    over, done = spawn.pipe()
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(hosted.run_as_group(wanted, stdin, Orders(control=control)))
        except BaseException as problem:  # noqa: BLE001  # raised again below, where somebody waits
            found.append(problem)
        os.close(done)

    threading.Thread(target=work, name="firsthand", daemon=True).start()
    try:
        cancelled = await _until(over, lambda: os.read(over, 1) != b"", lambda: signals.cancel(stop))
    finally:
        for fd in (control, stop, over):
            os.close(fd)
    if isinstance(found[0], BaseException):
        raise found[0]
    return _given(found[0], cancelled)
