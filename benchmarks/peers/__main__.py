"""Put the same work through firsthand and its peers: ``./benchmarks/peers/run [--write] [NAME ...]``."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import sys
import tempfile
from pathlib import Path

from benchmarks.installed import ROOT
from benchmarks.peers import environments, sections, table
from benchmarks.peers.peers import OURS, PEERS, Peer
from benchmarks.peers.scratch import Place

PAGE = ROOT / "docs/comparison.md"


def main(words: list[str]) -> int:
    """Probe, then print the generated part of the page or write it."""
    options = _options(words)
    chosen = [peer for peer in PEERS if not options.names or peer.name in options.names]
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="firsthand-peers-") as folder:
        base = Path(folder)
        floor = _floor(base)
        places = [_place(peer, base)._replace(floor_kib=floor) for peer in chosen]
        found = [sections.versions(places), *sections.probed(places), *sections.costs(places)]
    generated = table.document(_intro(load), found)
    if options.write:
        PAGE.write_text(table.insert(PAGE.read_text(), generated))
    else:
        print(generated, end="")
    return 0


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./benchmarks/peers/run", description=__doc__.partition(":")[0])
    parser.add_argument("--write", action="store_true", help="write docs/comparison.md instead of printing")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these rows, for a quicker look")
    options = parser.parse_args(words)
    unknown = sorted(set(options.names) - {peer.name for peer in PEERS})
    if unknown:
        parser.error(f"no peer {unknown[0]!r}; there are: {', '.join(peer.name for peer in PEERS)}")
    if options.write and options.names:
        parser.error("the page is written with all rows only")
    return options


def _place(peer: Peer, base: Path) -> Place:
    """Install a peer; the environments of others are kept where ``FIRSTHAND_PEERS_DIR`` says."""
    print(f"peers: installing {peer.package or peer.name}", file=sys.stderr, flush=True)
    fresh = base / "environments"
    kept = Path(os.environ.get("FIRSTHAND_PEERS_DIR") or fresh).absolute()
    environment = environments.make(peer, fresh if peer.package == OURS else kept)
    return Place(peer, environment, base / "runs" / (peer.library or str(peer.package)))


def _floor(base: Path) -> int:
    """Return the peak, in KiB, of a program that needs next to nothing."""
    nothing = Place(Peer("floor", None), environments.Environment(Path(), ""), base / "floor")
    return nothing.run(["/bin/true"]).peak_kib


def _intro(load: float) -> str:
    today = dt.datetime.now(dt.UTC).date()
    return (
        f"Measured on {today} with Python {platform.python_version()} on Linux {platform.machine()}, "
        f"{os.cpu_count()} cores, load average {load:.1f} at first, {os.getloadavg()[0]:.1f} at last."
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
