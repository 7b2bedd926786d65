"""The kernel call that Python's ``os`` lacks, through ``_ctypes`` (``ctypes`` costs five times more)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Prctl = Callable[[int, int, int, int, int], int]

PR_SET_CHILD_SUBREAPER = 36
"""linux/prctl.h: orphaned descendants come to this process instead of init."""

_found: list[Prctl | None] = []


def become_subreaper() -> bool:
    """Make this process adopt its orphaned descendants; False where the system cannot.

    Only ever called in a process of our own: in a host it would adopt the host's orphans too.
    """
    prctl = find()
    return prctl is not None and prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def find() -> Prctl | None:
    """Return the call, found once for this process and its forks; None where the system has none."""
    if not _found:
        _found.append(_prctl())
    return _found[0]


def _prctl() -> Prctl | None:
    try:
        import _ctypes

        library = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # None: this program itself
        address = _ctypes.dlsym(library, "prctl")
    except (ImportError, OSError):
        return None

    class Call(_ctypes.CFuncPtr):
        _flags_ = _ctypes.FUNCFLAG_CDECL  # without a result type it returns a C int, as prctl does

    return Call(address)
