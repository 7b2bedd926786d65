"""Why the kernel refused to start a program: the word and the sentence that help."""

from __future__ import annotations

import errno
import os

from firsthand.process.executable import StartError, show

INTERPRETER_LIMIT = 256
"""Bytes of a ``#!`` line that the kernel reads (BINPRM_BUF_SIZE)."""


ARGUMENT_LIMIT = 128 * 1024
"""Bytes of one argument that Linux accepts (MAX_ARG_STRLEN: 32 pages)."""


def explain(problem: OSError, path: bytes, argv: list[bytes]) -> StartError:
    """Turn the kernel's refusal to start ``path`` into the word and the sentence that help."""
    number = problem.errno or 0
    if number in (errno.ENOENT, errno.ENOTDIR):
        return _missing(path)
    if number in (errno.EACCES, errno.EPERM):
        return _forbidden(path)
    if number == errno.ENOEXEC:
        return StartError("exec_format", _unfit(path))
    if number == errno.E2BIG:
        return StartError("arg_too_long", _too_long(argv))
    if number in (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE):
        return no_resources(problem)
    return StartError(
        "spawn_failed", f"{show(path)} could not be started ({problem.strerror}): run it by hand to see."
    )


def no_resources(problem: OSError) -> StartError:
    """The system had no descriptor, process or memory left; nothing was run."""
    return StartError(
        "no_resources",
        f"The system had nothing left to start a process with ({problem.strerror}): raise the limit "
        "(ulimit -n, ulimit -u) or end other programs, then run again.",
    )


def interpreter(path: bytes) -> bytes | None:
    """Return what the ``#!`` line of a script names, or None for any other file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        line = os.read(fd, INTERPRETER_LIMIT).split(b"\n")[0]
    except OSError:
        return None
    finally:
        os.close(fd)
    words = line[2:].strip(b" \t").split(None, 1) if line.startswith(b"#!") else []
    if not words:
        return None
    return words[0] + (b"\r" if line.endswith(b"\r") and len(words) == 1 else b"")


def _missing(path: bytes) -> StartError:
    if not os.path.lexists(path):
        return StartError("not_found", f"No such file {show(path)}: check the name, or create it first.")
    if not os.path.exists(path):
        return StartError(
            "not_found", f"{show(path)} is a link to a file that does not exist: repair the link."
        )
    named = interpreter(path)
    if named is None:
        return StartError(
            "not_found",
            f"The loader that {show(path)} needs is missing: it was built for another system; rebuild it.",
        )
    if named.endswith(b"\r"):
        return StartError(
            "not_found",
            f"The #! line of {show(path)} names {show(named.rstrip())} followed by a carriage return: "
            "save the file with Unix line ends.",
        )
    return StartError(
        "not_found",
        f"{show(path)} asks for the interpreter {show(named)}, which does not exist: correct its #! line.",
    )


def _forbidden(path: bytes) -> StartError:
    if os.path.isdir(path):
        return StartError("permission", f"{show(path)} is a folder, not a program: name a program in it.")
    named = interpreter(path)
    if named and os.access(path, os.X_OK) and not os.access(named, os.X_OK):
        return StartError(
            "permission",
            f"The interpreter {show(named)} of {show(path)} is not executable: correct its #! line.",
        )
    return StartError(
        "permission", f"{show(path)} may not be executed: chmod +x it, or check its folder and mount options."
    )


def _unfit(path: bytes) -> str:
    try:
        empty = os.stat(path).st_size == 0
    except OSError:
        empty = False
    if empty:
        return f"{show(path)} is empty: write the program first."
    return (
        f"{show(path)} is no program for this system (exec format error): "
        "give a script a #! line, or rebuild the program for this machine."
    )


def _too_long(argv: list[bytes]) -> str:
    longest = max(range(len(argv)), key=lambda position: len(argv[position]))
    size = len(argv[longest])
    if size >= ARGUMENT_LIMIT:
        return (
            f"Argument {longest} has {size:,} bytes; the kernel takes {ARGUMENT_LIMIT:,} at most: "
            "pass it through a file or --stdin."
        )
    return (
        f"The {len(argv)} arguments and the environment are too long together for the kernel: "
        "pass them through a file, or in several runs."
    )
