"""Every exception that firsthand raises; each carries the next action in ``hint``.

A command that fails is data, never an exception. These are for misuse and for our own failures::

    FirsthandError
    +-- UsageError (ValueError)         the call or the command line makes no sense
    +-- ConfigError (ValueError)        a configuration file cannot be used as it is
    +-- RecordFormatError (ValueError)  bytes that should be a record are not one
    +-- StoreError (OSError)            the store is refused, busy, or cannot be read or written
    +-- MissingExtraError (ImportError) an optional part is not installed
"""

from __future__ import annotations


class FirsthandError(Exception):
    """Base of all; ``str(error)`` says what is wrong and ``error.hint`` what to do next."""

    code = "error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class UsageError(FirsthandError, ValueError):
    """Raised before anything runs, when arguments are missing, unknown or contradict each other."""

    code = "usage"


class ConfigError(FirsthandError, ValueError):
    """Raised before anything runs, when a configuration file has a bad value or may not be trusted."""

    code = "config"


class RecordFormatError(FirsthandError, ValueError):
    """Raised by :func:`firsthand.record.decode` for bytes that hold no ``firsthand.record/1``."""

    code = "record_format"


class StoreError(FirsthandError, OSError):
    """Raised by readers and by ``verify``; a run never raises it but says so in ``log_error``."""

    code = "store"


class MissingExtraError(FirsthandError, ImportError):
    """Raised when an optional part is used that is not installed; the hint is the install command."""

    code = "missing_extra"
