"""Start the installed command quickly: a run's modules come ready-made from the wheel's bundle.

This module and the package itself do without ``from __future__``, which is an import of a file.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FunctionType

PREFIX = "firsthand."


def main() -> int:
    """Be the ``firsthand`` command. A run is over before garbage collection could pay for itself."""
    import gc

    gc.disable()
    try:
        bundle = __import__("firsthand._bundle", fromlist=["MODULES"])
    except ImportError:  # not installed from a wheel
        from firsthand import cached

        cached.install()
    else:
        put_in_place(bundle.MODULES)
    from firsthand.cli import main as cli

    return cli.main()


def put_in_place(modules: "Sequence[tuple[str, FunctionType, bool]]") -> None:
    """Make modules of a bundle: each is a name, a function that runs its code, and whether it is a package.

    They come in an order in which each needs only those before it. ``hatch_build.py`` makes the bundle.
    """
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
