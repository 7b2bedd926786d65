"""``strays``: found again by pid and start, stopped through a pidfd, and nobody else is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.process.conftest import NOBODY
from tests.process.strays import is_alive, run_ok
from tests.programs.store_sample import sample
from tests.support import eventually, library_environment
from tests.support.readers import name, short

from firsthand.process import leftovers
from firsthand.procfs import start_stamp
from firsthand.store.append import Store
from firsthand.store.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tests.support import CommandLine

DAEMON = "setsid sleep {} >/dev/null 2>&1 </dev/null & sleep 0.2"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(309)"
)
GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""

PIDFD_FIRST = """
import os, sys
from firsthand.process import leftovers
pid, start = int(sys.argv[1]), sys.argv[2]
def held(event, values):
    if event == "open" and values[0] == f"/proc/{pid}/stat":
        links = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")[:-1]]
        print("anon_inode:[pidfd]" in links)
sys.addaudithook(held)
leftovers.hold(pid, start)
"""

STOP_MYSELF = """
import os
child = os.fork()  # below one more process, so that what runs this test is never meant
if child:
    os._exit(abs(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
from firsthand.process import leftovers
from firsthand.procfs import start_stamp
print(*leftovers.stop([(pid, start_stamp(pid)) for pid in (os.getpid(), os.getppid())]).values(), sep="\\n")
"""


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process of this test, which nobody has any business to stop."""
    process = subprocess.Popen(["sleep", "308"])
    yield process
    process.kill()
    process.wait()


def stamp(pid: int) -> str:
    found = start_stamp(pid)
    assert found
    return found


def stray(process: subprocess.Popen[bytes], **changes: Any) -> dict[str, Any]:
    entry = {"pid": process.pid, "start": stamp(process.pid), "command": "sleep 308", "action": "kept"}
    return entry | {"reason": "it detached itself"} | changes


def put(cli: CommandLine, number: int, *strays: dict[str, Any], owner: tuple[int, int] | None = None) -> None:
    place = Place(str(cli.tmp), str(cli.store), owner)
    done = Store(place).append(sample(command_id=name(number), strays=list(strays)))
    assert done["log_error"] is None


def test_a_kept_daemon_is_listed_and_stopped(cli: CommandLine) -> None:
    """Until it is stopped, by name, pid and record; after that there is nothing."""
    record, _ = run_ok(cli, "--", "sh", "-c", DAEMON.format(301))
    (kept,) = record["strays"]
    who = f"sleep 301 (pid {kept['pid']}, of {record['command_id']})"
    listed = cli("strays")
    assert (listed.status, listed.stderr) == (0, "")
    assert listed.stdout == f"kept: {who}: it detached itself as a daemon does\n"
    stopped = cli("strays", "--stop")
    assert (stopped.status, stopped.stdout, stopped.stderr) == (0, f"stopped: {who}\n", "")
    assert not is_alive(kept["pid"])
    nothing = cli("strays", "--stop")
    assert (nothing.status, nothing.stdout) == (0, "")
    assert nothing.stderr == "firsthand: note: nothing that a record of this store names is alive\n"


def test_json_names_the_state(cli: CommandLine) -> None:
    """Alive, then stopped; one object a process."""
    record, _ = run_ok(cli, "--", "sh", "-c", DAEMON.format(302))
    entry = record["strays"][0] | {"command_id": record["command_id"]}
    assert cli("strays", "--json").objects == [entry | {"state": "alive"}]
    assert cli("strays", "--json", "--stop").objects == [entry | {"state": "stopped"}]
    assert cli("strays", "--json").objects == []


def test_one_that_ignores_sigterm_is_killed(cli: CommandLine) -> None:
    """After its two seconds, and not before."""
    process = subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE)
    assert process.stdout
    process.stdout.readline()
    put(cli, 1, stray(process))
    began = time.monotonic()
    assert cli("strays", "--stop").status == 0
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    assert time.monotonic() - began >= GRACE


def test_a_stopped_one_ends_by_sigterm() -> None:
    """It is woken, so that it can act on it."""
    process = subprocess.Popen(["sleep", "307"])
    process.send_signal(signal.SIGSTOP)
    eventually(lambda: is_stopped(process.pid), bool, 1)
    assert leftovers.stop([(process.pid, stamp(process.pid))]) == {}
    assert process.wait() == -signal.SIGTERM


def is_stopped(pid: int) -> bool:
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[0] == b"T"


def test_another_start_is_another_process(cli: CommandLine, sleeper: subprocess.Popen[bytes]) -> None:
    """A pid that went to somebody else is neither listed nor touched; nor is one without a start."""
    start = stamp(sleeper.pid)
    put(cli, 1, stray(sleeper, start=start + "0"), stray(sleeper, start=f"-:{start.partition(':')[2]}"))
    put(cli, 2, stray(sleeper, start=None), stray(sleeper, action="stopped"))
    put(cli, 3, stray(sleeper, pid=None, start=None, action="left"), stray(sleeper, pid=-1))
    result = cli("strays", "--stop")
    assert (result.status, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "firsthand: note: 3 strays without a start cannot be looked for",
        "firsthand: note: nothing that a record of this store names is alive",
    ]
    assert sleeper.poll() is None


def test_a_zombie_is_not_alive(cli: CommandLine) -> None:
    """It only waits for its parent."""
    process = subprocess.Popen(["sleep", "306"])
    put(cli, 1, stray(process))
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert cli("strays").stdout == ""
    process.wait()


def test_one_of_another_user_is_left(user_cli: CommandLine, sleeper: subprocess.Popen[bytes]) -> None:
    """Named with the reason, and status 1."""
    put(user_cli, 1, stray(sleeper, action="left"), owner=(NOBODY, NOBODY))
    result = user_cli("strays", "--stop")
    assert (result.status, result.stderr) == (1, "")
    expected = f"left: sleep 308 (pid {sleeper.pid}, of #1): it belongs to another user\n"
    assert short(result.stdout) == expected
    assert sleeper.poll() is None


def python(code: str, *words: str) -> list[str]:
    env = library_environment(dict(os.environ))
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_who_asks_is_not_stopped() -> None:
    """Nor what it runs below: to stop a terminal from inside would be to end in the middle."""
    assert python(STOP_MYSELF) == ["this very command runs below it"] * 2


def test_the_pidfd_is_opened_before_the_comparison(sleeper: subprocess.Popen[bytes]) -> None:
    """Else the pid could go to another process in between."""
    assert python(PIDFD_FIRST, str(sleeper.pid), stamp(sleeper.pid)) == ["True"]


@pytest.mark.parametrize("pid", [0, -1, True, "1", None, 1 << 40, 1.0])
def test_what_is_no_pid_names_nobody(pid: Any) -> None:
    """A record may come from anywhere; 0 and -1 would mean whole groups."""
    assert not leftovers.is_name(pid, stamp(os.getpid()))
    assert leftovers.stop([(pid, stamp(os.getpid()))]) == {}
