"""Errors name the call that the program makes, also where a call that is a part of it fails."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import dtl
from dtl.comm import objects

pytestmark = pytest.mark.mpi(min_size=2)

#: Calls that consist of others, on a vector and a matrix.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "minmax": lambda v, m: dtl.minmax(v),
    "median": lambda v, m: dtl.median(v),
    "percentile": lambda v, m: dtl.percentile(v, 50),
    "nanmax": lambda v, m: dtl.nanmax(v),
    "nancumsum": lambda v, m: dtl.nancumsum(v),
    "flatnonzero": lambda v, m: dtl.flatnonzero(v),
    "allclose": lambda v, m: dtl.allclose(v, v),
    "array_split": lambda v, m: dtl.array_split(v, 2),
    "expand_dims": lambda v, m: dtl.expand_dims(m, 0),
    "inner_product": lambda v, m: dtl.inner_product(v, v),
    "lower_bound": lambda v, m: dtl.lower_bound(v, 1.0),
    "inclusive_scan": lambda v, m: dtl.inclusive_scan(v),
    "reverse": lambda v, m: dtl.reverse(v),
    "cholesky": lambda v, m: dtl.linalg.cholesky(m),
    "matrix_norm": lambda v, m: dtl.linalg.matrix_norm(m),
}


@pytest.fixture
def operands(ctx: dtl.Context) -> tuple[Any, Any]:
    vec = dtl.arange(ctx, 12, dtype=float)
    return vec, dtl.from_numpy(ctx, np.eye(4) if ctx.is_root else None)


@pytest.mark.parametrize("name", list(CALLS))
def test_ranks_that_disagree(ctx: dtl.Context, operands: tuple[Any, Any], name: str) -> None:
    with pytest.raises(dtl.CollectiveMismatchError) as caught:
        CALLS[name](*operands) if ctx.is_root else dtl.allreduce(ctx, 1.0)
    assert f"rank 0 called {name}" in str(caught.value)
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_a_part_in_which_ranks_disagree(ctx: dtl.Context, operands: tuple[Any, Any]) -> None:
    """After a container with a pointer to it is gone, ranks agree on that in the call that makes the next one."""
    gone = dtl.zeros(ctx, 4)
    gone.remote(0)
    del gone
    with pytest.raises(dtl.CollectiveMismatchError, match=r"rank 0 called vector[:(]"):
        dtl.zeros(ctx, 5) if ctx.is_root else ctx.barrier()
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_a_part_that_fails_on_one_rank(
    ctx: dtl.Context, operands: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rank 1 tells the others, which are in a part of the call."""
    if ctx.rank == 1:

        def fail(*arguments: Any) -> Any:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(objects, "broadcast_object", fail)
    with pytest.raises((OSError, dtl.DTLError)) as caught:
        dtl.linalg.slogdet(operands[1])
    if ctx.rank != 1:
        assert str(caught.value) == "slogdet: rank 1: [Errno 28] No space left on device"
        assert isinstance(caught.value, dtl.FileError)  # an OSError, as it is on rank 1
        assert caught.value.errno == 28
        assert caught.value.op == "slogdet"
    assert dtl.allreduce(ctx, 1) == ctx.size
