"""Drawings with matplotlib, which the extra ``plot`` installs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .containers.base import check_container
from .containers.display import colour, describe, label, picture
from .topology.affinity import Seat, rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEGIBLE = 4  # so many ranks side by side on one CPU still have their numbers


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
    pyplot, rectangle = _matplotlib("plot_partition")
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


def plot_seats(seats: list[Seat], ax: Axes | None = None) -> Axes:
    """Draw which ranks may run on which CPU, as ``Context.topology`` does; it says more."""
    pyplot, rectangle = _matplotlib("topology.plot")
    rows = rows_of(seats)
    if ax is None:
        ax = pyplot.subplots(figsize=(8, 1 + 0.6 * len(rows)))[1]
    for y, row in enumerate(rows):
        for x, cpu in enumerate(row.cpus):
            ranks = row.ranks[cpu]
            for i, rank in enumerate(ranks):
                part = 1 / len(ranks)
                ax.add_patch(rectangle((x + i * part, y), part, 1, facecolor=colour(rank), edgecolor="none"))
                if len(ranks) <= _LEGIBLE:
                    ax.text(x + (i + 0.5) * part, y + 0.6, label(rank), ha="center", va="center", clip_on=True)
            ax.add_patch(rectangle((x, y), 1, 1, facecolor="none" if ranks else "#ffffff", edgecolor="#555555"))
            ax.text(x + 0.5, y + 0.15, f"CPU {cpu}", ha="center", va="center", fontsize="x-small", clip_on=True)
    ax.set_xlim(0, max((len(row.cpus) for row in rows), default=1))
    ax.set_ylim(len(rows), 0)
    ax.set_yticks([y + 0.5 for y in range(len(rows))], [row.name for row in rows])
    ax.set_xticks([])
    ax.set_title("which ranks may run on which CPU", fontsize="small")
    return ax


def _matplotlib(what: str) -> tuple[Any, Any]:
    """Return pyplot and its rectangles, or raise what is missing for a function."""
    try:
        from matplotlib import pyplot
        from matplotlib.patches import Rectangle
    except ImportError as error:
        raise ImportError(f"{what} needs matplotlib: pip install matplotlib ({error})") from None
    return pyplot, Rectangle
