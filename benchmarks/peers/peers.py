"""Who is compared: what to install, how to put a command through it, and where it says what came of it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

NO_RECORD = "no record"
MISSING = object()

MAKE_KEY = """
from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
key = Ed25519PrivateKey.generate().private_bytes(
    form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
open("key.pem", "wb").write(key)
"""
"""in-toto signs each record, so it needs a key; its own environment has what makes one."""


class Peer(NamedTuple):
    """One way to run a command.

    In ``start`` and ``prepare``, ``{bin}`` is its environment's folder of programs, ``{limit}`` the limit in
    seconds and ``{spec}`` a file that describes the command; without ``{spec}`` the command follows as it is.
    """

    name: str
    package: str | None
    start: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()
    record: str = ""
    """Pattern of the file that it leaves; empty: what it hands back is its record."""
    keys: tuple[str, ...] = ()
    """Members of the record that say how the command ended."""
    library: str = ""
    """Name of the function in ``host.py``; empty for a command line."""

    @property
    def has_limit(self) -> bool:
        """Whether it can be told how long a command may take."""
        return bool(self.library) or any("{limit}" in word or word == "{spec}" for word in self.start)


OURS = "firsthand"
STORE = ".firsthand/feedback_record.jsonl"

PEERS = (
    Peer(
        "firsthand run",
        OURS,
        ("{bin}/firsthand", "run", "--timeout", "{limit}", "--"),
        record=STORE,
        keys=("exit_code", "error"),
    ),
    Peer(
        "claimstamp run",
        "claimstamp",
        ("{bin}/claimstamp", "run", "--"),
        prepare=("{bin}/claimstamp", "init"),
        record=".claimstamp/ledger.jsonl",
        keys=("exit_code",),
    ),
    Peer(
        "proofcli",
        "proofcli",
        ("{bin}/proofcli", "--report", "report.json", "{spec}"),
        record="report.json",
        keys=("status", "exit_code", "timed_out"),
    ),
    Peer(
        "tycho exec",
        "tycho-cli",
        ("{bin}/tycho", "exec", "--"),
        record=".tycho/commands.jsonl",
        keys=("exit",),
    ),
    Peer(
        "didrun --json",
        "didrun",
        ("{bin}/didrun", "--json", "--took-at-least", "0", "--timeout", "{limit}", "--"),
        keys=("code", "killed"),
    ),
    Peer("monopipe", "monopipe", ("{bin}/monopipe", "--"), keys=("retcode",)),
    Peer(
        "in-toto-run -s",
        "in-toto",
        (
            "{bin}/in-toto-run",
            *("-s", "--step-name", "step", "--signing-key", "key.pem", "--run-timeout", "{limit}", "--"),
        ),
        prepare=("{bin}/python", "-W", "ignore", "-c", MAKE_KEY),
        record="step.*.link",
        keys=("return-value",),
    ),
    Peer("firsthand.run", OURS, record=STORE, library="firsthand_run"),
    Peer("firsthand.run, contain=group", OURS, record=STORE, library="firsthand_group"),
    Peer("swe-rex, local runtime", "swe-rex", library="swe_rex"),
    Peer("mini-swe-agent, local environment", "mini-swe-agent", library="mini_swe_agent"),
    Peer("inspect-ai, local sandbox", "inspect-ai", library="inspect_ai"),
    Peer("subprocess.run", None, library="subprocess_run"),
)


def spec(argv: list[str], limit: int) -> str:
    """Return the contract that proofcli wants instead of an argv; it insists on one check of the output."""
    wanted = {"exit_code": 0, "stdout_regex": "(?s).*"}
    return json.dumps(
        {"version": 1, "name": "probe", "argv": argv, "timeout_seconds": limit, "expect": wanted}
    )


def outcome(record: bytes, keys: tuple[str, ...]) -> str:
    """Say in a record's own words how the command ended."""
    document = _document(record)
    words = [f"{key} {json.dumps(value)}" for key in keys if (value := _find(document, key)) is not MISSING]
    return ", ".join(words) or NO_RECORD


def _document(record: bytes) -> Any:
    """Read a whole JSON document, else the last line of several."""
    for text in (record, record.strip().rpartition(b"\n")[2]):
        try:
            return json.loads(text)
        except ValueError:
            continue
    return None


def _find(document: Any, key: str) -> Any:
    """Return the value of a key that is nearest to the top."""
    level = [document]
    while level:
        for entry in level:
            if isinstance(entry, dict) and key in entry:
                return entry[key]
        level = [value for entry in level for value in _values(entry)]
    return MISSING


def _values(entry: Any) -> list[Any]:
    if isinstance(entry, dict):
        return list(entry.values())
    return entry if isinstance(entry, list) else []
