"""A record as an agent reads it: verdict, the tail that matters, what is missing, what next."""

from __future__ import annotations

from firsthand.gate.one import agent_may_continue
from firsthand.plain import VISIBLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from firsthand.record import Record

OOM_CODE = 137

STREAMS = ("stdout", "stderr")


def verdict(record: Record) -> str:
    """Return ``exit 1 in 0.84 s, expected "12 passed": not met``; it begins with the exit code or null."""
    code, word = record["exit_code"], record["error"]
    end = f"exit {code}" if code is not None else f"exit null ({word})"
    took = "" if record["duration_ms"] is None else f" in {seconds(record['duration_ms'])}"
    return end + took + _prediction(record)


def seconds(milliseconds: int) -> str:
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.2f} s"
    return f"{milliseconds // 60_000} min {milliseconds % 60_000 // 1000} s"


def _prediction(record: Record) -> str:
    expect = record["expect"]
    if not isinstance(expect, dict) or not expect:
        return ""
    codes = expect.get("exit_code")
    parts = [f"exit {' or '.join(map(str, codes))}"] if isinstance(codes, list) else []
    parts += [f'"{expect["contains"]}"'] if "contains" in expect else []
    answer = {True: "met", False: "not met", None: "cannot tell"}[record["expectation_met"]]
    return f", expected {' and '.join(parts)}: {answer}"


def full(record: Record) -> str:
    """Return the whole view of one record, bounded by the record's own bounds."""
    blocks = [[verdict(record), *_happened(record)]]
    order = STREAMS if record["exit_code"] == 0 else STREAMS[::-1]
    streams = [_stream(record, name) for name in order if record[f"{name}_tail"]]
    blocks += streams or [["no output" if record["bytes"]["stdout"] is not None else "output: not known"]]
    blocks.append([*_missing(record), *_next(record)])
    return printable("\n".join("\n".join(lines) for lines in blocks)) + "\n"


def _happened(record: Record) -> list[str]:
    lines = [record["error_detail"]] if record["error_detail"] else []
    if record["exit_code"] == OOM_CODE:
        lines.append("137 is 128 + 9: something killed a process in it, often the kernel when memory ran out")
    for stray in record["strays"]:
        who = stray["command"] + (f" (pid {stray['pid']})" if stray["pid"] else "")
        if stray["action"] == "stopped":
            lines.append(f"stopped: {who} (no longer running)")
        else:
            lines.append(f"{stray['action']}: {who} (still running: {stray['reason']})")
    return lines


def _stream(record: Record, name: str) -> list[str]:
    cut = record["truncations"][name]
    note = f", {cut:,} {'line' if cut == 1 else 'lines'} cut" if cut else ""
    return [f"--- {name}{note}", record[f"{name}_tail"]]


def _missing(record: Record) -> list[str]:
    lines = ["---"]
    if record["kept_output"]:
        cut = [name for name in STREAMS if "...truncated " in record[f"{name}_tail"]]
        name = cut[0] if cut else STREAMS[0]
        show = f"firsthand show {record['command_id']} --stream {name}"
        lines.append(f"cut: more is kept: {show} [--lines A:B] [--grep WORD]")
    if record["redactions"]:
        hidden = ", ".join(f"{rule} {count}" for rule, count in record["redactions"].items())
        lines.append(f"redacted: {hidden}")
    if record["log_error"]:
        lines.append(f"not recorded: {record['log_error']}")
    return lines


def _next(record: Record) -> list[str]:
    may, reason = agent_may_continue(record)
    if may:
        return [f"may continue: {reason}", f"record: {record['command_id']}"]
    if record["exit_code"] is None:
        reason = "null is never success"
    again = f"firsthand run --parent {record['command_id']} -- COMMAND"
    return [f"may not continue: {reason}", f"retry: {again}"]


def line(record: Record) -> str:
    """Return one line for lists: the verdict, when, what."""
    command = " ".join(record["command"]).replace("\n", "\u2424")
    if len(command) > LINE_COMMAND:
        command = command[: LINE_COMMAND - 1] + "\u2026"
    when = record["started_at"][:19].replace("T", " ")
    return printable(f"{record['command_id']}  {when}  {verdict(record)}  {command}")


def printable(text: str) -> str:
    """Return a text without control sequences: ours has none, another program may have made the record."""
    plain = text.replace("\n", "").replace("\t", "").isprintable()
    return text if plain else text.translate(VISIBLE)


LINE_COMMAND = 80
"""Characters of a command in a list."""
