"""Grids of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import library
from .._native.arguments import flag, integer
from .._native.library import bridge
from .._native.rows import integers
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import check_context, collective
from ..runtime.context import Context
from .neighbours import Neighbours

_COORDS, _RANK, _SHIFT, _NEAR, _REORDER = range(5)


class Cart(Neighbours):
    """A grid of ranks. Collective (MPI_Cart_create).

    Parameters
    ----------
    ctx
        The ranks, all of which are in the grid.
    dims
        How many ranks there are along each axis. 0 is chosen, so that these are as equal as they can be, the larger
        ones first (MPI_Dims_create).
    periods
        Whether the ends of each axis are neighbours; one for all axes, or one for each.
    reorder
        Whether ranks may stand elsewhere in the grid, so that those of one machine are neighbours: where the machines
        have as many ranks each, and blocks of that many tile the grid, each gets one, else they follow each other. Then
        the grid has a context of its own.

    Raises
    ------
    InvalidArgumentError
        If the dims do not multiply to the number of ranks, one is negative, or there are not as many periods. On every
        rank.
    InvalidTypeError
        If dims are no integers, or periods or reorder no truths. On every rank.
    CollectiveMismatchError
        If the ranks pass different dims, periods, or reorder. On every rank.

    Notes
    -----
    The last axis runs fastest: rank 1 is at (0, …, 0, 1). The neighbours are, of each axis, the one before and the one
    behind, in this order, and `PROC_NULL` beyond an end. Along a period of one or two ranks, both are the same; what is
    sent backwards comes from ahead there, too. Without reorder the context stays the caller's, and open for as long as
    the grid is used; ``close`` closes the grid alone. (MPI standard, chapter "Virtual Topologies for MPI Processes".)

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     grid = dtl.Cart(ctx, (0, 0), periods=True)
    ...     before, behind = grid.shift(axis=1)
    ...     coords = grid.neighbor_allgather(grid.coords())
    ...     coords.shape
    (4, 2)
    """

    _crosswise = 1
    _kind = "grid"

    @collective
    def __init__(self, ctx: Context, dims: Any, periods: Any = False, reorder: bool = False) -> None:
        check_context(ctx)
        extents = integers("dims", dims, "an axis")
        truths = _truths(periods, len(extents))
        wish = flag("reorder", reorder)
        numbers = np.concatenate([extents, truths])
        extents = np.asarray(bridge.call(bridge.CART, ctx, numbers, None, wish, 0, 0, 0))
        grid = np.concatenate([extents, truths])
        if wish:
            nodes = np.array([seat.node for seat in ctx.topology.seats], np.int64)
            order = np.asarray(bridge.call(bridge.CART_AT, ctx, grid, None, _REORDER, 0, 0, 0, nodes))
            ctx = _part(ctx.split(0, int(order[ctx.rank])))
        self._begin(ctx, grid, owned=bool(wish))

    def _begin(self, ctx: Context, grid: Any, owned: bool) -> None:
        self._grid = grid
        near = np.asarray(bridge.call(bridge.CART_AT, ctx, grid, None, _NEAR, ctx.rank, 0, 0)).tolist()
        Neighbours.__init__(self, ctx, near, near, owned)

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self._grid) // 2

    @property
    def dims(self) -> tuple[int, ...]:
        """How many ranks there are along each axis."""
        return tuple(self._grid[: self.ndim].tolist())

    @property
    def periods(self) -> tuple[bool, ...]:
        """Whether the ends of each axis are neighbours."""
        return tuple(map(bool, self._grid[self.ndim :]))

    def coords(self, rank: int | None = None) -> tuple[int, ...]:
        """Return where a rank is; None for this one. Not collective (MPI_Cart_coords).

        Raises
        ------
        BoundsError
            If the rank is outside [0, size).
        InvalidHandleError
            If the grid or its context is closed.
        """
        number = self._context.rank if rank is None else integer("rank", rank)
        return tuple(np.asarray(self._ask(_COORDS, number)).tolist())

    def rank(self, coords: Any) -> int:
        """Return which rank is at some coordinates. Not collective (MPI_Cart_rank).

        Parameters
        ----------
        coords
            One for each axis. Along an axis with a period any number will do.

        Raises
        ------
        BoundsError
            If one is beyond an end.
        InvalidArgumentError
            If there is not one for each axis.
        InvalidTypeError
            If they are no integers.
        InvalidHandleError
            If the grid or its context is closed.
        """
        number: int = self._ask(_RANK, lists=(integers("coords", coords, "an axis"),))
        return number

    def shift(self, axis: int, displacement: int = 1) -> tuple[int, int]:
        """Return whom this rank receives from and sends to if all send along an axis. Not collective (MPI_Cart_shift).

        Parameters
        ----------
        axis
            In [0, ndim).
        displacement
            How far; backwards where it is negative.

        Returns
        -------
        source, dest : int
            `PROC_NULL` beyond an end.

        Raises
        ------
        BoundsError
            If there is no such axis.
        InvalidHandleError
            If the grid or its context is closed.
        """
        by = integer("displacement", displacement)
        source, dest = np.asarray(self._ask(_SHIFT, self._context.rank, integer("axis", axis), by)).tolist()
        return source, dest

    @collective
    def sub(self, remain: Any) -> Cart:
        """Return this rank's part of the grid along some axes, with its own context. Collective (MPI_Cart_sub).

        Parameters
        ----------
        remain
            Whether each axis is kept. The ranks that differ in the others are in different parts.

        Returns
        -------
        Cart
            Of the axes that are kept, in their order. Close it as you close a context.

        Raises
        ------
        InvalidArgumentError
            If remain has not one entry for each axis. On every rank.
        InvalidTypeError
            If it holds no truths. On every rank.
        CollectiveMismatchError
            If the ranks pass different ones. On every rank.
        InvalidHandleError
            If the grid or its context is closed.
        """
        ctx = self._context
        self._check_open()
        kept = _truths(remain, self.ndim, "remain").astype(bool)
        here = np.array(self.coords(), np.int64)
        library.context_agree(ctx._handle, "cart.sub", f"remain {tuple(kept.tolist())}")
        here[kept] = 0  # the first rank of the part, which names it
        part = _part(ctx.split(self.rank(here), ctx.rank))
        made = Cart.__new__(Cart)
        made._begin(part, self._grid[np.tile(kept, 2)], owned=True)
        return made

    def _ask(self, question: int, a: int = 0, b: int = 0, c: int = 0, lists: tuple[Any, ...] = ()) -> Any:
        self._check_open()
        return bridge.call(bridge.CART_AT, self._context, self._grid, None, question, a, b, c, *lists)

    def __repr__(self) -> str:
        sizes = " x ".join(map(str, self.dims))
        state = ", closed" if self._closed else ""
        return f"<dtl.Cart of {sizes} ranks, periods {self.periods}, rank {self._context.rank}{state}>"


def _part(ctx: Context | None) -> Context:
    if ctx is None:
        raise AssertionError("a rank that gives a color is in a part")
    return ctx


def _truths(values: Any, count: int, name: str = "periods") -> Any:
    """Return truths as numbers: one for each axis, of which one for all is made so many."""
    if isinstance(values, (bool, np.bool_)):
        values = [values] * count
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"{name} of type {type(values).__name__} are no truths: {error}") from None
    if array.dtype.kind not in "biu" and array.size:
        raise InvalidTypeError(f"{name} of type {type(values).__name__} have dtype {array.dtype}; they must be truths")
    if array.ndim != 1 or len(array) != count:
        raise InvalidArgumentError(f"{name} of shape {array.shape} must have one entry for each of {count} axes")
    return (array != 0).astype(np.int64)
