"""Whether all ranks have opened the same files: one that is replaced meanwhile would be read in part, from both."""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np

from ..comm import collectives
from ..exceptions import CollectiveMismatchError
from ..runtime.agreement import last_step
from .steps import Paths, boot_id


def check_same_files(ctx: Any, op: str, path: Paths, states: list[tuple[Any, ...]]) -> None:
    """Raise CollectiveMismatchError on every rank if the ranks have opened different files at a path. Collective.

    States are the size and the time of change of each file, and its device and inode. Ranks that have the same file
    systems compare all of that. Others may have copies of their own, or other numbers for the same file, and compare
    the sizes.
    """
    if ctx.size == 1:
        return
    # What stores tell beside these four, such as when they took a file, need not be the same in each process.
    mine = [_number(_place()), _number([state[:4] for state in states]), _number([state[0] for state in states])]
    everyones = collectives.allgather(ctx, np.array(mine, np.int64)).reshape(-1, 3).tolist()
    seen: dict[int, tuple[int, int]] = {}
    for rank, (place, whole, sizes) in enumerate(everyones):
        first, known = seen.setdefault(place, (rank, whole))
        other = first if known != whole else 0
        if known != whole or sizes != everyones[0][2]:
            with last_step():  # on every rank
                raise CollectiveMismatchError(
                    f"{op}: rank {rank} has opened another file at {path!r} than rank {other}: it was replaced"
                )


def _number(value: Any) -> int:
    """Return a number that differs, in all likelihood, where values do."""
    return int.from_bytes(hashlib.blake2b(repr(value).encode(), digest_size=8).digest(), "little", signed=True)


def _place() -> tuple[Any, ...]:
    """Return a value that processes with the same file systems share: of the kernel and its mounts."""
    try:
        return boot_id(), os.stat("/proc/self/ns/mnt").st_ino
    except OSError:
        return os.uname().nodename, 0
