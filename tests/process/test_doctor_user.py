"""``doctor`` for an ordinary user, whom permissions stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.support import CommandLine


def test_what_cannot_be_written(user_cli: CommandLine) -> None:
    """The folder, a file in it, or where a store would have to be made."""
    action = "mend its permissions, or set FIRSTHAND_DIR to another folder"

    def writable() -> tuple[str, str, str]:
        (found,) = [each for each in user_cli("doctor", "--json").objects if each["check"] == "writable"]
        return found["state"], found["message"], found["hint"]

    user_cli.base.chmod(0o500)
    assert writable() == ("broken", f"{user_cli.base} cannot be written", action)
    user_cli.base.chmod(0o700)
    assert user_cli("run", "--", "true").status == 0
    assert writable()[0] == "ok"
    (user_cli.store / "head").chmod(0o400)
    assert writable() == ("broken", f"{user_cli.store}/head cannot be written", action)
    user_cli.store.chmod(0o500)
    assert writable() == ("broken", f"{user_cli.store} cannot be written", action)
