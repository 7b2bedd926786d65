"""From a stream's raw bytes to the text that its record keeps: a pure function of the bytes.

The order is fixed, since every other order leaks secrets or cuts characters: raw windows, tokens at
their edges, decoding, terminal sequences, carriage returns, invisible and control characters,
redaction, cut to lines, long lines, bytes.
"""

from __future__ import annotations

from firsthand.capture.kept import Kept, Limits, keep
from firsthand.capture.windows import EDGE_TOKEN, HEAD_WINDOW, TAIL_WINDOW, Windows

__all__ = ["EDGE_TOKEN", "HEAD_WINDOW", "TAIL_WINDOW", "Kept", "Limits", "Windows", "keep"]
