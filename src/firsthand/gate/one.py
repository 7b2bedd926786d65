"""May an agent go on after this one record?"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ENDED_BY_READER = 141
"""128 + SIGPIPE: what a shell reports for a member whose reader had seen enough (``grep x | head``)."""


def agent_may_continue(record: Mapping[str, Any]) -> tuple[bool, str]:
    """Return whether an agent's loop may advance on this record, and one sentence that says why.

    Null refuses and so does any code but 0. An honest 0 that a shell construct may have hidden something
    behind may go on, and the reason says that it is no evidence. A predicted failure is still a failure.
    """
    if not record:
        return False, "there is no record: nothing is known of the command"
    code = record.get("exit_code")
    if type(code) is not int or record.get("error"):
        return False, _null(record)
    if code == ENDED_BY_READER and _readers_ended_well(record.get("pipestatus")):
        return True, "exit 141, ended by its reader: go on, but this is no evidence that anything passed"
    if code != 0:
        return False, _failed(record, code)
    return True, _succeeded(record)


def _null(record: Mapping[str, Any]) -> str:
    word = record.get("error") or "unreported"
    detail = record.get("error_detail") or "Run it again to learn how it ends."
    return f"no exit code ({word}): {detail}"


def _failed(record: Mapping[str, Any], code: int) -> str:
    expect = record.get("expect") or {}
    if record.get("expectation_met") and "exit_code" in expect:
        return f"exit {code}, as predicted: still a failure, so say so and decide what follows from it"
    streams = [name for name in ("stderr", "stdout") if record.get(f"{name}_tail")]
    where = f"read {' and '.join(streams)} of the record" if streams else "it printed nothing"
    return f"exit {code}: {where}, mend the cause, then retry"


def _succeeded(record: Mapping[str, Any]) -> str:
    mask = record.get("exit_masked_by")
    if record.get("log_error"):
        return f"exit 0, but it is not recorded and so no evidence: {record['log_error']}"
    if mask == "unknown":
        return "exit 0 of a shell line: go on, but this is no evidence, what it may hide is not known"
    if mask:
        return f'exit 0, but "{mask}" hides the exit code of a member: go on, but this is no evidence'
    if record.get("expectation_met") is False:
        return "exit 0, but the prediction was not met: read the output before you go on"
    return "exit 0"


def _readers_ended_well(pipestatus: Any) -> bool:
    if not pipestatus or pipestatus[-1].get("exit_code") != 0:
        return False
    return all(member.get("exit_code") in (0, ENDED_BY_READER) for member in pipestatus)
