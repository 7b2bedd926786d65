"""Signal names and dispositions, through ``_signal``: ``signal`` costs 5 ms of start-up for its enums."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal
else:
    import _signal

SIGCHLD, SIGCONT, SIGHUP, SIGINT = _signal.SIGCHLD, _signal.SIGCONT, _signal.SIGHUP, _signal.SIGINT
SIGKILL, SIGTERM = _signal.SIGKILL, _signal.SIGTERM

CANCELLING = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT)
"""Signals by which a caller asks us to stop."""

OURS_TO_IGNORE = (_signal.SIGPIPE, _signal.SIGXFSZ)
"""Ignored in our own processes: a vanished reader and a file size limit are errors to report, not deaths."""


def name(number: int) -> str:
    """Return ``SIGKILL`` for 9; real-time signals are named from SIGRTMIN."""
    for key in dir(_signal):
        if key.startswith("SIG") and "_" not in key and getattr(_signal, key) == number:
            return "SIGABRT" if key == "SIGIOT" else "SIGCHLD" if key == "SIGCLD" else key
    return f"SIGRTMIN+{number - _signal.SIGRTMIN}"


def every() -> list[int]:
    return sorted(int(number) for number in _signal.valid_signals())


def reap_by_itself() -> None:
    """Have the kernel throw away the statuses of ended children of this process."""
    _signal.signal(SIGCHLD, _signal.SIG_IGN)


def wake_by(numbers: tuple[int, ...], fd: int) -> None:
    """Write each of these signals as a byte to ``fd`` (non-blocking) when it arrives, and do nothing else.

    All signals are let through to this thread, whatever the caller has blocked.
    """
    _signal.set_wakeup_fd(fd, warn_on_full_buffer=False)
    for number in numbers:
        _signal.signal(number, _noted)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, [])


def reset() -> None:
    """Write no more signals to the descriptor of :func:`wake_by`; what a caller ignored has its default.

    Handlers of ours stay: the next :func:`wake_by` puts the same ones there.
    """
    _signal.set_wakeup_fd(-1)
    look, ignore = _signal.getsignal, _signal.SIG_IGN  # looked up once for all 64
    for number in [each for each in _signal.valid_signals() if look(each) == ignore]:
        if number not in OURS_TO_IGNORE:
            _signal.signal(number, _signal.SIG_DFL)


def cancel(fd: int) -> None:
    """Ask whoever reads at the other end of a pipe for a polite end; a second time for a hard one."""
    try:
        os.write(fd, bytes([int(SIGINT)]))
    except OSError:  # it has finished meanwhile
        return


def ignored(number: int) -> bool:
    """Tell whether the caller has this signal ignored, as ``nohup`` does with SIGHUP."""
    return bool(_signal.getsignal(number) == _signal.SIG_IGN)


def _noted(number: int, frame: object) -> None:
    """Have the C handler write the wake-up byte."""
