"""The six record files: their names and their size."""

from __future__ import annotations

LIVE_NAME = "feedback_record.jsonl"

ROTATED_NAMES = tuple(f"{LIVE_NAME}.{number}" for number in range(1, 6))
"""From the newest to the oldest."""

NAMES = (LIVE_NAME, *ROTATED_NAMES)

FILE_MOST = 1 << 20
"""Bytes of one record file, so that a store takes six MiB at most."""
