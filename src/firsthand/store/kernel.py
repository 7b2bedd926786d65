"""What the kernel says about this boot and about the start of a process."""

from __future__ import annotations

UNKNOWN_BOOT = "-"
"""Stands where the kernel gives no boot id; two of these are never taken for the same boot."""

_boot = ""


def boot_id() -> str:
    """Return the id of this boot, or ``UNKNOWN_BOOT``; it is read once per process."""
    global _boot  # noqa: PLW0603  # a boot does not change under a living process
    if not _boot:
        _boot = _first_line("/proc/sys/kernel/random/boot_id") or UNKNOWN_BOOT
    return _boot


def process_start(pid: int) -> str | None:
    """Return ``BOOT_ID:STARTTIME`` of a living process, or ``None`` for a zombie and for no process.

    The pair of pid and start names one process for good; a pid alone is used again.
    """
    line = _first_line(f"/proc/{pid}/stat")
    # The command's name stands in parentheses and may hold blanks and parentheses of its own.
    fields = line.rpartition(")")[2].split()
    if len(fields) < 20 or fields[0] in {"Z", "X"}:
        return None
    return f"{boot_id()}:{fields[19]}"


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""
