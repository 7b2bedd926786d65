"""Which processes belong to a run, seen from a host that may adopt and reap nothing but its own child."""

from __future__ import annotations

import os
import time

from firsthand import survey
from firsthand.process import signals
from firsthand.process.ending import end_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.process.spawn import Child
    from firsthand.survey import Process


LOOKS = 5
"""Looks at a group of which nobody is seen: only zombies are left, or one that forks faster than we look."""


class Session:
    """The processes of the command's session and process group.

    ``whole`` says whether the last look at the members can have missed none.
    """

    name = "group"
    whole = True

    def __init__(self, child: Child | None, leader: int) -> None:
        self.child = child
        self.leader = leader

    def members(self) -> list[Process]:
        """Return the living processes of the session and group, and below the leader while that lives."""
        mine = self.leader
        seen = [each for each in survey.everyone() if mine in (each.session, each.group)]
        self.whole = bool(seen) or not self._group_exists()
        found = [each for each in seen if each.alive]
        known = {each.pid for each in found}
        return found + [each for each in survey.descendants(mine) if each.pid not in known]

    def empty(self) -> bool:
        """True when the command's process group has no living member; an ended child is reaped."""
        alive = self._group_exists() and any(self.members() for _ in range(LOOKS))
        if self.child:
            self.child.poll()
        return not alive

    def strike(self) -> None:
        """Kill the whole group with one call, so that nobody in it can be missed."""
        try:
            os.killpg(self.leader, signals.SIGKILL)
        except OSError:
            return

    def _group_exists(self) -> bool:
        try:
            os.killpg(self.leader, 0)
        except ProcessLookupError:
            return False
        except OSError:
            return True
        return True


def end_session(leader: tuple[int, str | None] | None) -> list[Process]:
    """End what is left of a command's session, given its leader's pid and start stamp; return the survivors.

    For a host whose keeper was killed: the orphans are init's children now, so only the session ties them.
    """
    if leader is None:
        return []
    process = survey.look(leader[0])
    if process is not None and leader[1] not in (None, process.stamp):
        return []  # the pid belongs to somebody else by now
    session = Session(None, leader[0])
    return end_all(session, time.sleep, time.monotonic, lambda: False)
