"""The Python interface: run a command, read records back. Everything here is re-exported by ``firsthand``."""

from __future__ import annotations

import os

from firsthand import config, hosted, request
from firsthand.attempts import failed
from firsthand.errors import FirsthandError, UsageError
from firsthand.process import spawn
from firsthand.store import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypedDict, Unpack

    from firsthand.record import Record
    from firsthand.request import Request
    from firsthand.store.readers import Reader

    class Options(TypedDict, total=False):
        """The options of :func:`run`."""

        note: str
        expect: Mapping[str, Any] | str | None
        timeout: float | None
        parent: str | None
        inputs: Sequence[str]
        cwd: str | bytes | os.PathLike[str] | None
        env: Mapping[str, str] | None
        environment: str
        stdin: bytes | str | os.PathLike[str] | None
        session: str | None
        strays: str
        contain: str


DEFAULT_TIMEOUT = 300
"""Seconds a command may run unless told otherwise: enough for most suites, short enough for a loop."""

KEEPER, GROUP = "keeper", "group"


def run(
    argv: Sequence[str | bytes | os.PathLike[str]],
    *,
    note: str = "",
    expect: Mapping[str, Any] | str | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
    parent: str | None = None,
    inputs: Sequence[str] = (),
    cwd: str | bytes | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    environment: str = "agent",
    stdin: bytes | str | os.PathLike[str] | None = None,
    session: str | None = None,
    strays: str = "auto",
    contain: str = KEEPER,
) -> Record:
    """Run one command to its end and return its record, which has also been stored.

    A command that fails, hangs or cannot be started is data: look at ``exit_code`` and ``error``.
    Safe in any thread; no signal handler, child or descriptor of the calling process is touched.

    Args:
        argv: program and arguments; no shell is involved.
        note: the one-line prediction, written before the run.
        expect: a prediction to check: a text that the output must contain, or
            ``{"exit_code": [0], "contains": "12 passed"}``.
        timeout: seconds; 0 or None for no limit.
        parent: ``command_id`` of the attempt that this one retries.
        inputs: ``command_id`` of records whose output this command uses, 20 at most.
        cwd: working folder; default: the current one.
        env: variables added to the chosen environment.
        environment: ``agent`` (no colour, pager, editor or prompt) or ``inherit``.
        stdin: bytes, or the path of a file; default: ``/dev/null``.
        session: groups records; default: the variable ``FIRSTHAND_SESSION``.
        strays: what becomes of descendants that outlive the command: ``auto``, ``stop``, ``keep``.
        contain: ``keeper`` (a process of ours that no descendant escapes) or ``group`` (in this process,
            cheaper, only the command's session); ``containment`` of the record says which it was.

    Returns:
        The record. ``exit_code`` is None exactly when ``error`` says why there is none; ``log_error`` is set
        when the record could not be stored.

    Raises:
        UsageError: an argument makes no sense; nothing was run.
        ConfigError: a configuration file cannot be used; nothing was run.
        KeyboardInterrupt: as it came, after the command was stopped; its ``record`` attribute is the record.
    """
    wanted, source = _prepared(
        argv,
        note=note,
        expect=expect,
        timeout=timeout,
        parent=parent,
        inputs=inputs,
        cwd=cwd,
        env=env,
        environment=environment,
        stdin=stdin,
        session=session,
        strays=strays,
        contain=contain,
    )
    try:
        return hosted.run_in_host(wanted, source, contain)
    finally:
        _close(source)


async def arun(argv: Sequence[str | bytes | os.PathLike[str]], **options: Unpack[Options]) -> Record:
    """Do what :func:`run` does in an asyncio task, with the same options, without blocking the loop.

    Only the very first call of a process blocks it for some 30 ms, to start the warm process.

    Raises:
        UsageError: an argument makes no sense; nothing was run.
        ConfigError: a configuration file cannot be used; nothing was run.
        asyncio.CancelledError: as it came, after the command was stopped; its ``record`` attribute is the
            record. A second cancel skips the two seconds that the command has to end politely.
    """
    from firsthand import awaited

    wanted, source = _prepared(argv, **options)
    try:
        return await awaited.run_in_host(wanted, source, options.get("contain", KEEPER))
    finally:
        _close(source)


def _prepared(
    argv: Sequence[str | bytes | os.PathLike[str]],
    *,
    timeout: float | None = DEFAULT_TIMEOUT,
    parent: str | None = None,
    cwd: str | bytes | os.PathLike[str] | None = None,
    environment: str = "agent",
    stdin: bytes | str | os.PathLike[str] | None = None,
    contain: str = KEEPER,
    **options: Any,
) -> tuple[Request, int | None]:
    """Check what a caller asks for; return the request and a descriptor of the command's input."""
    if contain not in (KEEPER, GROUP):
        raise UsageError(f"contain cannot be {contain!r}", f"give {KEEPER} or {GROUP}")
    try:
        folder = request.from_here(cwd)
        root = place.project_root(request.base_of(folder))
        wanted = request.build(
            argv,
            config.load(root, os.environ),
            via="library",
            cwd=folder,
            root=root,
            timeout=timeout,
            parent=None if parent is None else request.is_id("parent", parent),
            kind=environment,
            has_stdin=stdin is not None,
            **options,
        )
        return wanted, None if stdin is None else _open_stdin(stdin)
    except (TypeError, AttributeError, ValueError, OverflowError) as problem:
        if isinstance(problem, FirsthandError):
            raise
        raise UsageError(f"an argument makes no sense: {problem}", "see help(firsthand.run)") from problem


def _close(source: int | None) -> None:
    if source is not None:
        os.close(source)


def _open_stdin(stdin: bytes | str | os.PathLike[str]) -> int:
    """Return a descriptor to read the command's input from; bytes go through memory, never through a file."""
    if not isinstance(stdin, bytes):
        try:
            fd = spawn.raise_fd_of(os.open(stdin, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
        except OSError as problem:
            raise UsageError(f"stdin {stdin!r}: {problem.strerror}", "name a file that can be read") from None
        os.set_blocking(fd, True)  # opened without blocking: a pipe that nobody writes to is at its end
        return fd
    fd = spawn.raise_fd_of(os.memfd_create("firsthand-stdin"))
    view = memoryview(stdin)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except OSError as problem:
        os.close(fd)
        hint = "raise the file size limit (ulimit -f), or name a file"
        raise UsageError(f"stdin of {len(stdin):,} bytes: {problem.strerror}", hint) from None
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def run_with_feedback(
    command: Sequence[str],
    agent_note: str | None = None,
    parent_id: str | None = None,
    *,
    note: str | None = None,
    cwd: str | os.PathLike[str] | None = None,
    timeout: float | None = DEFAULT_TIMEOUT,
) -> Record:
    """Run ``command`` as :func:`run` does, under the names that agents' feedback runners commonly use.

    Args:
        command: the argv, a list.
        agent_note: the prediction; ``note`` is another name for it.
        parent_id: ``command_id`` of the attempt that this one retries.
        note: see ``agent_note``.
        cwd: working folder.
        timeout: seconds; None: no limit.
    """
    return run(command, note=agent_note or note or "", parent=parent_id, cwd=cwd, timeout=timeout)


def _reader() -> Reader:
    from firsthand.store import adoption

    return adoption.reader(place.find_place(request.from_here(None)))


def _number(function: str, n: Any) -> int:
    if type(n) is not int or n < 1:
        raise UsageError(f"{function} cannot return {n!r} records", "give a whole number of at least 1")
    return n


def load(n: int = 20, session: str | None = None) -> list[Record]:
    """Return the newest ``n`` records of the current project's store, oldest first, newest last.

    Raises:
        UsageError: ``n`` is no whole number of at least 1.
        StoreError: the store may not be read (it belongs to somebody else, or is a link).
    """
    return _reader().last(_number("load", n), session=session)


def last_failure(session: str | None = None) -> Record | None:
    """Return the newest record whose exit code is null or not 0, or None when there is none in the store."""
    found = _reader().last(1, session=session, where=failed)
    return found[0] if found else None


def failures(n: int = 20, session: str | None = None) -> list[Record]:
    """Return the newest ``n`` records whose exit code is null or not 0, oldest first, newest last.

    Raises:
        UsageError: ``n`` is no whole number of at least 1.
        StoreError: the store may not be read.
    """
    return _reader().last(_number("failures", n), session=session, where=failed)


def retry_chain(command_id: str) -> list[Record]:
    """Return all attempts of the retry chain that a record belongs to, oldest first.

    Args:
        command_id: the id of one of them, or its unique beginning.

    Raises:
        UsageError: there is no such record.
        StoreError: the store may not be read.
    """
    from firsthand.attempts import Chains

    reader = _reader()
    found = reader.find(command_id)
    if found is None:
        raise UsageError(f"no record {command_id}", "firsthand.load() shows them")
    return Chains(reader.all()).of(found["command_id"]).attempts
