"""Where a command belongs and where its records go: the project root and the store folder."""

from __future__ import annotations

import os
import stat

from firsthand.config import home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STORE_NAME = ".firsthand"
"""The store folder in a project root."""

CONFIG_NAME = "firsthand.toml"
"""A folder that holds this file is a project root where git does not say otherwise."""

GITFILE_MOST = 8192
"""Bytes read of a ``.git`` file: a path is at most 4,096 long."""


class Place:
    """A project root and the store folder that belongs to it; nothing of it need exist.

    ``owner`` is ``(uid, gid)`` for new files when we are root in somebody else's project, else ``None``.
    ``notice`` is one line for the user when the store is not where it would be looked for, else ``None``.
    """

    __slots__ = ("folder", "notice", "owner", "root")

    def __init__(
        self, root: str, folder: str, owner: tuple[int, int] | None = None, notice: str | None = None
    ) -> None:
        self.root = root
        self.folder = folder
        self.owner = owner
        self.notice = notice

    def accepts(self, uid: int) -> bool:
        """Say whether a file of this owner may be used: ours, root's, or the project root's owner's."""
        return uid in {os.geteuid(), 0} or uid == _owner_of(self.root)[0]


def find_place(cwd: str, project: str | None = None, environ: Mapping[str, str] = os.environ) -> Place:
    """Return the place of a command that runs in ``cwd``; nothing is created.

    ``FIRSTHAND_DIR`` in ``environ`` is the store folder itself (a relative one starts at ``cwd``); it moves
    the store, not the root. ``project`` is the root, whatever git says.
    """
    return place_of(project_root(cwd, project, environ), cwd, environ)


def place_of(root: str, cwd: str, environ: Mapping[str, str]) -> Place:
    """Return the place of a project root (a real path); the rest is as for :func:`find_place`."""
    chosen = environ.get("FIRSTHAND_DIR")
    wanted = os.path.abspath(os.path.join(cwd, chosen)) if chosen else os.path.join(root, STORE_NAME)
    holder = os.path.realpath(wanted) if chosen else root
    reason = _why_no_store(holder, environ)
    if reason is None:
        return Place(root, wanted, _new_owner(root))
    folder = os.path.join(state_folder(environ), "stores", root_hash(holder))
    return Place(root, folder, None, f"{holder} is {reason} and holds no store; its records are in {folder}")


def project_root(cwd: str, project: str | None = None, environ: Mapping[str, str] = os.environ) -> str:
    """Return the real path of the project that ``cwd`` belongs to.

    ``project`` if given; else the innermost git top level, from a submodule its superproject; else the
    nearest folder upward with a ``firsthand.toml``; else ``cwd`` (or what exists of it).
    git is not called.
    """
    if project is not None:
        return os.path.realpath(os.path.join(cwd, project))
    here = os.path.realpath(cwd)
    while not os.path.isdir(here) and here != "/":
        here = os.path.dirname(here)
    return _git_root(here, environ) or _config_root(here) or here


def state_folder(environ: Mapping[str, str] = os.environ) -> str:
    """Return ``${XDG_STATE_HOME:-~/.local/state}/firsthand``; a relative ``XDG_STATE_HOME`` is ignored."""
    base = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(home(environ), ".local", "state")
    return os.path.join(base, "firsthand")


def root_hash(root: str) -> str:
    """Return the name of a root in the state folder: 16 hex digits of its real path's SHA-256."""
    from firsthand.store.chain import digest

    return digest(os.fsencode(os.path.realpath(root)))[:16]


def _git_root(here: str, environ: Mapping[str, str]) -> str | None:
    found = None
    for folder in _upward(here):
        git = _git_folder(folder)
        if git is not None and _counts(folder, here, environ):
            found = folder
            if not _is_submodule(git):
                break
    return found


def _config_root(here: str) -> str | None:
    for folder in _upward(here):
        if _has_config(folder):
            return folder
    return None


def _upward(folder: str) -> Iterator[str]:
    while True:
        yield folder
        if folder == "/":
            return
        folder = os.path.dirname(folder)


def _counts(folder: str, here: str, environ: Mapping[str, str]) -> bool:
    # People keep dotfiles in a git repository at home; that makes no project of all that lies below.
    if folder == here or folder not in {"/", os.path.realpath(home(environ))}:
        return True
    return _has_config(folder)


def _has_config(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, CONFIG_NAME))


def _git_folder(folder: str) -> str | None:
    path = os.path.join(folder, ".git")
    try:
        if stat.S_ISDIR(os.stat(path).st_mode):
            return path if os.path.lexists(os.path.join(path, "HEAD")) else None
        with open(path, "rb") as file:
            kind, _, target = file.read(GITFILE_MOST).partition(b"gitdir: ")
    except OSError:
        return None
    if kind or not target:
        return None
    return os.path.normpath(os.path.join(folder, os.fsdecode(target.rstrip(b"\r\n"))))


def _is_submodule(git: str) -> bool:
    inside = git.partition("/.git/")[2].split("/")
    if inside[0] == "worktrees":
        inside = inside[2:]
    # A linked worktree of a submodule lies there too, and is a root of its own.
    return inside[0:1] == ["modules"] and not os.path.exists(os.path.join(git, "commondir"))


def _why_no_store(root: str, environ: Mapping[str, str]) -> str | None:
    if root == "/":
        return "the root folder"
    if root == os.path.realpath(home(environ)):
        return "the home folder"
    try:
        open_to_all = os.stat(root).st_mode & stat.S_IWOTH
    except OSError:
        return None
    return "world-writable" if open_to_all else None


def _owner_of(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return -1, -1
    return status.st_uid, status.st_gid


def _new_owner(root: str) -> tuple[int, int] | None:
    owner = _owner_of(root)
    return owner if os.geteuid() == 0 and owner[0] > 0 else None
