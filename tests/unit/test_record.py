"""The record: ids, canonical text, reading back, and the schema that ships with it."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import RecordFormatError
from firsthand.record import KEYS, SCHEMA, Record, canonical, decode, encode, new_id, quote, timestamp

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from([key for key in KEYS if key != "schema"]), json_values))
def test_a_record_reads_back_as_it_was_written(values: dict[str, object]) -> None:
    """Any Unicode text in any key survives encoding and decoding."""
    record = Record(dict.fromkeys(KEYS) | values | {"schema": SCHEMA})
    assert record == decode(encode(record))


@given(json_values)
def test_canonical_text_is_json_with_sorted_keys(value: object) -> None:
    """RFC 8785: no blanks, keys by UTF-16 code units, nothing escaped that need not be."""
    text = canonical(value)
    assert value == json.loads(text)
    expected = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=False)
    assert len(expected) == len(text)


def test_keys_are_sorted_by_utf16_code_units() -> None:
    """A character beyond the basic plane sorts before U+FB33, as its first surrogate does."""
    assert (
        canonical({"\ufb33": 3, "\U0001f600": 2, "a": 1, "": 0}) == '{"":0,"a":1,"\U0001f600":2,"\ufb33":3}'
    )


def test_control_characters_are_escaped_as_rfc_8785_says() -> None:
    """Short forms where they exist, else lower-case hexadecimal."""
    assert canonical('\b\t\n\f\r\x00\x1f"\\/') == r'"\b\t\n\f\r\u0000\u001f\"\\/"' + ""


def test_a_number_that_is_no_integer_is_refused() -> None:
    """Two writers could print it differently."""
    with pytest.raises(TypeError, match="float"):
        canonical(0.5)


@given(st.lists(st.integers(0, 2**60), min_size=2, max_size=20, unique=True))
def test_ids_sort_by_time(moments: list[int]) -> None:
    """Ids of different milliseconds sort as their times do, and all are version 7."""
    moments = sorted({moment // 1_000_000 * 1_000_000 for moment in moments if moment < 2**48 * 1_000_000})
    ids = [new_id(moment) for moment in moments]
    assert ids == sorted(ids)
    assert all(each[14] == "7" and each[19] in "89ab" and len(each) == 36 for each in ids)


def test_ids_are_unique() -> None:
    """Ten thousand ids made at once differ."""
    assert len({new_id(0) for _ in range(10_000)}) == 10_000


def test_a_timestamp_is_utc_with_milliseconds() -> None:
    """RFC 3339, and cut, not rounded, to the millisecond."""
    assert timestamp(1_999_999_999) == "1970-01-01T00:00:01.999Z"


def test_attributes_are_keys() -> None:
    """Both spellings read the same; an unknown one is an AttributeError."""
    record = Record(exit_code=3)
    assert 3 == record.exit_code == record["exit_code"]
    with pytest.raises(AttributeError):
        _ = record.nonsense  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b"null", b'{"schema":"firsthand.record/2"}', b"\xff", b"[" * 100_000, b'{"a":1}'],
    ids=["empty", "half", "list", "null", "newer", "bytes", "deep", "foreign"],
)
def test_what_is_no_record_is_refused(line: bytes) -> None:
    """With an error that names the next action."""
    with pytest.raises(RecordFormatError) as caught:
        decode(line)
    assert caught.value.hint


def test_a_duplicate_key_is_refused_when_asked() -> None:
    """A reader that takes the last one and a judge that takes the first would disagree."""
    line = b'{"schema":"firsthand.record/1","exit_code":1,"exit_code":0}'
    assert decode(line).exit_code == 0
    with pytest.raises(RecordFormatError):
        decode(line, strict=True)


def test_unknown_keys_are_kept_and_missing_ones_are_null() -> None:
    """An older or a newer writer of the same schema can be read."""
    record = decode(b'{"schema":"firsthand.record/1","colour":"blue"}')
    assert (record["colour"], record["tree"]) == ("blue", None)


def test_the_schema_names_every_key() -> None:
    """The JSON Schema of the package and the list of keys are the same."""
    schema = json.loads(resources.files("firsthand").joinpath("record.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert list(KEYS) == schema["required"] == list(schema["properties"])


@given(st.text())
def test_quoting_is_that_of_the_standard_library(text: str) -> None:
    """The fast way and the table give the same text."""
    assert quote(text) == json.dumps(text, ensure_ascii=False)
