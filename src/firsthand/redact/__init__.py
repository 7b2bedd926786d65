"""The one redaction point: every text field of a record passes through a ``Redactor`` before any write."""

from firsthand.redact.engine import Redactor, redact_text
from firsthand.redact.text import display, one_line

__all__ = ["Redactor", "display", "one_line", "redact_text"]
