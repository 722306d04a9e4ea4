"""A warning where ranks share a GPU, which is seldom what a program wants."""

from __future__ import annotations

import numpy as np

from .._native import library
from .._native.callsite import warn
from .._native.objects import handle_of
from ..comm import collectives
from ..runtime.agreement import local_step
from ..runtime.context import Context, kept_of

#: The GPUs that this process has warned of.
_warned: set[str] = set()


def look_for(ctx: Context) -> None:
    """Find out once for a context whether ranks share a GPU, and warn on the first of these. Collective."""
    kept = kept_of(ctx)
    if kept.compared_gpus or ctx.size == 1:
        return
    kept.compared_gpus = True
    with local_step(ctx, "placement"):
        uuid, number, name = library.context_gpu(handle_of(ctx)).split(" ", 2)
    mine = np.frombuffer(bytes.fromhex(uuid), np.int64)
    sharing = np.flatnonzero((collectives.allgather(ctx, mine) == mine).all(axis=1)).tolist()
    if len(sharing) > 1 and sharing[0] == ctx.rank and uuid not in _warned:
        _warned.add(uuid)
        ranks = ", ".join(map(str, sharing))
        warn(
            f"ranks {ranks} share GPU {number} ({name}), its memory and its time; run as many ranks on a machine as it "
            "has GPUs, or give each context its own, with device_id",
            RuntimeWarning,
        )
