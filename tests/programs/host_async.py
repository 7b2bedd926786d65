"""A host of the library with an asyncio loop of its own, and what it sees of its runs.

The order: ``what`` (a function below), ``contain``.
The report: what the function returns, and ``ticks``: how often the loop got round to its own work meanwhile.
"""

import asyncio
import json
import sys
import time

import firsthand

order = json.loads(sys.argv[1])
STUBBORN = ["sh", "-c", "trap '' TERM; : >begun; while :; do sleep 0.1; done"]
POLITE = ["sh", "-c", "echo printed; : >begun; exec sleep 300"]
ticks = 0


async def main():
    ticker = asyncio.create_task(tick())
    report = await globals()[order["what"]]()
    ticker.cancel()
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task() and task is not ticker]
    print(json.dumps({"found": report, "ticks": ticks, "tasks": len(tasks)}), flush=True)
    sys.stdin.buffer.read()


async def tick():
    global ticks
    while True:
        ticks += 1
        await asyncio.sleep(0.005)


def run(argv, **options):
    return firsthand.arun(argv, contain=order["contain"], **options)


async def many():
    """More at once than any pool of threads has, beside a child of the host's own."""
    argvs = [["sh", "-c", f"sleep 0.1; echo {number}; exit {number}"] for number in range(40)]
    child = await asyncio.create_subprocess_exec("sh", "-c", "sleep 0.05; exit 7")
    records = await asyncio.gather(*map(run, argvs))
    return [[record.exit_code, record.stdout_tail, record.containment] for record in records] + [await child.wait()]


async def cancelled():
    """A task is cancelled while its command runs."""
    return await ended(asyncio.create_task(run(POLITE)), 1)


async def cancelled_twice():
    """The second cancel does not wait for a command that ignores the first."""
    return await ended(asyncio.create_task(run(STUBBORN)), 2)


async def ended(task, times):
    await begun()
    began = time.monotonic()
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0.05)
    try:
        await task
    except asyncio.CancelledError as raised:
        record = raised.record
        return [record.exit_code, record.error, record.stdout_tail, time.monotonic() - began]


async def begun():
    import os

    while not os.path.exists("begun"):
        await asyncio.sleep(0.01)


async def timed_out():
    """The host's own limit is shorter than the command's."""
    try:
        async with asyncio.timeout(0.3):
            await run(["sleep", "300"])
    except TimeoutError as raised:
        cancelled = raised.__cause__ or raised.__context__  # Python 3.11.2 names no cause
        return [type(cancelled).__name__, cancelled.record.error]


async def cancelled_early():
    """Cancelled before it began: nothing is run."""
    task = asyncio.create_task(run(["sh", "-c", ": >begun"]))
    task.cancel()
    try:
        await task
    except asyncio.CancelledError as raised:
        return [getattr(raised, "record", None)]


async def data():
    """Input, a prediction and misuse are as in run()."""
    record = await run(["cat"], stdin=b"some\nlines", note="a note", expect="lines")
    try:
        await run("ls -l")
    except firsthand.UsageError as problem:
        return [record.stdout_tail, record.agent_note, record.expectation_met, str(problem)]


asyncio.run(main())
