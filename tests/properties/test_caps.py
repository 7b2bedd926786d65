"""No record, whatever it holds, makes a stored line of more than 128 KiB."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand import caps
from firsthand.caps import shorten
from firsthand.record import KEYS, Record, encode

HASH = "f" * 64
ID = "01a22bc1-e22e-7376-a95e-c3955fbb5bd0"
nasty = st.text(st.sampled_from('a"\\\u00e9\u2400\U0001f600\t\n\x01'))


def largest(character: str) -> Record:
    """Return a record with every field far over its cap."""
    text = character * 100_000
    strays = [
        {"pid": 4194304, "start": f"{ID}:{10**12}", "command": text, "action": "stopped", "reason": "r" * 60}
    ] * 300
    record = Record(dict.fromkeys(KEYS) | dict.fromkeys(caps.TEXT_CAPS, text))
    record.update(
        schema="firsthand.record/1",
        command_id=ID,
        parent_command_id=ID,
        parent_found=True,
        input_command_ids=[ID] * caps.INPUTS_SHOWN,
        seq=10**15,
        source="runner",
        via="claude-prefix",
        command=caps.cut_command([text] * 1000),
        env_names=[f"VARIABLE_NUMBER_{number}" for number in range(60)],
        replayable="redacted",
        started_at="2026-11-30T08:31:58.042Z",
        duration_ms=10**12,
        exit_code=255,
        error="arg_too_long",
        kept_output={"name": f"{ID}.json", "sha256": HASH},
        truncations={"stdout": 10**15, "stderr": 10**15},
        bytes={"stdout": 10**15, "stderr": 10**15},
        expect={"contains": text, "exit_code": list(range(64))},
        exit_masked_by="unknown",
        pipestatus=[{"command": "x" * 60, "exit_code": 1}] * 20,
        strays=strays,
        redactions={f"rule-{number}-{'n' * 40}": 1 for number in range(500)},
        environment="inherit",
        acceptance={"name": "n" * 200, "policy": HASH},
        tree={"before": f"git1:{HASH}", "after": f"git1:{HASH}"},
        containment="subreaper",
        torn=HASH,
        prev_hash=HASH,
        hash=HASH,
    )
    return caps.fit(record)


def test_the_largest_record_fits_a_line() -> None:
    """Every field at its cap at once, in characters of one, two, three and four bytes, escaped or not."""
    for character in 'x"\\\u00e9\u2400\U0001f600':
        record = largest(character)
        assert len(encode(record)) < caps.LINE_CAP, character
        for key, cap in caps.TEXT_CAPS.items():
            assert caps.size(record[key]) <= cap, key


@given(nasty, st.integers(60, 4000))
def test_a_cut_text_is_within_its_cap_and_says_how_much_is_gone(text: str, cap: int) -> None:
    """Kept characters and the number in the marker add up to the whole."""
    cut = caps.cut_text(text, cap)
    assert caps.size(cut) <= cap
    marker = re.search(r"\.\.\.truncated (\d+) characters\.\.\.", cut)
    if marker:
        assert len(text) == len(cut) - len(marker[0]) + int(marker[1])
        assert text.startswith(cut[: marker.start()])
        assert text.endswith(cut[marker.end() :])
    else:
        assert text == cut


@settings(max_examples=30)
@given(st.lists(st.text(max_size=3000), min_size=1, max_size=300))
def test_a_cut_command_keeps_its_ends(arguments: list[str]) -> None:
    """The program's name and the last argument survive, and a count says how many are gone."""
    cut = caps.cut_command(arguments)
    assert caps.size(cut) <= caps.COMMAND_CAP
    assert len(cut) <= caps.COMMAND_ARGUMENTS
    assert shorten.characters(arguments[0], caps.ARGUMENT_CHARACTERS) == cut[0]
    gone = [word for word in cut if re.fullmatch(r"\.\.\.truncated \d+ arguments\.\.\.", word)]
    if len(cut) != len(arguments):
        assert len(arguments) == len(cut) - 1 + int(gone[0].split()[1])


def test_more_strays_than_fit_are_counted() -> None:
    """Twenty are listed, one entry counts the rest, and the worst action shows."""
    entry = {"pid": 1, "start": None, "command": "c", "action": "stopped", "reason": "r"}
    cut = shorten.strays([entry] * 24 + [entry | {"action": "left"}])
    assert len(cut) == 21
    assert (cut[-1]["command"], cut[-1]["action"]) == ("and 5 more", "left")


def test_redaction_counts_that_do_not_fit_are_summed() -> None:
    """Nothing is lost from the total."""
    counts = {f"{'r' * 50}{number}": 2 for number in range(200)}
    cut = shorten.counts(counts)
    assert caps.size(cut) <= caps.REDACTIONS_CAP
    assert sum(cut.values()) == 400
    assert "other" in cut
