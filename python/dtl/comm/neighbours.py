"""What grids and graphs of ranks have in common: exchanges along their edges."""

from __future__ import annotations

from types import TracebackType
from typing import Any, ClassVar, TypeVar

import numpy as np

from .._native import library
from .._native.arguments import fitting_out, input_array, received
from .._native.library import bridge
from .._native.rows import integers, rows
from ..exceptions import InvalidTypeError
from ..runtime.agreement import collective
from ..runtime.context import Context
from .point_to_point import PROC_NULL

Self = TypeVar("Self", bound="Neighbours")


def edges_of(sources: list[int], destinations: list[int]) -> Any:
    """Return neighbours as the bridge takes them."""
    return np.array([len(sources), *sources, *destinations], np.int64)


class Neighbours:
    """Ranks that know with whom they exchange. The exchanges are collective over all ranks of the context."""

    _crosswise = 0
    _kind: ClassVar[str]

    def __init__(self, ctx: Context, sources: list[int], destinations: list[int], owned: bool) -> None:
        self._context, self._owned, self._closed = ctx, owned, False
        self._sources, self._destinations = sources, destinations
        self._edges = edges_of(sources, destinations)
        self._whole = PROC_NULL not in sources
        self._serial = ctx._topologies
        ctx._topologies += 1

    @property
    def context(self) -> Context:
        """The context of the ranks, in their order here."""
        return self._context

    @property
    def sources(self) -> list[int]:
        """The ranks that this one receives from, in the order of its received parts."""
        return list(self._sources)

    @property
    def destinations(self) -> list[int]:
        """The ranks that this one sends to, in the order of its sent parts."""
        return list(self._destinations)

    def close(self) -> None:
        """End the exchanges. Collective. A second call does nothing.

        The context that reorder and ``sub`` have made is closed; the one that the caller gave stays open.

        Raises
        ------
        BufferError
            If requests on the context that is closed are active. Then nothing is.
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
    def neighbor_allgather(self, value: Any, *, out: Any = None) -> Any:
        """Send value to each destination. Collective (MPI_Neighbor_allgather).

        Parameters
        ----------
        value
            An array or a scalar, of the same dtype and shape on every rank.
        out
            A C-contiguous array for the result, of value's dtype and as many elements.

        Returns
        -------
        ndarray
            Of shape ``(len(sources), *value.shape)``, or out: entry k is the value of source k. Where that is
            PROC_NULL, out keeps what it has there; without out there are zeros.

        Raises
        ------
        InvalidArgumentError
            If an out does not fit. On every rank.
        InvalidTypeError
            If a value has no dtype that can be sent. On every rank.
        CollectiveMismatchError
            If the ranks' values are of different dtypes or lengths. On every rank.
        InvalidHandleError
            If this or its context is closed.
        """
        quick = out is not None and not self._closed
        if quick and self._exchange(bridge.NEIGHBOR_ALLGATHER, value, out) is not NotImplemented:
            return out
        self._check_open()
        array = input_array("value", value)
        result = self._room(out, array.shape, array.dtype)
        self._exchange(bridge.NEIGHBOR_ALLGATHER, array, result)
        return result

    @collective
    def neighbor_alltoall(self, values: Any, *, out: Any = None) -> Any:
        """Send entry k of values to destination k. Collective (MPI_Neighbor_alltoall).

        Parameters
        ----------
        values
            An array of shape ``(len(destinations), ...)``, whose entries are of the same dtype and shape on every rank.
        out
            A C-contiguous array for the result, of the values' dtype and as many elements. It may be the values.

        Returns
        -------
        ndarray
            Of shape ``(len(sources), ...)``, or out: entry k is what source k has sent here. Where that is PROC_NULL,
            out keeps what it has there; without out there are zeros.

        Raises
        ------
        InvalidArgumentError
            If a rank's values have not one entry a destination, or its out does not fit. On every rank.
        InvalidTypeError
            If a rank's values have no dtype that can be sent. On every rank.
        CollectiveMismatchError
            If the ranks' entries are of different dtypes or lengths. On every rank.
        InvalidHandleError
            If this or its context is closed.
        """
        quick = out is not None and not self._closed
        if quick and self._exchange(bridge.NEIGHBOR_ALLTOALL, values, out) is not NotImplemented:
            return out
        self._check_open()
        array = input_array("values", values)
        result = self._room(out, array.shape[1:], array.dtype)
        self._exchange(bridge.NEIGHBOR_ALLTOALL, array, result)
        return result

    @collective
    def neighbor_alltoallv(self, data: Any, send_counts: Any, recv_counts: Any = None, *, out: Any = None) -> Any:
        """Send the next so many rows to each destination. Collective (MPI_Neighbor_alltoallv).

        Parameters
        ----------
        data
            An array of shape (n, ...): n rows, of the same dtype and shape on every rank.
        send_counts
            How many rows go to each destination, n in all. Those for PROC_NULL go nowhere.
        recv_counts
            How many rows must come from each source; None takes what comes.
        out
            A C-contiguous array for the result, of data's dtype and as many elements.

        Returns
        -------
        ndarray
            The rows of all sources, one after the other, of shape ``(sum of recv_counts, ...)``, or out.

        Raises
        ------
        InvalidArgumentError
            If a rank's counts have not one entry a neighbour, or do not add up to its rows, or are not what its
            neighbours send, or its out does not fit. On every rank.
        InvalidTypeError
            If a rank's data has no dtype that can be sent. On every rank.
        CollectiveMismatchError
            If the ranks' rows are of different dtypes or shapes. On every rank.
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
        edges = (self._crosswise, self._serial, known, 0, self._edges, counts)
        return received(bridge.call(bridge.NEIGHBOR_ALLTOALLV, self._context, array, out, *edges))

    def _counts(self, name: str, counts: Any, neighbours: list[int], kind: str) -> Any:
        array = integers(name, counts, "a neighbour")
        if len(array) != len(neighbours):
            raise library.invalid("neighbor_alltoallv", f"{name} has {len(array)} entries for {len(neighbours)} {kind}")
        return array

    def _room(self, out: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return where the result goes."""
        result = fitting_out(out, (len(self._sources), *shape), dtype)
        if out is None and not self._whole:
            result[...] = 0
        return result

    def _exchange(self, code: int, array: Any, result: Any) -> Any:
        return bridge.call(code, self._context, array, result, self._crosswise, self._serial, 0, 0, self._edges)
