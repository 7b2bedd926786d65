"""Whatever a record holds, and wherever a writer stops, the store keeps it and can tell."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.programs.store_sample import sample

from firsthand.record import encode
from firsthand.store.append import Store
from firsthand.store.files import LIVE_NAME
from firsthand.store.links import field
from firsthand.store.place import Place
from firsthand.store.readers import Reader
from firsthand.store.verification import verify

if TYPE_CHECKING:
    from collections.abc import Iterator

MARKS = st.sampled_from(
    ['"seq":1,', '"hash":"' + "0" * 64 + '",', '"torn":null', '\\"', "\\", "}", "\n", "\u2028"]
)
TEXTS = st.lists(st.one_of(st.text(max_size=40), MARKS), max_size=6).map("".join)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)
RULES = st.dictionaries(st.sampled_from(["seq", "hash", "prev_hash", "torn", "aws"]), st.integers(0, 9))
CHANGES = st.fixed_dictionaries(
    {"redactions": RULES}, optional={"stdout_tail": TEXTS, "agent_note": TEXTS, "expect": VALUES}
)
EXTRA = st.dictionaries(TEXTS.filter(lambda key: key not in sample()), VALUES, max_size=2)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for the many stores of one module."""
    folder = tmp_path_factory.mktemp("stores")
    yield folder
    shutil.rmtree(folder)


def fresh(base: Path) -> Place:
    return Place(str(base), tempfile.mkdtemp(dir=base))


@given(st.lists(st.builds(dict.__or__, CHANGES, EXTRA), min_size=1, max_size=4))
@settings(deadline=None, max_examples=150)
def test_any_record_comes_back(base: Path, changes: list[dict[str, Any]]) -> None:
    """Append, read and verify agree on every value, and each line is canonical."""
    place = fresh(base)
    store = Store(place)
    records = [store.append(sample(**change)) for change in changes]
    assert [record["log_error"] for record in records] == [None] * len(records)
    reader = Reader(place)
    assert reader.last() == list(reader.all()) == records
    assert reader.skipped == 0
    result = verify(place)
    assert (result.status, result.records, result.notes) == ("intact", len(records), [])
    lines = (Path(place.folder) / LIVE_NAME).read_bytes().split(b"\n")[:-1]
    assert lines == [encode(record) for record in records]


@given(st.dictionaries(TEXTS, VALUES, max_size=5))
@settings(deadline=None)
def test_a_sliced_member_is_the_parsed_one(value: dict[str, Any]) -> None:
    """For every key of any canonical line, whatever stands in its texts and nested members."""
    line = encode(value)
    parsed = json.loads(line)
    for key in value:
        name = json.dumps(key, ensure_ascii=False)[1:-1].encode()
        if b"\\" not in name:
            assert field(line, name) == encode(parsed[key])


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_any_cut_is_healed_and_told(base: Path, data: st.DataObject) -> None:
    """Cut a file anywhere and append: whole records stay, and verify says what happened."""
    place = fresh(base)
    store = Store(place)
    records = [store.append(sample(30)) for _ in range(3)]
    path = Path(place.folder) / LIVE_NAME
    size = path.stat().st_size
    cut = data.draw(st.integers(0, size))
    whole = path.read_bytes()[:cut]
    path.write_bytes(whole)
    lines = [encode(record) for record in records]
    kept = [record for record, line in zip(records, lines, strict=True) if line in whole]
    new = store.append(sample())
    assert new["log_error"] is None
    assert list(Reader(place).all()) == [*kept, new]
    assert new["seq"] == 4
    assert verify(place).status == ("intact" if cut >= size - 1 else "cut_off")


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=3))
@settings(deadline=None)
def test_any_garbage_at_the_end_is_covered(base: Path, garbage: list[bytes]) -> None:
    """Whatever was left behind the last record, the next one names it, and no later change to it passes."""
    place = fresh(base)
    store = Store(place)
    store.append(sample())
    path = Path(place.folder) / LIVE_NAME
    start = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"".join(garbage))
    record = store.append(sample())
    assert (record["seq"], record["log_error"]) == (2, None)
    assert verify(place).ok is True
    data = path.read_bytes()
    left = data[start : -len(encode(record)) - 1]
    assert (record["torn"] is None) == (left == b"")
    if left:
        path.write_bytes(data[:start] + bytes([left[0] ^ 1]) + left[1:] + data[start + len(left) :])
        assert verify(place).ok is False
