"""Configuration files: what they set, whose they may be, and how a bad one is refused."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from firsthand.config import Config, load
from firsthand.errors import ConfigError
from firsthand.settings import SETTINGS


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project root; the user's configuration folder is empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config/firsthand").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def write(project: Path, text: str, user: str = "") -> Config:
    (project / "firsthand.toml").write_text(text)
    if user:
        (project.parent / "config/firsthand/config.toml").write_text(user)
    return load(str(project), os.environ)


def test_without_files_the_defaults_hold(project: Path) -> None:
    """And nothing is written."""
    assert vars(Config()) == vars(load(str(project), os.environ))
    assert list(project.iterdir()) == []


def test_the_project_overrides_the_user(project: Path) -> None:
    """Key by key; what the project does not set is the user's."""
    config = write(project, "[run]\ntimeout = 7", user='[run]\ntimeout = 5\nenvironment = "inherit"')
    assert (config.timeout, config.environment) == (7.0, "inherit")


def test_zero_seconds_is_no_limit(project: Path) -> None:
    """As ``--timeout 0`` is."""
    assert write(project, "[run]\ntimeout = 0").timeout is None


def test_the_longest_beginning_of_a_command_wins(project: Path) -> None:
    """A limit of its own for commands that begin so."""
    tables = (
        '[[timeouts]]\ncommand = ["npm"]\nseconds = 10\n[[timeouts]]\ncommand = ["npm", "test"]\nseconds = 20'
    )
    config = write(project, tables)
    assert [config.timeout_of(argv) for argv in (["npm", "x"], ["npm", "test", "-q"], ["np"])] == [
        10.0,
        20.0,
        300.0,
    ]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[run\n", "is not TOML", "correct that line"),
        ("[rum]\ntimeout = 1", "unknown key rum", "did you mean run?"),
        ("[run]\ntimout = 1", "unknown key run.timout", "did you mean run.timeout?"),
        ("run = 1", "unknown key run", "did you mean run?"),
        ("[run]\ntimeout = -1", "run.timeout is not a number of seconds", "docs/configuration.md"),
        ("[run]\ntimeout = true", "run.timeout is not a number of seconds", "docs/configuration.md"),
        ("[run]\ntimeout = inf", "run.timeout is not a number of seconds", "docs/configuration.md"),
        ("[run]\ntimeout = 1e300", "run.timeout is not a number of seconds", "docs/configuration.md"),
        (
            "[strays]\npolicy = 'maybe'",
            "strays.policy is not one of auto, stop, keep",
            "docs/configuration.md",
        ),
        ("[strays]\nkeep = 'x'", "strays.keep is not a list of texts", "docs/configuration.md"),
        ("[capture]\ntail_lines = 0", "capture.tail_lines is not a whole number of at least 1", "docs"),
        ("[capture]\nline_characters = 5", "at least 60", "docs"),
        ("[store]\nfsync = 'yes'", "store.fsync is not true or false", "docs"),
        ("timeouts = 3", "timeouts is not a list of tables", "[[timeouts]]"),
        ("[[timeouts]]\ncommand = ['x']", "needs command and seconds", "[[timeouts]]"),
        ("[[timeouts]]\ncommand = []\nseconds = 1", "is empty", "[[timeouts]]"),
        ("\xff", "is not TOML", "correct that line"),
        ("x = 1\n" * 200_000, "larger than 1 MiB", "is it a configuration"),
    ],
)
def test_a_bad_file_is_refused_by_name(project: Path, text: str, message: str, hint: str) -> None:
    """The error names the file and the key, the hint the next action."""
    with pytest.raises(ConfigError) as caught:
        write(project, text)
    assert "firsthand.toml" in str(caught.value)
    assert message in str(caught.value)
    assert hint in caught.value.hint


def test_tables_of_other_parts_are_left_to_them(project: Path) -> None:
    """Acceptance items stand in the same file."""
    assert write(project, '[[acceptance]]\nname = "tests"').timeout == 300.0


def test_a_folder_in_its_place_is_refused(project: Path) -> None:
    """Not ignored: somebody meant to configure something."""
    (project / "firsthand.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load(str(project), os.environ)


def test_somebody_elses_file_is_refused(project: Path) -> None:
    """A configuration is accepted from us, from root and from the owner of the project root."""
    (project / "firsthand.toml").write_text("")
    if os.geteuid() != 0:  # an ordinary user cannot give files away; the check itself is the same
        load(str(project), os.environ)
        return
    os.chown(project / "firsthand.toml", 65534, 65534)
    with pytest.raises(ConfigError, match="belongs to another user"):
        load(str(project), os.environ)
    os.chown(project, 65534, 65534)
    load(str(project), os.environ)


def test_the_documentation_lists_every_key() -> None:
    """docs/configuration.md has one row a key, with the default in force."""
    text = (Path(__file__).parents[2] / "docs/configuration.md").read_text()
    rows = {
        row[0]: row[1] for row in re.findall(r"^\| `([a-z_.]+)` \|[^|]*\| `([^`]*)` \|", text, re.MULTILINE)
    }
    defaults = vars(Config())
    for table, keys in SETTINGS.items():
        for key, (attribute, _) in keys.items():
            value = defaults[attribute]
            shown = str(value).lower() if isinstance(value, bool) else str(value).removesuffix(".0")
            assert shown == rows.pop(f"{table}.{key}")
    assert rows == {}
