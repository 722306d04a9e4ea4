"""Drawings with matplotlib, which the extra ``plot`` installs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .containers.base import check_container
from .containers.display import describe, picture
from .topology.drawing import colour, label, matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_partition(container: Any, ax: Axes | None = None) -> Axes:
    """Draw which rank holds which elements of a container. Not collective: one rank draws the picture for all.

    Parameters
    ----------
    container
        A vector, array, tensor or span. If there are more than two dimensions, the first two are drawn, at index 0 of
        the others.
    ax
        The axes to draw on; None for a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that the picture is on.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    InvalidTypeError
        If container is not a container.
    InvalidHandleError
        If the container is closed.

    Notes
    -----
    If a container is divided into more than 64 pieces along one dimension, or 16 along each of two, only the beginning
    is drawn.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector(ctx, 10, partition=dtl.PARTITION_CYCLIC)
    ...     ax = dtl.plot_partition(vec)  # doctest: +SKIP
    """
    check_container("container", container)
    pyplot, rectangle = matplotlib("plot_partition")
    shown = picture(container)
    if ax is None:
        ax = pyplot.subplots(figsize=(8, 1.5 if len(container.shape) == 1 else 5))[1]
    for tile in shown.tiles:
        x, y = tile.columns.start, tile.rows.start
        width, height = tile.columns.stop - x, tile.rows.stop - y
        ax.add_patch(rectangle((x, y), width, height, facecolor=colour(tile.rank), edgecolor="white"))
        ax.text(x + width / 2, y + height / 2, label(tile.rank), ha="center", va="center", clip_on=True)
    ax.set_xlim(0, max(shown.columns, 1))
    ax.set_ylim(max(shown.rows, 1), 0)
    ax.set_title(describe(container), fontsize="small", wrap=True)
    if len(container.shape) == 1:
        ax.set_yticks([])
        ax.set_xlabel("index")
    else:
        ax.set_xlabel("index along dimension 1")
        ax.set_ylabel("index along dimension 0")
    return ax
