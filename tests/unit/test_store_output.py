"""Kept outputs: whole, bounded, never half written."""

from __future__ import annotations

import hashlib
import os
import resource
import stat
from pathlib import Path

from firsthand.record import encode
from firsthand.store.append import Store
from firsthand.store.outputs import OUTPUT_MOST
from firsthand.store.place import Place


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_kept_output_is_canonical(store: Store, folder: Path) -> None:
    """The returned name and hash are those of the file."""
    content = {"stderr": {"tail": "ü\n"}, "stdout": {"head": "x", "lines": 3}}
    kept = store.keep_output("0190-id", content)
    data = (folder / "output" / "0190-id.json").read_bytes()
    assert data == encode(content)
    assert kept == {"name": "0190-id.json", "sha256": hashlib.sha256(data).hexdigest()}
    assert (mode(folder / "output"), mode(folder / "output" / "0190-id.json")) == (0o700, 0o600)
    assert (folder / ".gitignore").exists()


def test_kept_outputs_are_bounded_oldest_dropped_first(store: Store, folder: Path) -> None:
    """Ids begin with their time, so the order of names is the order of age; the new one always stays."""
    size = 3 << 20
    names = [f"{number}.json" for number in (5, 1, 4, 2, 3, 6)]
    for name in names:
        assert store.keep_output(name.removesuffix(".json"), {"text": "x" * size})
    assert sorted(os.listdir(folder / "output")) == ["2.json", "3.json", "4.json", "5.json", "6.json"]
    assert store.keep_output("0", {"text": "x" * size})
    assert sorted(os.listdir(folder / "output")) == ["0.json", "3.json", "4.json", "5.json", "6.json"]
    assert sum(path.stat().st_size for path in (folder / "output").iterdir()) <= OUTPUT_MOST


def test_an_output_that_cannot_be_kept_is_none(store: Store, folder: Path, tmp_path: Path) -> None:
    """Too large by itself, not JSON, a place that cannot be, a link: the record then says null."""
    assert store.keep_output("x", {"text": "x" * (17 << 20)}) is None
    assert store.keep_output("x", {"number": 0.5}) is None
    assert Store(Place("/", "/proc/firsthand")).keep_output("x", {}) is None
    assert not folder.exists()
    folder.mkdir()
    (folder / "output").symlink_to(tmp_path)
    assert store.keep_output("x", {}) is None
    assert not (tmp_path / "x.json").exists()


def test_a_half_written_output_is_swept(store: Store, folder: Path) -> None:
    """What a writer that died left behind does not stay, and no half file is ever seen."""
    store.keep_output("a", {})
    (folder / "output" / ".z.json").write_text("half")
    store.keep_output("b", {"x": 1})
    assert sorted(os.listdir(folder / "output")) == ["a.json", "b.json"]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        assert store.keep_output("c", {"text": "x" * 200}) is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert sorted(os.listdir(folder / "output")) == ["a.json", "b.json"]
