"""How much the ranks compare: everything, or what costs no message."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dtl


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("shared", ["1", "0"])
@pytest.mark.parametrize("by", ["argument", "environment"])
@pytest.mark.parametrize("checks", ["full", "node", "mixed"])
def test_who_compares(
    ctx: dtl.Context, neighbours: list[int], monkeypatch: pytest.MonkeyPatch, shared: str, by: str, checks: str
) -> None:
    """Another operator on one rank is harmless to MPI: nobody hangs where nobody compares."""
    monkeypatch.setenv("DTL_SHARED_MEMORY", shared)
    check = ("full" if ctx.is_root else "node") if checks == "mixed" else checks
    given: dict[str, Any] = {}
    if by == "argument":
        given["check"] = check
    else:
        monkeypatch.setenv("DTL_CHECK", check)
    op = dtl.SUM if ctx.is_root else dtl.MAX

    def compared(on: dtl.Context) -> None:
        dtl.reduce(on, 1.0, op)
        on.barrier()  # who gives root its value does not wait for it, and hears of it now

    with dtl.Context(**given) as own, own.dup() as twin, own.split(0) as part:  # type: ignore[union-attr]
        for on in (own, twin, part):
            if checks == "node" and (shared == "0" or len(neighbours) < ctx.size):
                dtl.reduce(on, 1.0, op)
            else:
                with pytest.raises(dtl.CollectiveMismatchError):
                    compared(on)
            on.barrier()


def test_results_where_nobody_compares(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_SHARED_MEMORY", "0")
    with dtl.Context(check="node") as own:
        rank, size = own.rank, own.size
        for count in (1, 3000):
            mine = np.full(count, rank + 1.0)
            total = size * (size + 1) / 2
            assert (dtl.allreduce(own, mine) == total).all()
            assert (dtl.scan(own, mine) == (rank + 1) * (rank + 2) / 2).all()
            assert (dtl.allgather(own, mine)[:, -1] == np.arange(1, size + 1)).all()
            assert (dtl.broadcast(own, mine if rank == 0 else None) == 1).all()
            assert (dtl.alltoall(own, np.full((size, count), rank))[:, 0] == np.arange(size)).all()
            assert dtl.allgatherv(own, mine[: rank + 1]).size == sum(min(count, r + 1) for r in range(size))
            assert dtl.allreduce(own, rank + 1, dtl.MAXLOC) == (size, size - 1)
        with pytest.raises(dtl.BoundsError):
            dtl.gather(own, 1.0, root=size)


@pytest.mark.parametrize("check", ["none", "", "FULL"])
def test_no_such_check(monkeypatch: pytest.MonkeyPatch, check: str) -> None:
    with pytest.raises(dtl.InvalidArgumentError, match=f"check is '{check}'; it must be one of 'full', 'node'"):
        dtl.Context(check=check)
    if check:
        monkeypatch.setenv("DTL_CHECK", check)
        with pytest.raises(dtl.InvalidArgumentError, match=f"DTL_CHECK is '{check}'"):
            dtl.Context()
