"""The project root and the store folder of a command."""

from __future__ import annotations

import hashlib
import os
import pwd
import subprocess
from pathlib import Path

import pytest

from firsthand.store.place import Place, find_place, project_root, state_folder

Environ = dict[str, str]


@pytest.fixture
def environ(tmp_path: Path) -> Environ:
    """An environment whose home is a folder of the test."""
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home)}


def git(folder: Path, *args: str) -> None:
    """Call the real git, so that what we find in files is what it writes."""
    settings = ["-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    hermetic = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(
        ["git", *settings, *args], cwd=folder, check=True, capture_output=True, env=os.environ | hermetic
    )


def repository(folder: Path) -> Path:
    """Make a git repository with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "first")
    return folder


def below(folder: Path) -> Path:
    """Make a folder two levels down."""
    deep = folder / "src" / "deep"
    deep.mkdir(parents=True)
    return deep


def test_innermost_git_top_level_is_the_root(tmp_path: Path) -> None:
    """A repository inside of another one is its own project."""
    outer = repository(tmp_path / "outer")
    inner = repository(outer / "vendor" / "inner")
    assert project_root(str(below(inner))) == str(inner)
    assert project_root(str(below(outer))) == str(outer)


def test_an_empty_git_folder_is_no_repository(tmp_path: Path) -> None:
    """As for git itself, ``.git`` without a HEAD counts for nothing."""
    outer = repository(tmp_path / "outer")
    (outer / "x" / ".git").mkdir(parents=True)
    assert project_root(str(outer / "x")) == str(outer)


@pytest.mark.parametrize("text", [b"", b"gitdir: ", b"nonsense", b"\0\xff gitdir: x"])
def test_a_git_file_of_another_kind_is_no_repository(tmp_path: Path, text: bytes) -> None:
    """Only a file that begins with ``gitdir:`` and names something is one of git's."""
    outer = repository(tmp_path / "outer")
    (outer / "x").mkdir()
    (outer / "x" / ".git").write_bytes(text)
    assert project_root(str(outer / "x")) == str(outer)


def test_a_submodule_belongs_to_its_superproject(tmp_path: Path) -> None:
    """From a submodule, and from one inside of it, we climb to the outermost."""
    library = repository(tmp_path / "library")
    middle = repository(tmp_path / "middle")
    git(middle, "submodule", "add", str(library), "library")
    git(middle, "commit", "-m", "library")
    project = repository(tmp_path / "project")
    git(project, "submodule", "add", str(middle), "vendor/middle")
    git(project, "submodule", "update", "--init", "--recursive")
    assert project_root(str(project / "vendor" / "middle")) == str(project)
    assert project_root(str(below(project / "vendor" / "middle" / "library"))) == str(project)


def test_a_linked_worktree_is_its_own_root(tmp_path: Path) -> None:
    """Also where it lies inside of the main work tree, and also a worktree of a submodule."""
    library = repository(tmp_path / "library")
    project = repository(tmp_path / "project")
    git(project, "submodule", "add", str(library), "library")
    git(project, "commit", "-m", "library")
    git(project, "worktree", "add", "trees/topic")
    git(project / "library", "worktree", "add", str(project / "trees" / "library"))
    assert project_root(str(below(project / "trees" / "topic"))) == str(project / "trees" / "topic")
    assert project_root(str(project / "trees" / "library")) == str(project / "trees" / "library")


def test_a_submodule_in_a_linked_worktree_belongs_to_that_worktree(tmp_path: Path) -> None:
    """Its superproject is the work tree round it, not the main one."""
    library = repository(tmp_path / "library")
    project = repository(tmp_path / "project")
    git(project, "submodule", "add", str(library), "library")
    git(project, "commit", "-m", "library")
    git(project, "worktree", "add", str(tmp_path / "topic"))
    git(tmp_path / "topic", "submodule", "update", "--init")
    assert project_root(str(tmp_path / "topic" / "library")) == str(tmp_path / "topic")


def test_git_at_home_counts_only_at_home_or_with_a_configuration(tmp_path: Path, environ: Environ) -> None:
    """Dotfiles in git make no project of everything below the home folder."""
    home = Path(environ["HOME"])
    git(home, "init")
    work = below(home)
    assert project_root(str(work), environ=environ) == str(work)
    assert project_root(str(home), environ=environ) == str(home)
    (home / "firsthand.toml").touch()
    assert project_root(str(work), environ=environ) == str(home)


def test_home_is_found_through_a_link(tmp_path: Path, environ: Environ) -> None:
    """HOME may name the folder by another path."""
    git(Path(environ["HOME"]), "init")
    work = below(Path(environ["HOME"]))
    (tmp_path / "link").symlink_to(environ["HOME"])
    assert project_root(str(work), environ={"HOME": str(tmp_path / "link")}) == str(work)


def test_a_submodule_of_the_home_repository_is_its_own_root(tmp_path: Path, environ: Environ) -> None:
    """The superproject does not count, so the climb ends before it."""
    home = Path(environ["HOME"])
    git(home, "init")
    library = repository(tmp_path / "library")
    git(home, "submodule", "add", str(library), "library")
    assert project_root(str(home / "library"), environ=environ) == str(home / "library")


def test_without_git_the_nearest_configuration_decides(tmp_path: Path) -> None:
    """The nearest of two, from any depth; git comes before it."""
    far, near = tmp_path / "a", tmp_path / "a" / "b"
    deep = below(near)
    (far / "firsthand.toml").touch()
    assert project_root(str(deep)) == str(far)
    (near / "firsthand.toml").touch()
    assert project_root(str(deep)) == str(near)
    git(far, "init")
    assert project_root(str(deep)) == str(far)


def test_without_anything_the_folder_itself_is_the_root(tmp_path: Path) -> None:
    """And of a folder that is gone, what is left of its path; links are followed."""
    plain = below(tmp_path)
    assert project_root(str(plain)) == str(plain)
    assert project_root(str(plain / "gone" / "too")) == str(plain)
    (tmp_path / "link").symlink_to(plain)
    assert project_root(str(tmp_path / "link")) == str(plain)


def test_the_project_can_be_named(tmp_path: Path) -> None:
    """``--project`` holds over git; a relative one starts at the cwd."""
    project = repository(tmp_path / "project")
    other = below(project)
    assert project_root(str(tmp_path), str(other)) == str(other)
    assert project_root(str(project), "src") == str(project / "src")


def test_the_store_lies_in_the_root(tmp_path: Path, environ: Environ) -> None:
    """The usual place; nothing of it is made."""
    project = repository(tmp_path / "project")
    place = find_place(str(below(project)), environ=environ)
    assert (place.root, place.folder, place.notice) == (str(project), str(project / ".firsthand"), None)
    assert not (project / ".firsthand").exists()


def test_firsthand_dir_moves_the_store_and_not_the_root(tmp_path: Path, environ: Environ) -> None:
    """It is the folder itself; a relative one starts at the cwd, an empty one is none."""
    project = repository(tmp_path / "project")
    cwd = str(below(project))
    place = find_place(cwd, environ=environ | {"FIRSTHAND_DIR": str(tmp_path / "elsewhere/")})
    assert (place.root, place.folder) == (str(project), str(tmp_path / "elsewhere"))
    assert find_place(cwd, environ=environ | {"FIRSTHAND_DIR": "../x"}).folder == str(project / "src" / "x")
    assert find_place(cwd, environ=environ | {"FIRSTHAND_DIR": ""}).folder == str(project / ".firsthand")


@pytest.mark.parametrize("kind", ["root", "home", "world-writable"])
def test_some_roots_hold_no_store(tmp_path: Path, environ: Environ, kind: str) -> None:
    """Their records go to the state folder, under a name made from the root, and one line says so."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    root = {"root": "/", "home": environ["HOME"], "world-writable": str(shared)}[kind]
    place = find_place(root, environ=environ)
    name = hashlib.sha256(root.encode()).hexdigest()[:16]
    folder = f"{environ['HOME']}/.local/state/firsthand/stores/{name}"
    assert (place.root, place.folder, place.owner) == (root, folder, None)
    assert place.notice
    assert folder in place.notice
    assert "\n" not in place.notice
    moved = find_place(root, environ=environ | {"FIRSTHAND_DIR": str(tmp_path / "d")})
    assert (moved.folder, moved.notice) == (str(tmp_path / "d"), None)


def test_the_state_folder_follows_the_environment(environ: Environ) -> None:
    """XDG_STATE_HOME if absolute, else HOME, else the password database."""
    assert state_folder({"XDG_STATE_HOME": "/x/state", "HOME": "/h"}) == "/x/state/firsthand"
    assert state_folder({"XDG_STATE_HOME": "relative", "HOME": "/h"}) == "/h/.local/state/firsthand"
    homes = {entry.pw_uid: entry.pw_dir for entry in pwd.getpwall()}
    expected = os.path.join(homes.get(os.getuid(), "/"), ".local/state/firsthand")
    assert state_folder({}) == state_folder({"HOME": ""}) == expected


def test_new_files_belong_to_the_project_when_root_works_in_it(tmp_path: Path, environ: Environ) -> None:
    """``owner`` is set for root in somebody else's project, and for nobody else."""
    project = tmp_path / "project"
    project.mkdir()
    if os.geteuid() == 0:
        os.chown(project, 65534, 65533)
    expected = (65534, 65533) if os.geteuid() == 0 else None
    assert find_place(str(project), environ=environ).owner == expected
    assert find_place(environ["HOME"], environ=environ).owner is None
    ours = tmp_path / "ours"
    ours.mkdir()
    assert find_place(str(ours), environ=environ).owner is None


def test_a_file_is_accepted_from_us_from_root_and_from_the_project(tmp_path: Path) -> None:
    """Any other user's is foreign."""
    place = Place(str(tmp_path), str(tmp_path / "store"))
    assert place.accepts(os.geteuid())
    assert place.accepts(0)
    assert place.accepts(tmp_path.stat().st_uid)
    assert not place.accepts(65533)
    assert not Place("/nonexistent", "/nonexistent/store").accepts(65533)
