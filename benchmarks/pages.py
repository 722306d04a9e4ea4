"""Which of its pages a new container touches."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from rows import Row, deliver

import dtl

_SIZE = 10_000_000
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


def main() -> None:
    """Measure one vector, and see that the measure notices a touched page."""
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
    measure = f"pages touched by `DistributedVector(ctx, {_SIZE:_})`"
    detail = f"of {view.nbytes // mmap.PAGESIZE}; resident memory grew by {(after - before) / 1024:.0f} KiB"
    deliver([Row(measure, "0", str(pages), detail, pages == 0)], __doc__ or "")


if __name__ == "__main__":
    main()
