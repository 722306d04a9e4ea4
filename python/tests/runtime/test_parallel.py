"""EXEC_PAR: what is computed on several threads is what one thread computes, whatever their number."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np
import pytest
from oracle import DTYPES

import dtl

pytestmark = pytest.mark.alone("looks at the threads of one rank")

#: Every rank has more than two of the pieces in which threads work, and the last is a short one.
EACH = 300_001

NUMBERS: dict[str, Callable[[Any], Any]] = {
    "sum": dtl.sum,
    "mean": dtl.mean,
    "var": dtl.var,
    "min": dtl.min,
    "max": dtl.max,
    "argmin": dtl.argmin,
    "argmax": dtl.argmax,
    "norm": dtl.norm,
    "any": dtl.any,
    "dot": lambda a: dtl.dot(a, a),
}
UNORDERED = {"min", "max", "argmin", "argmax"}


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    before = dtl.get_num_threads()
    yield dtl.set_num_threads
    dtl.set_num_threads(before)


def parallel(ctx: dtl.Context, dtype: str) -> tuple[Any, Any]:
    """Return a parallel vector, and all of its elements."""
    rng = np.random.default_rng(5)
    whole = rng.integers(0, 100, EACH * ctx.size)
    values = (whole - 50 if np.dtype(dtype).kind in "ifc" else whole).astype(dtype)
    vec = dtl.DistributedVector(ctx, values.size, dtype, execution=dtl.EXEC_PAR)
    vec.local_view()[...] = values[vec.local_indices()]
    return vec, values


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers(ctx: dtl.Context, dtype: str, threads: Callable[[int], None]) -> None:
    vec, values = parallel(ctx, dtype)
    with vec:
        for name, number in NUMBERS.items():
            if np.dtype(dtype).kind == "c" and name in UNORDERED:
                continue
            found = []
            for n in (1, 2, 3):
                threads(n)
                found.append(number(vec))
            assert len({one.tobytes() for one in found}) == 1, name
            if name == "norm":
                want = np.linalg.norm(values.astype(np.complex128))
            else:
                wide = values.astype(np.complex128) if np.dtype(dtype).kind == "c" else values
                wide = values.astype(np.float64) if dtype == "float32" else wide
                want = np.dot(wide, wide) if name == "dot" else getattr(np, name)(wide)
            assert np.allclose(found[0], want, rtol=1e-5), name


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "int64", "uint16", "complex128", "bool"])
def test_cumsum(ctx: dtl.Context, dtype: str, exclusive: bool, threads: Callable[[int], None]) -> None:
    vec, values = parallel(ctx, dtype)
    want = np.cumsum(values, dtype=np.float64 if dtype == "float32" else None)
    if exclusive:
        want = np.concatenate([[0], want[:-1]]).astype(want.dtype)
    with vec:
        seen = set()
        for n in (1, 2, 3):
            threads(n)
            with dtl.cumsum(vec, exclusive=exclusive) as made:
                assert made.execution_policy is dtl.EXEC_PAR
                assert np.allclose(made.local_view(), want[vec.local_indices()], rtol=1e-5)
                seen.add(made.local_view().tobytes())
        assert len(seen) == 1


@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_counts(ctx: dtl.Context, dtype: str, threads: Callable[[int], None]) -> None:
    vec, values = parallel(ctx, dtype)
    values = np.abs(values.astype(np.int64))
    vec.local_view()[...] = values[vec.local_indices()].astype(dtype)
    with vec:
        threads(3)
        assert np.array_equal(dtl.bincount(vec), np.bincount(values))
        counts, _ = dtl.histogram(vec, 7, (0, 60))
        assert np.array_equal(counts, np.histogram(values, 7, (0, 60))[0])


def test_negative_number_in_one_piece(ctx: dtl.Context, threads: Callable[[int], None]) -> None:
    vec, _ = parallel(ctx, "int64")
    with vec:
        vec.local_view()[...] = 1
        if ctx.rank == 0:
            vec.local_view()[EACH - 1] = -1
        threads(2)
        with pytest.raises(dtl.InvalidArgumentError):
            dtl.bincount(vec)


def test_nan_in_one_piece(ctx: dtl.Context) -> None:
    vec, _ = parallel(ctx, "float64")
    with vec:
        vec[7] = np.nan
        assert np.isnan(dtl.max(vec))
        assert np.isnan(dtl.min(vec))
        assert dtl.argmax(vec) == 7


def test_span(ctx: dtl.Context) -> None:
    vec, values = parallel(ctx, "int64")
    with vec:
        span = dtl.DistributedSpan(vec).subspan(5, values.size - 9)
        assert dtl.sum(span) == values[5:-4].sum()
        assert dtl.max(span) == values[5:-4].max()


def test_policy_that_changes_results_is_the_containers(ctx: dtl.Context, threads: Callable[[int], None]) -> None:
    vec, _ = parallel(ctx, "float64")
    threads(2)
    with vec, vec.copy() as twin:
        assert twin.execution_policy is dtl.EXEC_PAR
        assert dtl.sum(twin).tobytes() == dtl.sum(vec).tobytes()
