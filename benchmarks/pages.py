"""Which of its pages a new container touches, and how much memory an expression needs."""

from __future__ import annotations

import mmap
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
from rows import Row, deliver

import dtl

_SIZE = 10_000_000

#: What an expression may need of the memory that NumPy needs for it.
_BOUND = 1.05
_PRESENT = 1 << 63  # of an entry in /proc/self/pagemap; and bit 62 for a page that was swapped out
_SWAPPED = 1 << 62


def resident() -> int:
    """Return this process's resident memory in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


def touched(address: int, length: int) -> int:
    """Return how many pages of a range of addresses exist."""
    first, last = address // mmap.PAGESIZE, (address + length - 1) // mmap.PAGESIZE
    with open("/proc/self/pagemap", "rb", buffering=0) as pagemap:
        pagemap.seek(8 * first)
        entries = pagemap.read(8 * (last - first + 1))
    return sum(1 for (entry,) in struct.iter_unpack("<Q", entries) if entry & (_PRESENT | _SWAPPED))


def needed(statement: str, names: dict[str, Any]) -> int:
    """Return the bytes by which resident memory grows at most while an expression is computed."""
    code = compile(statement, "the expression", "eval")
    eval(code, names)  # what the first call alone makes
    time.sleep(1.5)  # for as long as that, memory that was given back is kept
    Path("/proc/self/clear_refs").write_text("5")  # the peak becomes what there is now
    before = resident()
    kept = eval(code, names)
    status = Path("/proc/self/status").read_text()
    del kept
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 - before


def expressions(ctx: dtl.Context) -> list[Row]:
    """Return the rows of what expressions need beside NumPy, with their results."""
    arrays = {name: np.random.default_rng(k).random(_SIZE) for k, name in enumerate("abc")}
    containers = {name: dtl.asarray(ctx, array) for name, array in arrays.items()}
    rows = []
    for text in ("a * b + c", "np.sqrt(a * a + b * b) / (c + 1.0)"):
        ours = needed(f"({text}).local_view()", {**containers, "np": np})
        theirs = needed(text, {**arrays, "np": np})
        detail = f"dtl {ours / 1e6:.1f} MB, NumPy {theirs / 1e6:.1f} MB, the result {8 * _SIZE / 1e6:.1f} MB"
        target = f"peak ÷ NumPy's ≤ {_BOUND}"
        name = f"memory of `{text}` of 10 M float64"
        rows.append(Row(name, target, f"{ours / theirs:.2f}", detail, ours <= _BOUND * theirs))
    return rows


def main() -> None:
    """Measure one vector, and see that the measure notices a touched page; then expressions."""
    with dtl.Context() as ctx:
        dtl.DistributedVector(ctx, 10).local_view()
        before = resident()
        vec = dtl.DistributedVector(ctx, _SIZE)
        after = resident()
        view = vec.local_view()
        address = view.__array_interface__["data"][0]
        pages = touched(address, view.nbytes)
        view[0] = 1.0
        if touched(address, view.nbytes) == pages:
            raise SystemExit("/proc/self/pagemap does not show the page that was just written to")
        rows = expressions(ctx)
    measure = f"pages touched by `DistributedVector(ctx, {_SIZE:_})`"
    detail = f"of {view.nbytes // mmap.PAGESIZE}; resident memory grew by {(after - before) / 1024:.0f} KiB"
    deliver([Row(measure, "0", str(pages), detail, pages == 0), *rows], __doc__ or "")


if __name__ == "__main__":
    main()
