"""Start the installed command quickly: all modules of a run come ready-made, from one module of the wheel.

``hatch_build.py`` copies this code into that module, ``firsthand._bundle``, beside the modules that it
puts in place. Nothing here and in the package itself is from ``__future__``, which is an import of a file.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FunctionType

PREFIX = "firsthand."

EXTENSIONS = ("fcntl", "select", "_ctypes", "_sha256" if sys.version_info < (3, 12) else "_sha2")
"""Some are built into some interpreters, and then found there."""

MODULES: "Sequence[tuple[str, FunctionType, bool]]" = ()
"""In the bundle: name, function that runs the module's code, and whether it is a package; each needs only
those before it."""


def main() -> int:
    """Be the ``firsthand`` command."""
    load_extensions()
    put_in_place(MODULES)
    from firsthand.cli import main as cli

    return cli.main()


def load_extensions() -> None:
    """Load from Python's folder of extension modules what a run needs of it, without the search for each."""
    try:
        from _frozen_importlib import ModuleSpec, _load  # type: ignore[attr-defined]
        from _frozen_importlib_external import EXTENSION_SUFFIXES, ExtensionFileLoader
    except ImportError:  # some later Python
        return
    folder = next((path for path in sys.path if path.endswith("lib-dynload")), "")
    for name in EXTENSIONS:
        path = f"{folder}/{name}{EXTENSION_SUFFIXES[0]}"
        if os.path.exists(path):
            _load(ModuleSpec(name, ExtensionFileLoader(name, path), origin=path))


def put_in_place(modules: "Sequence[tuple[str, FunctionType, bool]]") -> None:
    """Make the modules of a bundle as an import would have made them."""
    from _frozen_importlib import ModuleSpec

    folder = os.path.dirname(os.path.abspath(__file__))
    module_type = type(sys)
    function_type: type[FunctionType] = type(put_in_place)  # type: ignore[assignment]
    made = {}
    for name, _, is_package in sorted(modules, key=_name):
        made[name] = module = sys.modules[name] = module_type(name)
        parent, _, last = name.rpartition(".")
        path = folder + name[len(PREFIX) - 1 :].replace(".", "/")
        module.__spec__ = ModuleSpec(name, None, origin=path, is_package=is_package)
        module.__package__ = name if is_package else parent
        module.__file__ = f"{path}/__init__.py" if is_package else f"{path}.py"
        if is_package:
            module.__path__ = [path]
        setattr(sys.modules[parent], last, module)
    for name, run, _ in modules:
        function_type(run.__code__, made[name].__dict__)()


def _name(module: "tuple[str, FunctionType, bool]") -> str:
    return module[0]
