"""Import our modules straight from the bytecode that Python has cached, for a command without a bundle.

What is not found, or found out of date, is left to Python's own import.
"""

from __future__ import annotations

import os
import sys
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType

HEADER_BYTES = 16
"""Magic number, flags, and for flags 0 the time and the size of the source (PEP 552)."""

LARGEST_CODE = 100_000
"""Bytes read at once, more than any module of ours has: below what malloc would map afresh for each."""

PREFIX = "firsthand."


def main() -> int:
    """Be the ``firsthand`` command of an installation without a bundle."""
    install()
    from firsthand.cli import main as cli

    return cli.main()


def install() -> None:
    """Put the finder before Python's own, unless bytecode is cached in some other way than usual."""
    if sys.flags.optimize or sys.pycache_prefix:
        return
    from _frozen_importlib import ModuleSpec
    from _frozen_importlib_external import MAGIC_NUMBER

    folder = os.path.dirname(os.path.abspath(__file__)) + "/"
    sys.meta_path.insert(0, CachedCode(folder, MAGIC_NUMBER, ModuleSpec))


class CachedCode:
    """Finder and loader in one: knows where a module of ours must be, so it searches nothing."""

    def __init__(self, folder: str, magic: bytes, spec_type: type[ModuleSpec]) -> None:
        self.folder = folder
        self.magic = magic
        self.suffix = f".{sys.implementation.cache_tag}.pyc"
        self.spec_type = spec_type
        self.codes: dict[str, CodeType] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of ours whose cached bytecode is up to date."""
        del target
        if path is None or not name.startswith(PREFIX):
            return None
        stem = self.folder + name[len(PREFIX) :].replace(".", "/")
        return self._spec(name, stem, "") or self._spec(name, stem + "/__init__", stem)

    def _spec(self, name: str, stem: str, package: str) -> ModuleSpec | None:
        code = self._read(stem)
        if code is None:
            return None
        self.codes[name] = code
        spec = self.spec_type(name, self, origin=f"{stem}.py", is_package=bool(package))  # type: ignore[arg-type]
        spec.has_location = True
        if package:
            spec.submodule_search_locations = [package]
        return spec

    def _read(self, stem: str) -> CodeType | None:
        folder, _, last = stem.rpartition("/")
        try:
            fd = os.open(f"{folder}/__pycache__/{last}{self.suffix}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            data = os.read(fd, LARGEST_CODE)
            source = os.stat(f"{stem}.py")
        except OSError:
            return None
        finally:
            os.close(fd)
        expected = (
            self.magic
            + bytes(4)
            + (int(source.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little")
            + (source.st_size & 0xFFFFFFFF).to_bytes(4, "little")
        )
        if len(data) == LARGEST_CODE or data[:HEADER_BYTES] != expected:
            return None
        code: CodeType = loads(memoryview(data)[HEADER_BYTES:])  # noqa: S302  # what Python's own import reads
        return code

    def create_module(self, _: ModuleSpec) -> None:
        """Leave the making of the module to Python."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code."""
        exec(self.codes.pop(module.__name__), module.__dict__)  # noqa: S102
