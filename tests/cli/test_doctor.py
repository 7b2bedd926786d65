"""``doctor``."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.support.readers import stored
from tests.support.store import everything

from firsthand._version import __version__
from firsthand.cli import store_checks
from firsthand.record import timestamp

if TYPE_CHECKING:
    from tests.support import CommandLine

CHECKS = [
    "python", "containment", "pidfd", "children", "store", "records", "writable", "private", "lock", "space",
    "clock", "configuration", "git", "extra shell", "extra mcp", "extra tui",
]  # fmt: skip
DAY = 86_400 * 10**9


def states(cli: CommandLine, *args: str) -> dict[str, tuple[str, str, str | None]]:
    """Return state, message and hint of each check."""
    result = cli("doctor", "--json", *args)
    found = {each["check"]: (each["state"], each["message"], each["hint"]) for each in result.objects}
    assert result.stderr == ""
    assert result.status == any(state == "broken" for state, _, _ in found.values())
    assert all(hint for state, _, hint in found.values() if state != "ok")
    return found


def test_all_is_well(cli: CommandLine) -> None:
    """Every check in its order; nothing in the store has changed."""
    cli("run", "--", "true")
    before = everything(cli.store)
    result = cli("doctor")
    assert (result.status, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert [line[9:].partition(":")[0] for line in lines] == CHECKS
    assert {line[:9] for line in lines} == {"ok       "}
    assert lines[0].startswith(f"ok       python: firsthand {__version__}, Python {sys.version.split()[0]} (")
    assert lines[4] == f"ok       store: {cli.store} (FIRSTHAND_DIR says so)"
    assert everything(cli.store) == before


def test_a_project_without_a_store_has_none_afterwards(cli: CommandLine) -> None:
    """And no file anywhere."""
    found = states(cli)
    assert list(found) == [check for check in CHECKS if check not in ("private", "lock")]
    assert found["records"] == ("ok", "none yet", None)
    assert not cli.store.exists()
    assert [*cli.tmp.iterdir(), *cli.home.iterdir()] == []


def test_where_the_store_is_and_why(cli: CommandLine) -> None:
    """Each rule in its own words."""

    def why(*args: str) -> str:
        return states(cli, *args)["store"][1]

    cli.env.pop("FIRSTHAND_DIR")
    store = f"{cli.tmp}/.firsthand"
    assert why() == f"{store} (in the current folder, which belongs to no project)"
    (cli.tmp / "firsthand.toml").touch()
    assert why() == f"{store} (beside the nearest firsthand.toml)"
    subprocess.run(["git", "init", "-q", str(cli.tmp)], check=True)
    assert why() == f"{store} (in the top level of the git work tree)"
    assert why("--project", str(cli.base)) == f"{cli.base}/.firsthand (of --project)"
    assert why("--project", str(cli.home)).startswith(f"{cli.home} is the home folder and holds no store")


def test_a_project_that_does_not_exist(cli: CommandLine) -> None:
    """Nothing can be said of its store."""
    gone = f"{cli.tmp}/gone"
    found = states(cli, "--project", gone)
    assert found["project"] == ("broken", f"there is no folder {gone}", "name another with --project")
    assert "records" not in found


def test_a_store_that_may_not_be_read(cli: CommandLine) -> None:
    """Is named with the reader's own hint, and not looked at further."""
    cli.store.symlink_to(cli.tmp)
    found = states(cli)
    assert found["records"] == (
        "broken",
        f"{cli.store} is a symbolic link",
        "remove it, or set FIRSTHAND_DIR to the folder that it points to",
    )
    assert "lock" not in found


def test_a_store_open_to_others(cli: CommandLine) -> None:
    """Folder or file."""
    cli("run", "--", "true")
    live = cli.store / "feedback_record.jsonl"
    live.chmod(0o640)
    assert states(cli)["private"] == ("broken", f"{live} is open to others", f"chmod go= {live}")
    live.chmod(0o600)
    cli.store.chmod(0o755)
    assert states(cli)["private"][:2] == ("broken", f"{cli.store} is open to others")


def test_a_lock_that_is_held(cli: CommandLine) -> None:
    """By somebody who does not let go."""
    cli("run", "--", "true")
    with open(cli.store / "lock", "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        state, message, hint = states(cli)["lock"]
    assert (state, message) == ("broken", f"the store {cli.store} is busy: its lock was held for 5 s")
    assert "end or resume the process" in str(hint)


def test_bad_lines(cli: CommandLine) -> None:
    """A warning alone breaks nothing."""
    cli("run", "--", "true")
    with (cli.store / "feedback_record.jsonl").open("a") as file:
        file.write("nonsense\n")
    assert states(cli)["records"] == ("warning", "bad lines that are no records: 1", "firsthand verify")


def test_a_clock_that_went_back(cli: CommandLine) -> None:
    """The newest record is from the future."""
    later = timestamp(DAY * 30_000)
    stored(cli, 1)
    stored(cli, 2, command=["make"], started_at=later)
    state, message, hint = states(cli)["clock"]
    assert (state, bool(hint)) == ("broken", True)
    assert message.endswith(f"but the newest record began at {later}")


def test_a_configuration_that_cannot_be_used(cli: CommandLine) -> None:
    """As ``run`` would refuse it."""
    file = cli.tmp / "firsthand.toml"
    file.write_text("[run]\ntimeout = 9\n")
    assert states(cli)["configuration"] == ("ok", str(file), None)
    file.write_text("[run]\ntimeuot = 9\n")
    assert states(cli)["configuration"] == (
        "broken", f"{file}: unknown key run.timeuot", "did you mean run.timeout?",
    )  # fmt: skip


def test_no_git(cli: CommandLine) -> None:
    """A warning."""
    cli.env["PATH"] = str(cli.base / "bin")
    assert states(cli)["git"][::2] == ("warning", "install git")


def test_little_space_is_a_warning(monkeypatch: pytest.MonkeyPatch, cli: CommandLine) -> None:
    """Below the limit, whatever the disk has."""
    disk = os.statvfs(cli.tmp)
    free = disk.f_bavail * disk.f_frsize
    monkeypatch.setattr(store_checks, "LEAST_FREE", free * 2)
    assert store_checks._space(str(cli.tmp)).state == "warning"
    monkeypatch.setattr(store_checks, "LEAST_FREE", free // 2)
    assert store_checks._space(str(cli.tmp)).state == "ok"


def test_a_secret_in_a_path_is_not_shown(cli: CommandLine) -> None:
    """Paths have passed no record, so they are redacted here."""
    secret = "correct-" + "horse"
    folder = cli.base / ("pass" + "word=" + secret)
    result = cli("doctor", env={"FIRSTHAND_DIR": str(folder)})
    assert "[REDACTED:" in result.stdout
    assert secret not in result.stdout
