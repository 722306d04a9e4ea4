"""Sparse matrices of random elements in random places, the same on any number of ranks."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from ..comm.collectives import broadcast
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, check_context, collective, local_step
from ..runtime.context import Context
from . import division, making
from .array import csr_array
from .local_rows import Matrix, canonical, scipy_sparse
from .rows import rows_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: About so many elements are drawn at a time, by a generator of their own.
_PIECE = 1 << 16


@collective
def random_array(
    ctx: Context,
    shape: Any,
    *,
    density: float = 0.01,
    format: str | None = None,
    dtype: Any = None,
    rng: Any = None,
    data_sampler: Callable[..., Any] | None = None,
) -> csr_array:
    """Return a matrix of random elements in random places. Collective (``scipy.sparse.random_array``).

    Each rank draws its own rows. The matrix does not depend on the number of ranks.

    Parameters
    ----------
    ctx
        The context.
    shape
        The shape.
    density
        How many of all elements are stored, from 0 to 1.
    format
        "csr" or None: matrices are by rows.
    dtype
        The type of the elements; None for float64.
    rng
        A seed, or a ``numpy.random.Generator`` of the same state on every rank, of which one number is drawn; None for
        another matrix each time.
    data_sampler
        A function of a keyword ``size``, and of ``rng`` if it has such a parameter, that returns so many elements; None
        for numbers from 0 to 1, of integers for all that the type has. One that draws by a generator of its own makes
        the matrix depend on the number of ranks.

    Returns
    -------
    csr_array
        Of ``round(density * m * n)`` elements, of which pieces of rows have equal shares: other ones than SciPy draws.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If density is outside [0, 1], or the shape or type is none. On every rank.
    CollectiveMismatchError
        If the ranks pass different arguments.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     matrix = dtl.sparse.random_array(ctx, (1000, 500), density=0.02, rng=1)
    ...     matrix.shape, matrix.nnz
    ((1000, 500), 10000)
    """
    check_context(ctx)
    with local_step(ctx, "random_array"):
        making.check_format(format)
        extents = making.checked_shape(shape)
        found = making.checked_dtype(np.float64 if dtype is None else dtype)
        share = _share(density)
        if data_sampler is not None and not callable(data_sampler):
            raise InvalidTypeError(f"data_sampler must be a function, not {data_sampler!r}")
        seed = _seed(rng)
    words = f"{extents}, {found}, density {share}, data_sampler {data_sampler is not None}"
    agree(ctx, "random_array", f"{words}, rng {seed}")
    if seed is None:
        fresh = np.random.SeedSequence().entropy if ctx.is_root else 0
        seed = int(broadcast(ctx, np.array([int(fresh) & (2**63 - 1)], np.int64), 0)[0])  # type: ignore[arg-type]
    begins = division.blocks(extents[0], ctx.size)
    with local_step(ctx, "random_array"):
        own = _drawn(seed, extents, found, share, data_sampler, int(begins[ctx.rank]), int(begins[ctx.rank + 1]))
    return csr_array.of(rows_of(ctx, own, begins))


def _share(density: Any) -> float:
    try:
        found = float(density)
    except (TypeError, ValueError):
        raise InvalidTypeError(f"density must be a number, not {density!r}") from None
    if not 0 <= found <= 1:
        raise InvalidArgumentError(f"density {found} outside [0, 1]")
    return found


def _seed(rng: Any) -> int | None:
    if rng is None or isinstance(rng, (int, np.integer)):
        if rng is not None and rng < 0:
            raise InvalidArgumentError(f"rng {rng} must not be negative")
        return None if rng is None else int(rng)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    raise InvalidTypeError(f"rng must be a seed or a numpy.random.Generator, not {rng!r:.80}")


def _drawn(seed: int, shape: tuple[int, int], dtype: Any, share: float, sample: Any, first: int, end: int) -> Matrix:
    """Return some rows. Pieces of rows are drawn whole, and by a generator each, also if other ranks have some."""
    height, width = shape
    total = round(share * height * width)
    rows = max(1, int(_PIECE / max(share * width, 1e-9))) if total else 1
    parts = [(np.zeros(0, dtype), np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for piece in range(first // rows, -(-end // rows)) if total else ():
        low, high = piece * rows, min((piece + 1) * rows, height)
        count = total * high // height - total * low // height
        rng = np.random.default_rng([seed, piece])
        places = np.sort(rng.choice((high - low) * width, count, replace=False, shuffle=False))
        data = _values(rng, dtype, sample, count)
        numbers, columns = np.divmod(places, width)
        here = (numbers + low >= first) & (numbers + low < end)
        parts.append((data[here], numbers[here] + low - first, columns[here]))
    data, numbers, columns = (np.concatenate(each) for each in zip(*parts))
    return canonical(scipy_sparse().coo_array((data, (numbers, columns)), shape=(end - first, width)))


def _values(rng: Any, dtype: Any, sample: Any, count: int) -> Array:
    """Return elements of a type."""
    if sample is not None:
        names = getattr(getattr(sample, "__code__", None), "co_varnames", ())
        data = np.asarray(sample(size=count, rng=rng) if "rng" in names else sample(size=count))
        if data.shape != (count,):
            raise InvalidArgumentError(f"data_sampler returned shape {data.shape}, not {(count,)}")
        return data.astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, count, dtype, endpoint=True)
    if dtype.kind == "b":
        return np.ones(count, bool)
    numbers = rng.random(count)
    return (numbers + 1j * rng.random(count) if dtype.kind == "c" else numbers).astype(dtype)
