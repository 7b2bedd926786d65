"""Which processes belong to a run: the whole tree below this process, a subreaper."""

from __future__ import annotations

import os

from firsthand import procfs
from firsthand.process import spawn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from firsthand.process.spawn import Child
    from firsthand.survey import Process

    class Reach(Protocol):
        """The processes of a run that we can see and stop."""

        name: str
        whole: bool

        def members(self) -> list[Process]: ...
        def empty(self) -> bool: ...
        def strike(self) -> None: ...


class Tree:
    """Every descendant of this process, a subreaper: nothing below it can escape by forking or setsid.

    ``whole`` says whether the last look at the members can have missed none.
    """

    name = "subreaper"
    whole = True

    def __init__(
        self, child: Child | None = None, spared: frozenset[int] = frozenset(), since: int = 0
    ) -> None:
        self.child = child
        self.spared = spared
        self.since = since

    def members(self) -> list[Process]:
        from firsthand import survey

        found, self.whole = survey.below(os.getpid(), self.spared)
        return [process for process in found if process.start >= self.since]

    def empty(self) -> bool:
        """Reap what has ended; True when the kernel says that no child is left at all."""
        if self.spared:
            return self._empty_beside_others()
        while True:
            try:
                result = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG)
            except ChildProcessError:
                return True
            if result is None:
                return False
            if self.child and result.si_pid == self.child.pid:
                word = "exited" if result.si_code == os.CLD_EXITED else "signal"
                self.child.status = (word, result.si_status)

    def strike(self) -> None:
        """Do nothing: no call reaches a whole tree, its members are killed one by one until none is left."""

    def _empty_beside_others(self) -> bool:
        for pid in procfs.children(os.getpid()):
            if pid not in self.spared:
                spawn.wait(pid)
        return not self.members() and self.whole
