"""What the keeper sends to a live view: framed and bounded, the oldest left out and counted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.capture import Windows
from firsthand.process.live import FULL, GAP, MOST_QUEUED, STDERR, STDOUT, Frames, LivePump, Queue, left_out
from firsthand.process.pump import BUFFER_SIZE, Orders

if TYPE_CHECKING:
    from collections.abc import Iterator

Pipe = tuple[int, int]


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    ends = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    yield ends
    for fd in ends:
        try:
            os.close(fd)
        except OSError:  # the test has closed it
            continue


def everything(read_end: int, queue: Queue) -> list[tuple[int, bytes]]:
    """Return all frames: what is in the pipe, then the rest."""
    data = bytearray()
    try:
        while chunk := os.read(read_end, 1 << 16):
            data += chunk
    except BlockingIOError:
        pass
    return list(Frames().feed(bytes(data) + queue.rest()))


def test_a_queue_that_nobody_reads_is_bounded(pipe: Pipe) -> None:
    """What is passed on and what is left out are all that was put in; the newest is there, in order."""
    queue = Queue(pipe[1])
    for number in range(200):
        stream = (STDOUT, STDERR)[number % 2]
        queue.put(stream, memoryview(bytes([number]) * 10_000 * stream))
        assert queue.size <= MOST_QUEUED
    frames = everything(pipe[0], queue)
    (at,) = [at for at, (kind, _) in enumerate(frames) if kind == GAP]
    lost = left_out(frames.pop(at)[1])
    for stream in (STDOUT, STDERR):
        assert sum(len(data) for kind, data in frames if kind == stream) + lost[stream] == stream * 1_000_000
    numbers = [data[0] for _, data in frames]
    assert numbers == [*range(at), *range(200 - len(numbers) + at, 200)]
    assert not queue.waiting


def test_a_queue_whose_reader_is_gone_keeps_nothing(pipe: Pipe) -> None:
    """The front was killed: that is no error of the view's."""
    queue = Queue(pipe[1])
    os.close(pipe[0])
    for _ in range(10):
        queue.put(STDOUT, memoryview(b"x" * BUFFER_SIZE))
    assert (queue.gone, queue.waiting, queue.rest()) == (True, False, b"")


@given(st.lists(st.tuples(st.sampled_from([STDOUT, STDERR]), st.binary(max_size=40))), st.integers(1, 50))
def test_frames_in_any_pieces(frames: list[tuple[int, bytes]], size: int) -> None:
    """They come out as they were put in, wherever the reads cut them."""
    parser = Frames()
    data = b"".join(bytes([kind]) + len(content).to_bytes(4, "big") + content for kind, content in frames)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert [frame for piece in pieces for frame in parser.feed(piece)] == frames


def test_a_pump_waits_for_its_reader_only_so_long(pipe: Pipe, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the queue is full the command is not read; when the patience is over it is, and counted right."""
    monkeypatch.setattr("firsthand.process.live.PATIENCE", 0.2)
    queue, windows = Queue(pipe[1]), Windows()
    theirs, command = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    pump = LivePump(queue, [(theirs, windows)], Orders(), -1)
    written = 0
    while pump.patience > 0:
        written += fill(command)
        pump.turn(0.05)
    assert FULL <= queue.size <= MOST_QUEUED
    held = windows.total
    assert held < written
    written += fill(command)
    pump.turn(0)
    assert windows.total > held
    os.close(command)
    pump.finish()
    assert (windows.total, pump.open) == (written, False)
    frames = everything(pipe[0], queue)
    lost = sum(left_out(data)[STDOUT] for kind, data in frames if kind == GAP)
    assert sum(len(data) for kind, data in frames if kind == STDOUT) + lost == written


def fill(fd: int) -> int:
    """Write as much as a pipe takes."""
    written = 0
    try:
        while True:
            written += os.write(fd, b"x" * 65536)
    except BlockingIOError:
        return written
