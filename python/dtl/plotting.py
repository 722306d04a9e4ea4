"""Drawings with matplotlib, of the extra ``plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._picture import colour, describe, label, picture
from .container import check_container

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_partition(container: Any, ax: Axes | None = None) -> Axes:
    """Draw which rank holds what of a container. Not collective: a rank draws the picture for all.

    Parameters
    ----------
    container
        A vector, array, tensor or span. Of more than two dimensions the first two are drawn, at index 0 of the others.
    ax
        Where to draw; None for a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ImportError
        If there is no matplotlib.
    InvalidTypeError
        If container is none.
    InvalidHandleError
        If the container is closed.

    Notes
    -----
    Of a container in more than 64 pieces along its one dimension, or 16 along each of two, the beginning is drawn.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector(ctx, 10, partition=dtl.PARTITION_CYCLIC)
    ...     ax = dtl.plot_partition(vec)  # doctest: +SKIP
    """
    check_container("container", container)
    try:
        from matplotlib import pyplot
        from matplotlib.patches import Rectangle
    except ImportError as error:
        raise ImportError(f"plot_partition needs matplotlib, which pip install 'pydtl[plot]' brings: {error}") from None

    shown = picture(container)
    if ax is None:
        ax = pyplot.subplots(figsize=(8, 1.5 if len(container.shape) == 1 else 5))[1]
    for tile in shown.tiles:
        x, y = tile.columns.start, tile.rows.start
        width, height = tile.columns.stop - x, tile.rows.stop - y
        ax.add_patch(Rectangle((x, y), width, height, facecolor=colour(tile.rank), edgecolor="white"))
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
