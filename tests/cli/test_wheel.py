"""The wheel as a user installs it: it builds, works in an empty environment, and carries its bundle."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import os, sys
leave = os._exit
def end(code):
    ours = [module for name, module in sys.modules.items() if name.startswith("firsthand.")]
    specs = [module.__spec__ for module in ours]
    apart = [spec.name for spec in specs if spec.loader is not None]
    os.write(2, " ".join(sorted(apart)).encode())
    leave(code)
os._exit = end
sys.argv[1:] = ["run", "--", "true"]
from firsthand._bundle import main
main()
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a fresh environment that holds nothing but the wheel."""
    base = tmp_path_factory.mktemp("wheel")
    quiet(sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(base), str(ROOT))
    quiet(sys.executable, "-m", "venv", str(base / "venv"))
    (wheel,) = base.glob("*.whl")
    quiet(str(base / "venv/bin/python3"), "-m", "pip", "install", "--no-index", "--no-deps", str(wheel))
    return base / "venv/bin"


def quiet(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)


def run(installed: Path, folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment with a small environment of its own."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "FIRSTHAND_DIR": str(folder / "store")}
    words = [str(installed / argv[0]), *argv[1:]]
    return subprocess.run(words, env=env, cwd=folder, capture_output=True, text=True)


def test_every_verb_works(installed: Path, tmp_path: Path) -> None:
    """Run, then each way to read it back."""
    done = run(installed, tmp_path, "firsthand", "run", "--", "sh", "-c", "seq 1 200; exit 3")
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.startswith("exit 3 in ")
    for argv, status in (
        (["last"], 0),
        (["show", "--stream", "stdout", "--lines", "100:101"], 0),
        (["check"], 1),
        (["verify"], 0),
        (["failures"], 0),
        (["doctor"], 0),
        (["completion", "zsh"], 0),
        (["--version"], 0),
    ):
        result = run(installed, tmp_path, "firsthand", *argv)
        assert (result.returncode, result.stderr) == (status, ""), argv
        assert result.stdout, argv
    live = run(installed, tmp_path, "firsthand", "run", "--stream", "--", "sh", "-c", "echo live; exit 3")
    assert (live.returncode, live.stdout, live.stderr[:21]) == (3, "live\n", "firsthand: exit 3 in ")


def test_a_plain_run_imports_nothing_beside_the_bundle(installed: Path, tmp_path: Path) -> None:
    """Whoever adds an import to the run path finds it in the bundle, or here."""
    run(installed, tmp_path, "firsthand", "run", "--", "true")  # makes the store
    result = run(installed, tmp_path, "python3", "-c", PROGRAM)
    assert result.stderr.split() == ["firsthand._bundle"]


def test_the_package_can_be_imported_too(installed: Path, tmp_path: Path) -> None:
    """The library, with its types and its schema."""
    code = (
        "import firsthand, importlib.resources as r; print(firsthand.run(['true']).exit_code);"
        "print(all(r.files('firsthand').joinpath(n).is_file() for n in ('py.typed', 'record.schema.json')))"
    )
    assert run(installed, tmp_path, "python3", "-c", code).stdout == "0\nTrue\n"
