"""Counts of points in the cells of a grid: NumPy's histograms of several dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.kinds import fingerprint
from .._native.objects import refuse_closed
from ..comm import reductions
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import BLOCK, in_blocks
from ..exceptions import InvalidArgumentError
from ..policies import Partition
from ..runtime.scheduler import algorithm
from . import statistics
from .array_operands import beside, on_every_rank, together
from .exchange import share
from .histogram import as_number, edges_of
from .layouts import laid_out_as
from .wider_types import check_computed

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: How many times as much as a coordinate NumPy has of points, about.
_WIDER = 4


@algorithm
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """Return the edges of the bins that a histogram of one dimension has: an array, the same on every rank."""
    a, bins, range = beside(a, bins, range, weights), on_every_rank(bins, a), on_every_rank(range, a)
    if weights is not None and np.shape(weights) != a.shape:
        raise InvalidArgumentError("weights should have the same shape as a.")
    return edges_of(a, as_number(a, bins, range, weights), range)


@algorithm
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Array, Array, Array]:
    """Return how many points lie in each cell of a grid, and its edges: arrays, the same on every rank."""
    if np.shape(x) != np.shape(y):
        raise InvalidArgumentError("x and y must have the same length.")
    bins = on_every_rank(bins, x)
    if isinstance(bins, (list, tuple, np.ndarray)) and len(bins) not in (1, 2):
        bins = [np.asarray(bins)] * 2
    counts, edges = histogramdd((x, y), bins, range, density, weights)
    return counts, edges[0], edges[1]


@algorithm
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Array, tuple[Array, ...]]:
    """Return how many points lie in each cell of a grid, and its edges: arrays, the same on every rank.

    The points are rows of a container, or a vector for each dimension.
    """
    given = [sample] if isinstance(sample, DistributedContainer) else sample
    known = next((each for each in given if isinstance(each, DistributedContainer)), None)
    bins, range = on_every_rank(bins, known), on_every_rank(range, known)
    points: Any = beside(sample, weights) if isinstance(sample, np.ndarray) else sample
    if isinstance(sample, (np.ndarray, DistributedContainer)):
        columns = [points[:, d] for d in np.arange(points.shape[1]).tolist()] if points.ndim == 2 else [points]
    else:
        columns = [beside(each, *sample, weights) for each in points]
    if not columns:
        raise InvalidArgumentError("sample has no coordinates")
    first = columns[0]
    for c in columns:
        check_container("sample", c)
        refuse_closed(c)
        check_computed(c, "histogramdd")
        if c.ndim != 1 or c.shape != first.shape:
            raise InvalidArgumentError(f"coordinates of shapes {[each.shape for each in columns]}")
    common = np.result_type(*(c.dtype for c in columns))
    columns = [c.astype(common, copy=False) for c in columns]
    edges = _edges(columns, bins, range)
    heavy = None
    if weights is not None:
        weights = together(first, weights)[1]
        check_container("weights", weights)
        if weights.shape != first.shape:
            raise InvalidArgumentError("the weights have another shape than the points")
        heavy = laid_out_as(weights, first).local_view()
    parts = [laid_out_as(c, first).local_view() for c in columns]
    words = ", ".join(fingerprint(each) for each in edges)
    share(first, "histogramdd", f"edges with fingerprints {words}", also=columns[1:])
    counts = sum([_counts(parts, edges, heavy, rows) for rows in in_blocks(parts[0], BLOCK // _WIDER)])
    if first.partition_policy is Partition.REPLICATED and first.context.rank:
        counts = np.zeros_like(counts)
    counts = np.asarray(reductions.allreduce(first.context, np.ascontiguousarray(counts)))
    if density:
        whole = counts.sum()
        for d, each in enumerate(edges):
            shape = [-1 if k == d else 1 for k in np.arange(len(edges)).tolist()]
            counts = counts / np.diff(each).reshape(shape)
        counts = counts / whole
    return counts, tuple(edges)


def _counts(parts: list[Array], edges: list[Array], heavy: Any, rows: slice) -> Array:
    """Return the counts of some of this rank's points."""
    return np.histogramdd([part[rows] for part in parts], edges, weights=None if heavy is None else heavy[rows])[0]


def _edges(columns: list[Any], bins: Any, limits: Any) -> list[Array]:
    """Return the edges along each dimension. Collective."""
    given = list(bins) if isinstance(bins, (list, tuple, np.ndarray)) else [bins] * len(columns)
    if len(given) == 1 and len(columns) > 1:
        given = given * len(columns)
    if len(given) != len(columns):
        raise InvalidArgumentError("The dimension of bins must be equal to the dimension of the sample x.")
    ends = [None] * len(columns) if limits is None else list(limits)
    if len(ends) != len(columns):
        raise InvalidArgumentError("range argument must have one entry per dimension")
    return [_bins_along(c, n, of, d) for d, (c, n, of) in enumerate(zip(columns, given, ends))]


def _bins_along(c: Any, bins: Any, limits: Any, d: int) -> Array:
    if np.ndim(bins):
        edges = np.asarray(on_every_rank(bins, c))
        if edges.ndim != 1 or (edges[:-1] > edges[1:]).any():
            raise InvalidArgumentError(f"`bins[{d}]` must be monotonically increasing, when an array")
        return edges
    if integer(f"bins[{d}]", bins) < 1:
        raise InvalidArgumentError(f"`bins[{d}]` must be positive, when an integer")
    if limits is None:
        low, high = (statistics.min(c), statistics.max(c)) if c.global_size else (0.0, 1.0)
    else:
        low, high = limits
        if low > high:
            raise InvalidArgumentError("max must be larger than min in range parameter.")
    if not (np.isfinite(low) and np.isfinite(high)):
        raise InvalidArgumentError(f"range [{low}, {high}] is not finite")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)
