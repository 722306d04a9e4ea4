"""Drawings of where sparse matrices store elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from ..comm.reductions import allreduce
from ..exceptions import InvalidArgumentError
from ..ops import SUM
from ..runtime.agreement import agree, collective, local_step
from ..topology.drawing import matplotlib
from .rows import Rows, rows_by

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@collective
def spy(matrix: Any, ax: Any = None, *, cells: int = 256) -> Any:
    """Draw how many elements a matrix stores where, as ``matplotlib.pyplot.spy`` does. Collective.

    Each rank counts the elements of its rows in each cell of the picture, so that no rank has the whole matrix.

    Parameters
    ----------
    matrix
        A matrix of dtl.sparse.
    ax
        The axes that rank 0 draws on; None for a new figure. Ignored on the other ranks.
    cells
        How many cells the picture has at most along each side: the same on every rank.

    Returns
    -------
    matplotlib.axes.Axes or None
        On rank 0, the axes that the picture is on, with the cells as an image: a darker cell has more elements. None on
        the others.

    Raises
    ------
    ImportError
        On rank 0, if matplotlib is missing.
    InvalidArgumentError
        If cells is less than one. On every rank.
    """
    rows = rows_by("matrix", matrix)
    with local_step(rows.context, "spy"):
        number = integer("cells", cells)
        if number < 1:
            raise InvalidArgumentError(f"spy: cells {number} must be at least 1")
    agree(rows.context, "spy", f"{rows.text()}, cells {number}")
    counts = allreduce(rows.context, _counted(rows, number), SUM)
    if not rows.context.is_root:
        return None
    if ax is None:
        ax = matplotlib("spy")[0].subplots()[1]
    height, width = rows.shape
    ax.imshow(
        np.log1p(counts),
        cmap="Greys",
        extent=(0, max(width, 1), max(height, 1), 0),
        interpolation="nearest",
        aspect="equal",
    )
    ax.set_title(f"{height} x {width}, {rows.nnz} stored", fontsize="small")
    return ax


def _counted(rows: Rows, cells: int) -> Array:
    """Return how many of this rank's elements are in each cell of the picture."""
    shape = [max(min(extent, cells), 1) for extent in rows.shape]
    own = rows.whole().tocoo()
    places = [
        (numbers.astype(np.int64) + first) * count // max(extent, 1)
        for numbers, first, count, extent in zip((own.row, own.col), (rows.first, 0), shape, rows.shape)
    ]
    counts: Array = np.bincount(places[0] * shape[1] + places[1], minlength=shape[0] * shape[1])
    return counts.reshape(shape)
