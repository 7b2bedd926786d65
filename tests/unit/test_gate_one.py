"""Whether an agent may go on after one record."""

from __future__ import annotations

import pytest

from firsthand import agent_may_continue

NULL = {"exit_code": None, "error": "timeout", "error_detail": "It was stopped at its limit."}
WELL = [{"command": "grep x", "exit_code": 141}, {"command": "head", "exit_code": 0}]
BADLY = [{"command": "pytest", "exit_code": 1}, {"command": "head", "exit_code": 0}]


@pytest.mark.parametrize(
    ("record", "answer"),
    [
        ({"exit_code": 0}, (True, "exit 0")),
        (NULL, (False, "no exit code (timeout): It was stopped at its limit.")),
        ({}, (False, "there is no record: nothing is known of the command")),
        (None, (False, "there is no record: nothing is known of the command")),
        ({"exit_code": None}, (False, "no exit code (unreported): Run it again to learn how it ends.")),
        (
            {"exit_code": 0, "error": "timeout", "error_detail": "It was stopped."},
            (False, "no exit code (timeout): It was stopped."),
        ),
        (
            {"exit_code": 1, "stderr_tail": "x", "stdout_tail": "y"},
            (False, "exit 1: read stderr and stdout of the record, mend the cause, then retry"),
        ),
        ({"exit_code": 1}, (False, "exit 1: it printed nothing, mend the cause, then retry")),
        (
            {"exit_code": 1, "expect": {"exit_code": [1]}, "expectation_met": True},
            (False, "exit 1, as predicted: still a failure, so say so and decide what follows from it"),
        ),
        (
            {"exit_code": 0, "exit_masked_by": "|"},
            (True, 'exit 0, but "|" hides the exit code of a member: go on, but this is no evidence'),
        ),
        (
            {"exit_code": 0, "exit_masked_by": "unknown"},
            (True, "exit 0 of a shell line: go on, but this is no evidence, what it may hide is not known"),
        ),
        (
            {"exit_code": 0, "log_error": "disk full"},
            (True, "exit 0, but it is not recorded and so no evidence: disk full"),
        ),
        (
            {"exit_code": 0, "expect": {"contains": "12 passed"}, "expectation_met": False},
            (True, "exit 0, but the prediction was not met: read the output before you go on"),
        ),
        (
            {"exit_code": 141, "pipestatus": WELL},
            (True, "exit 141, ended by its reader: go on, but this is no evidence that anything passed"),
        ),
    ],
)
def test_one_record(record: dict[str, object], answer: tuple[bool, str]) -> None:
    """Null refuses, non-zero refuses, an honest zero may go on and says what it is worth."""
    assert answer == agent_may_continue(record)


@pytest.mark.parametrize("pipestatus", [None, [], BADLY])
def test_141_without_a_reader_that_ended_well_is_a_failure(pipestatus: object) -> None:
    """SIGPIPE alone excuses nothing."""
    assert agent_may_continue({"exit_code": 141, "pipestatus": pipestatus})[0] is False


@pytest.mark.parametrize("code", [None, -1, 1, 124, 137, 255, True, False, 0.0, "0"])
def test_nothing_but_zero_is_success(code: object) -> None:
    """Neither null, nor truth, nor a text that looks like zero."""
    assert agent_may_continue({"exit_code": code})[0] is False
