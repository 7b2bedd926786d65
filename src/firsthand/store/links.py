"""Read the links of stored lines by slicing.

``"seq":`` with bare quotes cannot stand inside a JSON string, so one occurrence needs no parser.
"""

from __future__ import annotations

from firsthand.record import encode
from firsthand.store.chain import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

SEQ_MOST = (1 << 53) - 1
"""The largest integer that every JSON reader keeps exact."""

_HEX = frozenset(b"0123456789abcdef")


def links(line: bytes) -> tuple[int, str, str] | None:
    """Return ``(seq, prev_hash, hash)`` of a line by slicing, or ``None`` where it has not all three.

    Whether the hash is right is not looked at: see :func:`is_intact`.
    """
    if line[:1] != b"{" or line[-1:] != b"}":
        return None
    seq, before, own = field(line, b"seq"), field(line, b"prev_hash"), field(line, b"hash")
    if seq is None or not seq.isdigit() or len(seq) > 16 or not _is_hash(before) or not _is_hash(own):
        return None
    number = int(seq)
    return (number, before[1:-1].decode(), own[1:-1].decode()) if 0 < number <= SEQ_MOST else None


def is_intact(line: bytes) -> bool:
    """Say whether a line has its links and its hash is that of its bytes."""
    found = links(line)
    if found is None:
        return False
    own = found[2]
    before, member, after = line.partition(b'"hash":"%b",' % own.encode())
    return bool(member) and digest(before + after) == own


def field(line: bytes, key: bytes) -> bytes | None:
    """Return the JSON text of a top-level member (``b'"ab"'``, ``b'12'``, ``b'null'``), or ``None``.

    Sliced out where the key stands once in the line and the value is plain; parsed only where it is not.
    A record has all its keys; of a line without the key, a nested member of that name may be returned.
    """
    mark = b'"%b":' % key
    start = line.find(mark) + len(mark)
    if start < len(mark):
        return None
    if line.find(mark, start) >= 0:
        return _parsed(line, key)
    kind = line[start : start + 1]
    if kind == b'"':
        text = line[start : line.find(b'"', start + 1) + 1]
        return _parsed(line, key) if not text or b"\\" in text else text
    if kind in {b"{", b"["}:
        return _parsed(line, key)
    return line[start:].partition(b",")[0].rstrip(b"}")


def _is_hash(text: bytes | None) -> TypeGuard[bytes]:
    return text is not None and len(text) == 66 and text[:1] == b'"' and _HEX.issuperset(text[1:-1])


def _parsed(line: bytes, key: bytes) -> bytes | None:
    import json

    try:
        value = json.loads(line)
        return encode(value[key.decode()]) if isinstance(value, dict) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
