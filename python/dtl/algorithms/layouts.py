"""Containers for results, how their elements are divided among the ranks, and the dimensions that an axis names."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .._native.arguments import integer
from ..containers.base import DistributedContainer
from ..containers.expressions import handle_to_read
from ..containers.indexing.regions import move_all, pieces_of_all
from ..containers.interior import is_laid_out_as, run_as
from ..containers.layout import BLOCK, Division
from ..containers.making import created, new_like, placed_first, result_placement
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import AxisError, InvalidArgumentError
from ..policies import Partition, Placement

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def dimensions(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the dimensions that axis names, in ascending order."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    dims = []
    for each in given:
        d = integer("axis", each)
        if not -ndim <= d < ndim:
            raise AxisError(d, ndim)
        dims.append(d % ndim)
    if len(set(dims)) < len(dims):
        raise InvalidArgumentError(f"duplicate value in 'axis' {axis!r}")
    return tuple(sorted(dims))


def kind_of_result(shape: tuple[int, ...]) -> Any:
    """Return the class of a result of a shape."""
    return DistributedVector if len(shape) == 1 else DistributedTensor


def container_of(
    source: DistributedContainer,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    divided: Division,
    placement: Placement | None = None,
    blank: bool = False,
    words: str = "",
    pieces: Sequence[int] = (),
) -> DistributedContainer:
    """Make a vector or a tensor for a result on the ranks of a container, and where that is. Collective.

    It is of zeros, or blank, which is anything, for a caller that writes all elements. See ``created``.
    """
    where = result_placement(source, shape, np.dtype(dtype)) if placement is None else placement
    made: DistributedContainer = created(
        kind_of_result(shape), source.context, shape, dtype, divided, where, blank, words, pieces=pieces
    )
    run_as(made, source.execution_policy)
    return made


def joined_of(given: list[Any], shape: tuple[int, ...], divided: Division, rows: list[int], words: str) -> Any:
    """Make a vector or a tensor of elements of containers, as the rows of a move say for each. Collective.

    All are of one context and dtype. Without rows, elements are anything. Words are the name of the call, a space, and
    its arguments: the ranks agree once. Where one of the containers is on disk, so is a result that is worth a file.
    """
    pieces = (len(given), *[handle_to_read(of) for of in given], *rows)
    where = result_placement(placed_first(given), shape, given[0].dtype)
    return container_of(given[0], shape, given[0].dtype, divided, where, blank=True, words=words, pieces=pieces)


def redivided(c: DistributedContainer, divided: Division) -> DistributedContainer:
    """Return a copy of a container that is divided as it is said. Collective."""
    pieces = pieces_of_all(c)
    made = container_of(c, c.shape, c.dtype, divided, blank=True, words="copy " if pieces else "", pieces=pieces)
    if pieces:
        return made
    try:
        move_all(made, c)
    except BaseException:
        made.close()
        raise
    return made


def rows_over_ranks(source: DistributedContainer, shape: tuple[int, ...], dim: int) -> Division:
    """Return the division of a shape by blocks of one dimension among all ranks."""
    if dim == 0:
        return BLOCK
    return Division(Partition.BLOCK, grid=tuple(source.context.size if d == dim else 1 for d in range(len(shape))))


def laid_out_as(result: Any, a: Any) -> Any:
    """Return a result laid out as the container that it is of. Collective if it has to move."""
    if result.shape != a.shape or is_laid_out_as(a, result):
        return result
    made = new_like(a, result.dtype)
    move_all(made, result)
    return made
