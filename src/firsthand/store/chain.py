"""The hash chain: how a line is linked to the one before it; ``links`` reads that again.

``hash`` is the SHA-256 of the stored line's bytes without the member ``"hash":"…",``.
"""

from __future__ import annotations

import sys

from firsthand.errors import StoreError
from firsthand.record import KEYS, NAMES, canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.record import Record

LINE_MOST = 128 * 1024
"""Bytes of a line without its line end; the caps of the fields keep a record below it."""

LINK_KEYS = ("hash", "prev_hash", "seq", "torn")
"""The keys that are known only under the lock, in canonical order."""


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
    order = NAMES if len(whole) == len(KEYS) else sorted(whole, key=_utf16)
    parts: list[list[str]] = [[]]
    for key in order:
        if key in LINK_KEYS:
            parts.append([])
        else:
            parts[-1].append((NAMES.get(key) or f"{canonical(key)}:") + canonical(whole[key]))
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


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")
