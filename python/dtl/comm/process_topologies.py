"""Process topologies: grids and graphs of ranks, and collective exchanges along their edges."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable, ClassVar, TypeVar

import numpy as np

from .._native import library
from .._native.arguments import fitting_out, flag, input_array, integer, integers, received, rows
from .._native.kinds import kind_of
from .._native.library import bridge
from .._native.objects import handle_of
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import check_context, collective
from ..runtime.context import Context, kept_of
from .point_to_point import PROC_NULL
from .staging import staged

Self = TypeVar("Self", bound="Neighbours")


def edges_of(sources: list[int], destinations: list[int]) -> Any:
    """Return neighbours as the bridge takes them."""
    return np.array([len(sources), *sources, *destinations], np.int64)


class Neighbours:
    """Ranks that know their neighbours. The exchanges with them are collective over all ranks of the context."""

    _crosswise = 0
    _kind: ClassVar[str]

    def __init__(self, ctx: Context, sources: list[int], destinations: list[int], owned: bool) -> None:
        self._context, self._owned, self._closed = ctx, owned, False
        self._sources, self._destinations = sources, destinations
        self._edges = edges_of(sources, destinations)
        self._whole = PROC_NULL not in sources
        kept = kept_of(ctx)
        self._serial = kept.topologies
        kept.topologies += 1

    @property
    def context(self) -> Context:
        """The context of the ranks. They have the same order in it."""
        return self._context

    @property
    def sources(self) -> list[int]:
        """The ranks that this one receives from, in the order of the parts that it receives."""
        return list(self._sources)

    @property
    def destinations(self) -> list[int]:
        """The ranks that this one sends to, in the order of the parts that it sends."""
        return list(self._destinations)

    def close(self) -> None:
        """Close the grid or graph. Collective. Closing twice does nothing.

        If ``reorder`` or ``sub`` has made a context for it, that is closed too. The context that you passed stays open.

        Raises
        ------
        BufferError
            If requests on the context to be closed are under way. Nothing is closed then.
        """
        if self._owned:
            self._context.close()
        self._closed = True

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._owned:
            self._context.__exit__(kind, error, where)
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise library.closed(self._kind)

    def __reduce__(self) -> Any:
        raise InvalidTypeError(f"{self!r} cannot be copied or pickled: its ranks are this job's")

    @collective
    @staged
    def neighbor_allgather(self, value: Any, *, out: Any = None) -> Any:
        """Send a value to each destination. Collective (MPI_Neighbor_allgather).

        Parameters
        ----------
        value
            An array or a scalar, of the same dtype and shape on every rank.
        out
            A C-contiguous array that receives the result, of value's dtype and with len(sources) times its elements.

        Returns
        -------
        ndarray
            An array of shape ``(len(sources), *value.shape)``, or out. Entry k is the value of source k. If that is
            PROC_NULL, the entry of out is unchanged; without out, it is zero.

        Raises
        ------
        InvalidArgumentError
            If a rank's out does not match. On every rank.
        InvalidTypeError
            If a rank's value has no dtype that can be sent. On every rank.
        CollectiveMismatchError
            If the values of the ranks differ in dtype or length. On every rank.
        InvalidHandleError
            If this or its context is closed.
        """
        quick = out is not None and not self._closed
        if quick and self._exchange(bridge.neighbor_allgather, value, out) is not NotImplemented:
            return out
        self._check_open()
        array = input_array("value", value)
        result = self._result_array(out, array.shape, array.dtype)
        self._exchange(bridge.neighbor_allgather, array, result)
        return result

    @collective
    @staged
    def neighbor_alltoall(self, values: Any, *, out: Any = None) -> Any:
        """Send entry k of values to destination k. Collective (MPI_Neighbor_alltoall).

        Parameters
        ----------
        values
            An array of shape ``(len(destinations), ...)``, whose entries have the same dtype and shape on every rank.
        out
            A C-contiguous array that receives the result, of the dtype of values and with len(sources) entries. It may
            be values itself.

        Returns
        -------
        ndarray
            An array of shape ``(len(sources), ...)``, or out. Entry k is what source k sent to this rank. If that is
            PROC_NULL, the entry of out is unchanged; without out, it is zero.

        Raises
        ------
        InvalidArgumentError
            If a rank has not exactly one entry for each destination, or its out does not match. On every rank.
        InvalidTypeError
            If a rank's values have no dtype that can be sent. On every rank.
        CollectiveMismatchError
            If the entries of the ranks differ in dtype or length. On every rank.
        InvalidHandleError
            If this or its context is closed.
        """
        quick = out is not None and not self._closed
        if quick and self._exchange(bridge.neighbor_alltoall, values, out) is not NotImplemented:
            return out
        self._check_open()
        array = input_array("values", values)
        result = self._result_array(out, array.shape[1:], array.dtype)
        self._exchange(bridge.neighbor_alltoall, array, result)
        return result

    @collective
    @staged
    def neighbor_alltoallv(self, data: Any, send_counts: Any, recv_counts: Any = None, *, out: Any = None) -> Any:
        """Send the first ``send_counts[0]`` rows to the first destination, the next ones to the second, and so on.

        Collective (MPI_Neighbor_alltoallv).

        Parameters
        ----------
        data
            An array of shape ``(n, ...)``, which is n rows. n may differ between the ranks; the dtype and the shape of
            a row may not.
        send_counts
            How many rows go to each destination; the sum is n. Rows for PROC_NULL are not sent.
        recv_counts
            How many rows each source has to send to this rank. None accepts any number.
        out
            A C-contiguous array that receives the result, of data's dtype and with as many elements as all rows have.

        Returns
        -------
        ndarray
            The rows of all sources, one after the other, of shape ``(sum of recv_counts, ...)``; or out.

        Raises
        ------
        InvalidArgumentError
            If a rank's counts have not exactly one entry for each neighbour, do not add up to its number of rows, or
            differ from what its neighbours send, or if its out does not match. On every rank.
        InvalidTypeError
            If a rank's data has no dtype that can be sent. On every rank.
        CollectiveMismatchError
            If the rows of the ranks differ in dtype or shape. On every rank.
        InvalidHandleError
            If this or its context is closed.
        """
        self._check_open()
        array = rows("data", data, out)
        sent = self._counts("send_counts", send_counts, self._destinations, "destinations")
        expected = np.empty(0, np.int64)
        if recv_counts is not None:
            expected = self._counts("recv_counts", recv_counts, self._sources, "sources")
        counts = np.concatenate([sent, expected])
        known = int(recv_counts is not None)
        edges = (self._crosswise, self._serial, known, self._edges, counts)
        return received(bridge.neighbor_alltoallv(self._context, array, out, *edges))

    def _counts(self, name: str, counts: Any, neighbours: list[int], kind: str) -> Any:
        array = integers(name, counts, "a neighbour")
        if len(array) != len(neighbours):
            raise library.invalid("neighbor_alltoallv", f"{name} has {len(array)} entries for {len(neighbours)} {kind}")
        return array

    def _result_array(self, out: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return where the result goes."""
        result = fitting_out(out, (len(self._sources), *shape), dtype)
        if out is None and not self._whole:
            result[...] = np.zeros((), dtype)  # of text, too, of which 0 is a character
        return result

    def _exchange(self, exchange: Callable[..., Any], array: Any, result: Any) -> Any:
        return exchange(self._context, array, result, self._crosswise, self._serial, self._edges)


class Cart(Neighbours):
    """A grid of ranks. Collective (MPI_Cart_create).

    Parameters
    ----------
    ctx
        The context. All its ranks are in the grid.
    dims
        The number of ranks along each axis. Zeros are chosen so that these extents are as equal as possible, in
        descending order (MPI_Dims_create).
    periods
        Whether the first and last ranks of an axis are neighbours: one value for all axes, or one for each.
    reorder
        Whether ranks may be placed in the grid so that those of one machine are neighbours. If all machines have the
        same number of ranks, and blocks of this size tile the grid, each machine gets a block; otherwise, the machines
        follow each other. The grid then has a context of its own.

    Raises
    ------
    InvalidArgumentError
        If the product of dims is not the number of ranks, if one of them is negative, or if there are not as many
        periods as axes. On every rank.
    InvalidTypeError
        If dims are not integers, or if periods or reorder are not bools. On every rank.
    CollectiveMismatchError
        If the ranks pass different dims, periods or reorder. On every rank.

    Notes
    -----
    The last axis runs fastest: rank 1 is at (0, …, 0, 1). The neighbours are, for each axis, the rank before and the
    rank after, in this order; beyond an end, they are PROC_NULL. On a periodic axis of one or two ranks, both
    neighbours are the same rank, and what that rank sends to its neighbour before it arrives here from the neighbour
    after.

    Without reorder, the grid uses your context, which has to stay open; ``close`` closes only the grid. (MPI standard,
    chapter "Virtual Topologies for MPI Processes".)

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

    __module__ = "dtl"

    _crosswise = 1
    _kind = "grid"

    @collective
    def __init__(self, ctx: Context, dims: Any, periods: Any = False, reorder: bool = False) -> None:
        check_context(ctx)
        extents = integers("dims", dims, "an axis")
        truths = _booleans(periods, len(extents))
        wish = flag("reorder", reorder)
        numbers = np.concatenate([extents, truths])
        extents = np.asarray(bridge.cart(ctx, numbers, wish))
        grid = np.concatenate([extents, truths])
        if wish:
            nodes = np.array([seat.node for seat in ctx.topology.seats], np.int64)
            order = np.asarray(bridge.cart_at(ctx, grid, bridge.CART_REORDER, 0, 0, 0, nodes))
            ctx = _own_part(ctx.split(0, int(order[ctx.rank])))
        self._begin(ctx, grid, owned=bool(wish))

    def _begin(self, ctx: Context, grid: Any, owned: bool) -> None:
        self._grid = grid
        near = np.asarray(bridge.cart_at(ctx, grid, bridge.CART_NEAR, ctx.rank)).tolist()
        Neighbours.__init__(self, ctx, near, near, owned)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._grid) // 2

    @property
    def dims(self) -> tuple[int, ...]:
        """The number of ranks along each axis."""
        return tuple(self._grid[: self.ndim].tolist())

    @property
    def periods(self) -> tuple[bool, ...]:
        """Whether each axis is periodic."""
        return tuple(map(bool, self._grid[self.ndim :]))

    def coords(self, rank: int | None = None) -> tuple[int, ...]:
        """Return the coordinates of a rank; None is this rank. Not collective (MPI_Cart_coords).

        Raises
        ------
        BoundsError
            If rank is outside [0, size).
        InvalidHandleError
            If the grid or its context is closed.
        """
        number = self._context.rank if rank is None else integer("rank", rank)
        return tuple(np.asarray(self._ask(bridge.CART_COORDS, number)).tolist())

    def rank(self, coords: Any) -> int:
        """Return the rank with given coordinates. Not collective (MPI_Cart_rank).

        Parameters
        ----------
        coords
            A coordinate for each axis. On a periodic axis, it may be any integer.

        Raises
        ------
        BoundsError
            If a coordinate is beyond an end.
        InvalidArgumentError
            If there is not exactly one coordinate for each axis.
        InvalidTypeError
            If the coordinates are not integers.
        InvalidHandleError
            If the grid or its context is closed.
        """
        number: int = self._ask(bridge.CART_RANK, lists=(integers("coords", coords, "an axis"),))
        return number

    def shift(self, axis: int, displacement: int = 1) -> tuple[int, int]:
        """Return this rank's source and destination in a shift along an axis. Not collective (MPI_Cart_shift).

        Parameters
        ----------
        axis
            The axis, in [0, ndim).
        displacement
            How far to shift; negative numbers shift backwards.

        Returns
        -------
        source, dest : int
            The two ranks; PROC_NULL beyond an end.

        Raises
        ------
        BoundsError
            If there is no such axis.
        InvalidHandleError
            If the grid or its context is closed.
        """
        by = integer("displacement", displacement)
        source, dest = np.asarray(self._ask(bridge.CART_SHIFT, self._context.rank, integer("axis", axis), by)).tolist()
        return source, dest

    @collective
    def sub(self, remain: Any) -> Cart:
        """Return this rank's part of the grid along some axes, with its own context. Collective (MPI_Cart_sub).

        Parameters
        ----------
        remain
            For each axis, whether to keep it. Ranks that differ in the other coordinates are in different parts.

        Returns
        -------
        Cart
            A grid of the kept axes, in their order. Close it as you close a context.

        Raises
        ------
        InvalidArgumentError
            If remain has not exactly one entry for each axis. On every rank.
        InvalidTypeError
            If the entries are not bools. On every rank.
        CollectiveMismatchError
            If the ranks pass different entries. On every rank.
        InvalidHandleError
            If the grid or its context is closed.
        """
        ctx = self._context
        self._check_open()
        kept = _booleans(remain, self.ndim, "remain").astype(bool)
        here = np.array(self.coords(), np.int64)
        library.context_agree(handle_of(ctx), "cart.sub", f"remain {tuple(kept.tolist())}")
        here[kept] = 0  # the coordinates of the part's first rank, whose number is the color of the part
        part = _own_part(ctx.split(self.rank(here), ctx.rank))
        made = Cart.__new__(Cart)
        made._begin(part, self._grid[np.tile(kept, 2)], owned=True)
        return made

    def _ask(self, question: int, a: int = 0, b: int = 0, c: int = 0, lists: tuple[Any, ...] = ()) -> Any:
        self._check_open()
        return bridge.cart_at(self._context, self._grid, question, a, b, c, *lists)

    def __repr__(self) -> str:
        sizes = " x ".join(map(str, self.dims))
        state = ", closed" if self._closed else ""
        return f"<dtl.Cart of {sizes} ranks, periods {self.periods}, rank {self._context.rank}{state}>"


def _own_part(ctx: Context | None) -> Context:
    if ctx is None:
        raise AssertionError("a rank that gives a color is in a part")
    return ctx


def _booleans(values: Any, count: int, name: str = "periods") -> Any:
    """Return truth values as numbers, one for each axis. A single value holds for all axes."""
    if isinstance(values, (bool, np.bool_)):
        values = [values] * count
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InvalidTypeError(f"{name} of type {type(values).__name__} are no truths: {error}") from None
    if not kind_of(array.dtype).is_whole and array.size:
        raise InvalidTypeError(f"{name} of type {type(values).__name__} have dtype {array.dtype}; they must be truths")
    if array.ndim != 1 or len(array) != count:
        raise InvalidArgumentError(f"{name} of shape {array.shape} must have one entry for each of {count} axes")
    return (array != 0).astype(np.int64)


class Graph(Neighbours):
    """A graph of ranks, in which each rank states its neighbours. Collective (MPI_Dist_graph_create_adjacent).

    Parameters
    ----------
    ctx
        The context.
    sources
        The ranks that this one receives from. A rank may occur several times, and may be this one.
    destinations
        The ranks that this one sends to.

    Raises
    ------
    BoundsError
        If a neighbour is outside [0, size). On every rank.
    InvalidArgumentError
        If the two ends of an edge do not agree: a rank names another among its destinations more or less often than
        that names it among its sources. On every rank.
    InvalidTypeError
        If the neighbours are not integers. On every rank.

    Notes
    -----
    If there are several edges from one rank to another, both use them in the same order. The graph uses your context,
    which has to stay open. (MPI standard, chapter "Virtual Topologies for MPI Processes".)

    Examples
    --------
    A ring in one direction:

    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     ring = dtl.Graph(ctx, [(ctx.rank - 1) % ctx.size], [(ctx.rank + 1) % ctx.size])
    ...     int(ring.neighbor_allgather(ctx.rank)[0]) == (ctx.rank - 1) % ctx.size
    True
    """

    __module__ = "dtl"

    _kind = "graph"

    @collective
    def __init__(self, ctx: Context, sources: Any, destinations: Any) -> None:
        check_context(ctx)
        senders, receivers = _ranks("sources", sources), _ranks("destinations", destinations)
        bridge.graph(ctx, edges_of(senders, receivers))
        super().__init__(ctx, senders, receivers, owned=False)

    def __repr__(self) -> str:
        state = ", closed" if self._closed else ""
        edges = f"receives from {self._sources} and sends to {self._destinations}"
        return f"<dtl.Graph, rank {self._context.rank} {edges}{state}>"


def _ranks(name: str, ranks: Any) -> list[int]:
    return [int(rank) for rank in integers(name, ranks, "a neighbour")]
