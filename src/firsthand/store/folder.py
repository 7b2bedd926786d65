"""The opened store folder: names are looked up from its descriptor, and nothing foreign is accepted."""

from __future__ import annotations

import errno
import os
import stat

from firsthand.errors import StoreError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from firsthand.store.place import Place

FOLDER_MODE = 0o700
FILE_MODE = 0o600

_SAFE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""No link is followed, no child inherits, and a named pipe put in a file's place blocks nobody."""


class Folder:
    """A checked folder, open until the ``with`` block ends."""

    __slots__ = ("fd", "path", "place")

    def __init__(self, fd: int, path: str, place: Place) -> None:
        self.fd = fd
        self.path = path
        self.place = place

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)

    def open(self, name: str, flags: int = os.O_RDONLY, *, create: bool = False) -> int:
        """Return a descriptor of a regular file in here, made with mode 0600 if ``create``.

        Raises:
            StoreError: it is a link, no regular file, or of a foreign owner.
            OSError: the system refused; ``FileNotFoundError`` without ``create``.
        """
        try:
            fd = os.open(name, flags | _SAFE, dir_fd=self.fd)
        except FileNotFoundError:
            if not create:
                raise
            return self.create(name, flags)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _symlink(self._join(name)) from None
            raise
        return _checked(fd, self._join(name), self.place, stat.S_ISREG)

    def enter(self, name: str, *, create: bool = False) -> Folder:
        """Return a checked folder in here, made with mode 0700 if ``create``; errors as in :meth:`open`."""
        path = self._join(name)
        try:
            return Folder(_open_folder(path, self.place, name, self.fd), path, self.place)
        except FileNotFoundError:
            if not create:
                raise
        try:
            os.mkdir(name, FOLDER_MODE, dir_fd=self.fd)
        except FileExistsError:
            pass  # another process was faster
        return Folder(self._given(_open_folder(path, self.place, name, self.fd)), path, self.place)

    def read(self, name: str, most: int) -> bytes | None:
        """Return at most the first ``most`` bytes of a file, or ``None`` where there is none."""
        try:
            fd = self.open(name)
        except FileNotFoundError:
            return None
        try:
            return read_range(fd, 0, most)
        finally:
            os.close(fd)

    def replace(self, name: str, data: bytes) -> None:
        """Put a file there whole or not at all. For callers under the lock: the temporary name is fixed."""
        temporary = f".{name}"
        self.remove(temporary)
        fd = self.create(temporary, os.O_WRONLY)
        try:
            write_whole(fd, data, 0)
            os.rename(temporary, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        except OSError:
            self.remove(temporary)
            raise
        finally:
            os.close(fd)

    def remove(self, name: str) -> None:
        """Unlink a file; one that is not there is fine."""
        try:
            os.unlink(name, dir_fd=self.fd)
        except FileNotFoundError:
            pass

    def create(self, name: str, flags: int) -> int:
        """Do what :meth:`open` does with ``create`` where the file is most likely not there yet."""
        try:
            fd = os.open(name, flags | os.O_CREAT | os.O_EXCL | _SAFE, FILE_MODE, dir_fd=self.fd)
        except FileExistsError:
            return self.open(name, flags)  # another process was faster
        return self._given(fd)

    def _given(self, fd: int) -> int:
        if self.place.owner is not None:
            try:
                os.fchown(fd, *self.place.owner)
            except OSError:
                os.close(fd)
                raise
        return fd

    def _join(self, name: str) -> str:
        return f"{self.path}/{name}"


def open_folder(place: Place, *, create: bool = False) -> Folder:
    """Open the store folder of a place, and make it (0700, with a ``.gitignore``) if ``create``.

    Raises:
        StoreError: it is a link, no folder, or of a foreign owner.
        OSError: the system refused; ``FileNotFoundError`` without ``create``.
    """
    try:
        folder = Folder(_open_folder(place.folder, place, place.folder), place.folder, place)
    except FileNotFoundError:
        if not create:
            raise
    else:
        return _closed_to_others(folder) if create else folder
    from firsthand.store import creation

    creation.make_store(place)
    folder = Folder(_open_folder(place.folder, place, place.folder), place.folder, place)
    try:
        creation.ignore_in_git(folder)
    except OSError:
        os.close(folder.fd)
        raise
    return folder


def _closed_to_others(folder: Folder) -> Folder:
    status = os.fstat(folder.fd)
    if status.st_mode & 0o077 and status.st_uid == os.geteuid():
        from firsthand.store import creation

        if creation.is_only_ours(folder):
            os.fchmod(folder.fd, FOLDER_MODE)
    return folder


def read_range(fd: int, start: int, length: int) -> bytes:
    """Return up to ``length`` bytes from ``start``, fewer only at the end of the file."""
    data = os.pread(fd, length, start)
    while data and len(data) < length:
        more = os.pread(fd, length - len(data), start + len(data))
        if not more:
            break
        data += more
    return data


def write_whole(fd: int, data: bytes, size: int, *, fsync: bool = False) -> None:
    """Write with one call at the end of a file of ``size`` bytes, or leave it as it was.

    With ``fsync`` it is on the disk when this returns.

    Raises:
        StoreError: only a part could be written.
        OSError: nothing could.
    """
    try:
        written = os.write(fd, data)
        if written != len(data):
            raise StoreError(
                f"only {written} of {len(data)} bytes could be written, as on a full disk",
                "free some space or raise the file size limit (ulimit -f), then run it again",
            )
        if fsync:
            os.fsync(fd)
    except OSError:
        _cut_back(fd, size)
        raise


def _cut_back(fd: int, size: int) -> None:
    try:
        os.ftruncate(fd, size)
    except OSError:
        pass  # what was half written is then a torn tail, which the next append heals


def _open_folder(path: str, place: Place, name: str, dir_fd: int | None = None) -> int:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _SAFE, dir_fd=dir_fd)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR} and os.path.islink(path):
            raise _symlink(path) from None
        raise
    return _checked(fd, path, place, stat.S_ISDIR)


def _checked(fd: int, path: str, place: Place, right_kind: Callable[[int], bool]) -> int:
    try:
        status = os.fstat(fd)
        if not right_kind(status.st_mode):
            raise StoreError(f"{path} is no regular file", "move it away, then run it again")
        if not place.accepts(status.st_uid):
            raise StoreError(
                f"{path} belongs to user {status.st_uid}, not to you or the project's owner",
                "remove it, or set FIRSTHAND_DIR to a folder of your own",
            )
    except OSError:
        os.close(fd)
        raise
    return fd


def _symlink(path: str) -> StoreError:
    return StoreError(
        f"{path} is a symbolic link", "remove it, or set FIRSTHAND_DIR to the folder that it points to"
    )
