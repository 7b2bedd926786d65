"""The hash chain: how a line is linked to the one before it, and how its links are read again.

``hash`` is the SHA-256 of the stored line's bytes without the member ``"hash":"…",``. Links are read by
slicing: ``"seq":`` with bare quotes cannot stand inside a JSON string, so one occurrence needs no parser.
"""

from __future__ import annotations

import sys

from firsthand.errors import StoreError
from firsthand.record import KEYS, canonical, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

    from firsthand.record import Record
    from firsthand.store.place import Place
    from firsthand.store.verification import Verification

LINE_MOST = 128 * 1024
"""Bytes of a line without its line end; the caps of the fields keep a record below it."""

SEQ_MOST = (1 << 53) - 1
"""The largest integer that every JSON reader keeps exact."""

LINK_KEYS = ("hash", "prev_hash", "seq", "torn")
"""The keys that are known only under the lock, in canonical order."""

_NAMES = {key: f'"{key}":' for key in sorted(KEYS)}
"""Our own keys as they stand in a line. They are ASCII, so the order of code points is the canonical one."""

_HEX = frozenset(b"0123456789abcdef")


def digest(data: bytes) -> str:
    """Return the SHA-256 of ``data`` in hex, without the start-up cost of ``hashlib`` where possible."""
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
        else:
            from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256
    return str(sha256(data).hexdigest())


def split(record: Record) -> list[bytes]:
    """Return the five encoded parts of a record between which the four link keys stand.

    This is the slow half of an append, so it is done before the lock is taken.

    Raises:
        StoreError: the line would be longer than ``LINE_MOST``.
    """
    whole = dict.fromkeys(KEYS) | record
    whole["log_error"] = None
    order = _NAMES if len(whole) == len(KEYS) else sorted(whole, key=_utf16)
    parts: list[list[str]] = [[]]
    for key in order:
        if key in LINK_KEYS:
            parts.append([])
        else:
            parts[-1].append((_NAMES.get(key) or f"{canonical(key)}:") + canonical(whole[key]))
    encoded = [",".join(part).encode("utf-8", "replace") for part in parts]
    size = sum(map(len, encoded))
    if size > LINE_MOST - 300:  # the link keys and their values take less than 300 bytes
        raise StoreError(f"its line would be {size} bytes long", "report this as a bug of firsthand")
    return encoded


def link(parts: list[bytes], seq: int, prev_hash: str, torn: str | None) -> tuple[bytes, str]:
    """Return the line (without line end) and its hash, for the parts that :func:`split` gave."""
    first, second, third, fourth, fifth = parts
    before = b"{%b," % first
    after = b'%b,"prev_hash":"%b",%b,"seq":%d,%b,"torn":%b,%b}' % (
        second,
        prev_hash.encode(),
        third,
        seq,
        fourth,
        b'"%b"' % torn.encode() if torn else b"null",
        fifth,
    )
    own = digest(before + after)
    return b'%b"hash":"%b",%b' % (before, own.encode(), after), own


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


def verify(place: Place) -> Verification:
    """Check every link of a store; see :func:`firsthand.store.verification.verify`."""
    from firsthand.store import verification

    return verification.verify(place)


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _is_hash(text: bytes | None) -> TypeGuard[bytes]:
    return text is not None and len(text) == 66 and text[:1] == b'"' and _HEX.issuperset(text[1:-1])


def _parsed(line: bytes, key: bytes) -> bytes | None:
    import json

    try:
        value = json.loads(line)
        return encode(value[key.decode()]) if isinstance(value, dict) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
