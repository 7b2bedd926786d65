"""Links read by slicing."""

from __future__ import annotations

import pytest
from tests.programs.store_sample import sample

from firsthand.record import GENESIS_HASH, encode
from firsthand.store.chain import digest, link, split
from firsthand.store.links import field, is_intact, links

LINE, HASH = link(split(sample(50, agent_note='"seq":9,"hash":"x"')), 12, GENESIS_HASH, None)


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        (b'{"a":"x","b":12,"c":null}', b"a", b'"x"'),
        (b'{"a":"x","b":12,"c":null}', b"b", b"12"),
        (b'{"a":"x","b":12,"c":null}', b"c", b"null"),
        (b'{"a":"x","b":12}', b"b", b"12"),
        (b'{"a":"x"}', b"b", None),
        (b'{"a":{"b":1},"b":2}', b"b", b"2"),
        (b'{"a":{"b":1},"c":[1,{"x":"y"}]}', b"c", b'[1,{"x":"y"}]'),
        (b'{"a":"q\\"b\\":5","b":6}', b"b", b"6"),
        (b'{"a":"q\\"b"}', b"a", b'"q\\"b"'),
        (b'{"a":"b\\\\","b":6}', b"a", b'"b\\\\"'),
        (b'{"a":"unfinished', b"a", None),
        (b'{"a":{"b":1,"b":2', b"b", None),
        (b'[{"a":1},{"a":2}]', b"a", None),
        (b'{"a":{"b":1},"c":{"b":2}}', b"b", None),
        (b'{"a":[0.5],"a":[0.5]}', b"a", None),
        (b"", b"a", None),
    ],
)
def test_a_member_is_found_at_the_top_level(line: bytes, key: bytes, value: bytes | None) -> None:
    """Nested members and texts that look like members do not count."""
    assert field(line, key) == value


def test_links_of_a_line() -> None:
    """As they were put in, whatever stands in the texts."""
    assert links(LINE) == (12, GENESIS_HASH, HASH)
    assert is_intact(LINE)
    assert links(LINE[1:]) is links(LINE[:-1]) is links(b"") is None


def test_a_line_is_what_the_record_encodes_to() -> None:
    """Joined from its parts it is the canonical JSON of the whole record."""
    record = sample(80, torn="f" * 64)
    line, own = link(split(record), 3, GENESIS_HASH, "f" * 64)
    record.update(seq=3, prev_hash=GENESIS_HASH, hash=own)
    assert line == encode(record)


@pytest.mark.parametrize("at", range(0, len(LINE), 7))
def test_every_byte_counts(at: int) -> None:
    """A line with one byte changed, or cut there, is not intact."""
    assert not is_intact(LINE[:at] + bytes([LINE[at] ^ 1]) + LINE[at + 1 :])
    assert not is_intact(LINE[:at])
    assert not is_intact(LINE[at + 1 :])


@pytest.mark.parametrize(
    "seq", [b"0", b"-1", b"1.5", b'"1"', b"null", b"12345678901234567", b"9007199254740992", b"9" * 5000]
)
def test_an_impossible_number_is_no_link(seq: bytes) -> None:
    """Numbers go from 1 to what every JSON reader keeps exact."""
    assert links(LINE.replace(b'"seq":12,', b'"seq":%b,' % seq)) is None


@pytest.mark.parametrize("value", [b"null", b'"abc"', b'"' + b"g" * 64 + b'"', b'"' + b"A" * 64 + b'"'])
@pytest.mark.parametrize("key", [b"hash", b"prev_hash"])
def test_a_hash_is_64_small_hex_digits(key: bytes, value: bytes) -> None:
    """Anything else is no link."""
    old = {b"hash": HASH.encode(), b"prev_hash": GENESIS_HASH.encode()}[key]
    assert links(LINE.replace(b'"%b":"%b"' % (key, old), b'"%b":%b' % (key, value))) is None


def test_digest_is_sha_256() -> None:
    """The known value of the empty text."""
    assert digest(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
