"""A run as a person sees it: its output as it comes, a line while it is quiet, a line at its end."""

from __future__ import annotations

import math
import os
import select
from collections import deque

from firsthand.cli import view
from firsthand.cli.terminal import DIM, RED, Sink, Status
from firsthand.gate.one import agent_may_continue
from firsthand.process import front, signals, spawn
from firsthand.process.live import GAP, STDERR, STDOUT, Frames, Queue, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from firsthand.record import Record

QUIET = 10.0
"""Seconds without output after which a line says that the run goes on."""

CHUNK = 64 * 1024
"""Bytes of one read from the keeper: all that its pipe holds."""

STOPPING = "firsthand: stopping (Ctrl+C again: at once)"
STOPPING_AT_ONCE = "firsthand: stopping at once"
LEAVING_OUT = (
    "firsthand: more is printed than is read here: from here on parts are left out (not of the record)"
)
"""What is said at the first place; the bytes are counted, and the count is said at the end."""

MOST_STRAYS = 2
"""Processes that the line about a record names."""


class Screen:
    """Shows one run: ``apart`` puts its streams to ours, else both go to standard error.

    What was not yet taken waits in ``pending``, in order; more is read from the keeper only when that is
    empty, so it never grows.
    """

    def __init__(self, *, apart: bool = True, quiet: float = QUIET) -> None:
        self.err = Sink(2)
        self.sinks = {STDOUT: Sink(1) if apart else self.err, STDERR: self.err}
        self.pending: deque[tuple[Sink, memoryview]] = deque()
        self.source = self.wake = -1
        self._frames = Frames()
        self._unfinished: set[int] = set()
        self._status = Status(self.err, quiet)
        self._signals = self._left_out = 0
        self._given_up = False

    def open(self) -> Queue:
        """Make the pipe that the keeper fills; return its side."""
        self.source, write_end = spawn.pipe(os.O_NONBLOCK)
        return Queue(write_end)

    def relay(self, keeper: int, answer: int, control: int, wake: int, callers: Sequence[int]) -> front.Relay:
        """Return the relay that shows what arrives while it waits for the answer."""
        self.wake = wake
        return LiveRelay(self, keeper, answer, control, wake, callers)

    def read(self) -> bool:
        """Show what the keeper has sent; False when nothing is there."""
        try:
            data = os.read(self.source, CHUNK)
        except BlockingIOError:
            return False
        self.take(data)
        return bool(data)

    def take(self, data: bytes) -> None:
        """Show frames of the command's output."""
        for kind, content in self._frames.feed(data):
            if kind == GAP:
                self._leave_out(left_out(content))
            else:
                self._show(self.sinks[kind], content)
        self.flush()

    def heard(self, data: bytes) -> None:
        """Say what is done about signals of the caller."""
        for number in data:
            if number in signals.CANCELLING:
                self._signals += 1
                if self.err.terminal:
                    self._say(STOPPING if self._signals == 1 else STOPPING_AT_ONCE)
        self.flush()

    def wait(self) -> float | None:
        """Return in how many seconds there is something to do without a cause, or None."""
        return None if self.pending or self._signals else self._status.due()

    def tick(self) -> None:
        """Do what is due: the status line."""
        if self.wait() == 0:
            alone = self._status.shown or self.err.place not in self._unfinished
            line = self._status.line()
            self._put(self.err, line if alone or not line else "\n" + line)
            self.flush()

    def end(self, record: Record) -> None:
        """Write the one line about the record."""
        if self._left_out:
            self._say(f"firsthand: {self._left_out:,} bytes were left out above")
        self._say(summary(record), DIM if agent_may_continue(record)[0] else RED)
        self.drain()

    def flush(self) -> None:
        """Write what is taken now."""
        while self.pending and self.pending[0][0].ready():
            sink, data = self.pending.popleft()
            try:
                written = sink.write(data)
            except OSError as problem:
                self._say(f"firsthand: note: the output cannot be shown ({problem.strerror})")
                continue
            if written < len(data):
                self.pending.appendleft((sink, data[written:]))
            if not written:  # room for less than the next character takes up
                return

    def drain(self) -> None:
        """Write all that waits, for as long as it takes, unless a signal says that nobody wants it."""
        self.flush()
        while self.pending and not self._given_up:
            poller = select.poll()
            poller.register(self.pending[0][0].out, select.POLLOUT)
            if self.wake >= 0:  # no signals were asked for where nothing could be started
                poller.register(self.wake, select.POLLIN)
            for fd, _ in poller.poll():
                if fd == self.wake:
                    self._given_up = any(number in signals.CANCELLING for number in os.read(fd, CHUNK))
            self.flush()
        self.pending.clear()

    def _show(self, sink: Sink, data: bytes) -> None:
        """Write the command's bytes."""
        self._rub_out()
        self.pending.append((sink, memoryview(data)))
        (self._unfinished.discard if data.endswith(b"\n") else self._unfinished.add)(sink.place)
        self._status.heard()

    def _leave_out(self, counts: dict[int, int]) -> None:
        """Count what was left out, and say so at the first place."""
        lost = sum(count for stream, count in counts.items() if not self.sinks[stream].gone)
        if lost and not self._left_out:
            self._say(LEAVING_OUT)
        self._left_out += lost

    def _say(self, text: str, style: str = DIM) -> None:
        """Write a line of our own, on a line of its own; at a terminal it hides the echo of Ctrl+C."""
        self._rub_out()
        start = "\n" if self.err.place in self._unfinished else "\r" if self.err.terminal else ""
        self._put(self.err, f"{start}{self.err.style(text, style)}\n")

    def _put(self, sink: Sink, text: str) -> None:
        """Write a text of ours, after which the cursor is at the start of a line."""
        if text:
            self.pending.append((sink, memoryview(text.encode("utf-8", "replace"))))
            self._unfinished.discard(sink.place)

    def _rub_out(self) -> None:
        if self._status.shown:
            self._put(self.err, self._status.rub_out())


class LiveRelay(front.Relay):
    """A relay that shows what the keeper sends on while it waits for the answer."""

    def __init__(
        self, screen: Screen, keeper: int, answer: int, control: int, wake: int, callers: Sequence[int]
    ) -> None:
        super().__init__(keeper, answer, control, wake, callers)
        self.screen = screen
        self._armed = -1

    def wait(self) -> Any | None:
        """Return the answer when all is shown, or None when the keeper died before it was whole."""
        while True:
            self._arm()
            seconds = self.screen.wait()
            for fd, _ in self.poller.poll(None if seconds is None else math.ceil(seconds * 1000)):
                if fd == self.answer:
                    if not self.inbox.take(fd):
                        return self._show_rest()
                elif fd == self.screen.source:
                    self.screen.read()
                elif fd == self._armed:
                    self.screen.flush()
                else:
                    self.screen.heard(self._pass_on(fd))
            self.screen.tick()

    def _arm(self) -> None:
        """Look at what the keeper sends, or at the stream that must take what waits before that."""
        pending = self.screen.pending
        fd, event = (pending[0][0].out, select.POLLOUT) if pending else (self.screen.source, select.POLLIN)
        if fd != self._armed:
            if self._armed >= 0:
                self.poller.unregister(self._armed)
            self.poller.register(fd, event)
            self._armed = fd

    def _show_rest(self) -> Any | None:
        message = self.inbox.message()
        while self.screen.read():
            pass
        self.screen.take((message or {}).get("live", b""))
        self.screen.drain()
        return message


def summary(record: Record) -> str:
    """Return what a person needs to know of a record after having seen the output, in one line."""
    parts = [view.verdict(record)]
    parts += [record["error_detail"]] if record["error_detail"] else []
    parts += [f"{stray['action']}: {stray['command']}" for stray in record["strays"][:MOST_STRAYS]]
    parts += ["more in the record"] if len(record["strays"]) > MOST_STRAYS else []
    parts += [f"not recorded: {record['log_error']}"] if record["log_error"] else []
    text = "; ".join(part.rstrip(".") for part in parts)
    return f"firsthand: {text}; record {record['command_id']}".replace("\n", "\u2424")
