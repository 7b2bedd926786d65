"""What a user is told when a store cannot be read or written."""

from __future__ import annotations

import errno

from firsthand import caps
from firsthand.errors import FirsthandError, StoreError


def unreadable(error: OSError, path: str) -> StoreError:
    """Return the error that readers raise for what the system answered, which may be one already."""
    if isinstance(error, StoreError):
        return error
    return StoreError(f"the store {path} cannot be read ({error.strerror})", "mend its permissions")


def not_recorded(error: Exception, folder: str) -> str:
    """Return the ``log_error`` of a record that could not be stored: why, and what to do."""
    text = f"not recorded, {_sentence(error, folder)}".encode("utf-8", "replace").decode()
    return caps.cut_text(text, caps.TEXT_CAPS["log_error"])


def _sentence(error: Exception, folder: str) -> str:
    if isinstance(error, FirsthandError):
        return f"{error.message}: {error.hint}"
    if not isinstance(error, OSError):
        return f"it cannot be encoded ({error}): report this as a bug of firsthand"
    action = "mend its permissions, or set FIRSTHAND_DIR to another folder"
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        action = "free some space, then run it again"
    elif error.errno == errno.EFBIG:
        action = "raise the file size limit (ulimit -f), then run it again"
    return f"the store {folder} cannot be written ({error.strerror}): {action}"
