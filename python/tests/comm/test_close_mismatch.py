"""One rank closes a context, the others make another call: all raise the same, and nobody waits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from programs import ranks, succeeded

import dtl

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup"),
]

PROGRAM = """
import dtl

with dtl.Context() as home:
    ctx = home.dup()
    win = dtl.Window(ctx, size=8)  # the end of which is collective without shared memory
    try:
        ctx.close() if home.is_root else dtl.allreduce(ctx, 1)
    except dtl.CollectiveMismatchError as error:
        print(f"rank {home.rank}: {error}\\n", end="", flush=True)  # one write, so that lines stay whole
"""


@pytest.mark.parametrize("shared", ["1", "0"], ids=["shared memory", "messages"])
def test_close_of_a_context_with_a_window(tmp_path: Path, shared: str) -> None:
    out = succeeded(ranks(2, PROGRAM, tmp_path, DTL_SHARED_MEMORY=shared, DTL_TIMEOUT="20"))
    texts = dict(re.findall(r"rank (\d): (.*)", out))
    assert texts["0"] == texts["1"]
    assert re.match(
        r"collective call: ranks disagree: rank 0 called close\(\) at .*; rank 1 called allreduce\(", texts["0"]
    )
