"""Whole records to store, for the store's tests and their programs."""

from __future__ import annotations

from firsthand.record import GENESIS_HASH, KEYS, SCHEMA, Record, new_id, timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNLINKED = {"seq": None, "prev_hash": None, "hash": None, "torn": None, "log_error": None}
"""What a record says of the store before it is stored."""

FIRST = {"seq": 1, "prev_hash": GENESIS_HASH, "torn": None, "log_error": None}
"""What the first record of a store says of it, its hash aside."""


def sample(size: int = 0, **changes: Any) -> Record:
    """Return a record of a command that ended well, with so many bytes in ``stdout_tail``."""
    record = Record(dict.fromkeys(KEYS))
    record.update(
        schema=SCHEMA,
        command_id=new_id(),
        input_command_ids=[],
        source="runner",
        via="cli",
        command=["python3", "-c", "print('héllo')"],
        executable="/usr/bin/python3",
        env_names=["PYTHONPATH"],
        replayable=True,
        cwd="/home/somebody/project",
        started_at=timestamp(),
        duration_ms=12,
        exit_code=0,
        stdout_tail="a line of output\n" * (size // 17),
        stderr_tail="",
        truncations={"stdout": 0, "stderr": 0},
        bytes={"stdout": size, "stderr": 0},
        strays=[],
        redactions={},
        environment="agent",
        containment="subreaper",
    )
    record.update(changes)
    return record


def refused(record: Record, *words: str) -> None:
    """Check that a record came back whole, unlinked, and with a sentence that has these words."""
    assert {key: record[key] for key in UNLINKED} == UNLINKED | {"log_error": record["log_error"]}
    assert record["exit_code"] == 0
    assert record["log_error"].startswith("not recorded, ")
    assert "\n" not in record["log_error"]
    for word in words:
        assert word in record["log_error"]
