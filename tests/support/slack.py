"""How much longer than its due everything may take, because the machine is shared."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

SLACK = float(os.environ.get("FIRSTHAND_TEST_SLACK", "5"))
"""Every upper bound of time in the tests is multiplied by this; lower bounds never are."""

_LOOK_AGAIN_SECONDS = 0.02

Value = TypeVar("Value")


def eventually(look: Callable[[], Value], good: Callable[[Value], bool], seconds: float) -> Value:
    """Look again and again until it is good, for ``seconds`` times the slack; return what was seen last."""
    until = time.monotonic() + seconds * SLACK
    while True:
        now = time.monotonic()
        value = look()
        if good(value) or now >= until:
            return value
        time.sleep(_LOOK_AGAIN_SECONDS)
