"""Elements by their keys: sums, means and the like of all elements that have one key."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Callable

import numpy as np

from .._native import library
from ..comm import collectives
from ..containers.base import DistributedContainer, check_container
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..ops import Op
from ..runtime.agreement import agree, collective
from .axis_reductions import accumulator_dtype, result_dtype
from .exchange import share
from .ordered import flattened, run_starts
from .sort import argsort, check_vector

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_UFUNCS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "mean": np.add}

#: How the elements of a group are aggregated.
OPS = ("sum", "prod", "min", "max", "count", "mean", "first", "last")


@collective
def group_by(keys: DistributedContainer) -> GroupBy:
    """Return the groups of equal keys, to aggregate other containers by. Collective.

    Parameters
    ----------
    keys
        A container of one dimension, the same on every rank, of any dtype and divided in any way. NaNs are equal to
        each other, as for ``unique``. They are read now: what becomes of the container later changes nothing.

    Returns
    -------
    GroupBy
        What has the order of the keys; ``agg(values, op)`` makes aggregates, as many as wanted with one sort.

    Raises
    ------
    InvalidTypeError
        If keys is no container.
    InvalidArgumentError
        If it has more than one dimension. On every rank.
    CollectiveMismatchError
        If ranks pass different containers.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     shop = dtl.DistributedVector.from_numpy(ctx, np.array([2, 1, 2, 2]))
    ...     price = dtl.DistributedVector.from_numpy(ctx, np.array([5.0, 3.0, 1.0, 3.0]))
    ...     shops, means = dtl.group_by(shop).agg(price, "mean")
    ...     print(shops.gather_to(), means.gather_to())
    [1 2] [3. 3.]
    """
    return GroupBy(keys)


class GroupBy:
    """The groups of equal keys, as ``group_by`` returns them. A context manager, which closes it.

    Until it is closed it keeps the order of the keys: about 9 bytes an element, and the distinct keys.
    """

    __module__ = "dtl"

    _closed = True

    @collective
    def __init__(self, keys: DistributedContainer) -> None:
        check_container("keys", keys)
        keys._check_open()
        check_vector("keys", keys)
        #: Divided as the keys are: values must be, also when the keys are closed or divided anew.
        self._layout = keys._like(np.bool_)
        share(keys, "group_by")
        self._context = keys.context
        self._of = keys.dtype
        with flattened(keys) as work:
            work._run_as(keys.execution_policy)
            self._order: DistributedVector = argsort(work)
            part = work.get(self._order.local_view())
        first = run_starts(self._context, part)
        distinct = part[first]
        self._keys = DistributedVector._from_parts(self._context, distinct)
        self._divide(first)
        self._closed = False

    def _divide(self, first: Array) -> None:
        """Find the runs of one key in this rank's part of the order, and who has the rest of the last. Collective."""
        #: Whether the first run of equal keys began on an earlier rank.
        self._continues = bool(len(first) and not first[0])
        begins = np.flatnonzero(first)
        self._begins = np.append(0, begins) if self._continues else begins
        self._lengths = np.diff(np.append(self._begins, len(first))).astype(np.int64)
        rows = collectives.allgather(self._context, np.array([self._continues, len(begins)], np.int64))
        #: The later ranks that have more elements of this rank's last group.
        self._followers: list[int] = []
        for rank in range(self._context.rank + 1, self._context.size if len(begins) else 0):
            if rows[rank, 0]:
                self._followers.append(rank)
            if rows[rank, 1]:
                break

    def __repr__(self) -> str:
        if self._closed:
            return "<dtl.GroupBy, closed>"
        return f"<dtl.GroupBy of {self._order.global_size} {self._of} in {self._keys.global_size} groups>"

    def __enter__(self) -> GroupBy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the order of the keys go. Not collective. A second call does nothing. What ``agg`` returned stays."""
        if not self._closed:
            self._closed = True
            for vec in (self._layout, self._order, self._keys):
                vec.close()

    @collective
    def agg(self, values: DistributedContainer, op: Op | str) -> tuple[DistributedVector, DistributedVector]:
        """Return the distinct keys, and what is made of the values of each. Collective.

        Parameters
        ----------
        values
            A container of the keys' size, divided as they are, the same on every rank: each element belongs to the
            key of its index.
        op
            "sum", "prod", "min" or "max", or ``dtl.SUM`` and so on: as NumPy makes them, in its result types, and NaN
            where one of a group is; "mean"; "count", how many there are, NaNs included; "first" or "last", the element
            of the lowest or the highest index.

        Returns
        -------
        keys, aggregates : DistributedVector
            New vectors, both divided alike, by PARTITION_EXPLICIT: where the keys are in sorted order. The keys are in
            ascending order, NaN last, as of ``unique``.

        Raises
        ------
        InvalidTypeError
            If values is no container, or op no operator or name; or if complex values are to be compared. On every
            rank.
        InvalidArgumentError
            If there is no such op, or values are divided otherwise than the keys. On every rank.
        InvalidHandleError
            If this or values is closed. On every rank.
        CollectiveMismatchError
            If ranks pass different containers or ops. On every rank.

        Notes
        -----
        The values travel to the ranks where their keys are in sorted order, in one exchange: those of a key that occurs
        very often to several, which add up their own first, so that no rank gets more than its even part. "count" moves
        nothing, "first" and "last" one element a group. Floats are added up in float64, in an order that depends on
        nothing but the number of ranks; float32 is rounded once.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx:
        ...     shop = dtl.DistributedVector.from_numpy(ctx, np.array([2, 1, 2, 2]))
        ...     price = dtl.DistributedVector.from_numpy(ctx, np.array([5, 3, 1, 4]))
        ...     with dtl.group_by(shop) as groups:
        ...         for op in ("count", dtl.SUM, "last"):
        ...             print(groups.agg(price, op)[1].gather_to())
        [1 3]
        [ 3 10]
        [3 4]
        """
        if self._closed:
            raise library.closed("group_by")
        name = _name(op)
        self._check_values(values)
        if name in ("min", "max") and values.dtype.kind == "c":
            raise InvalidTypeError(f"values of {values.dtype} have no {name}: they have no order")
        share(values, "agg", name, also=(self._keys,))
        # No warnings of overflow: where warnings are errors, they would raise on some ranks only.
        with np.errstate(all="ignore"):
            made = self._aggregates(values, name)
        result = self._keys._like(made.dtype)
        result.local_view()[:] = made
        keys: DistributedVector = self._keys.copy()
        agree(self._context, "agg")
        return keys, result

    def _check_values(self, values: Any) -> None:
        check_container("values", values)
        values._check_open()
        if values.context is not self._context:
            raise InvalidArgumentError("values is a container of another context than the keys")
        if values.shape != self._layout.shape or not self._layout._laid_out_as(values):
            raise InvalidArgumentError(f"{values!r} is divided otherwise than the keys; redistribute one of them")

    def _aggregates(self, values: Any, name: str) -> Array:
        """Return the aggregate of each group that starts on this rank. Collective."""
        if name == "count":
            return self._whole(self._lengths, np.add)
        if name in ("first", "last"):
            ends = self._begins if name == "first" else self._begins + self._lengths - 1
            runs = self._order.local_view()[ends]
            return np.asarray(values.get(self._whole(runs, _first if name == "first" else _last)))
        ufunc, dtype = _UFUNCS[name], values.dtype
        if name in ("sum", "prod", "mean"):
            dtype = result_dtype(name, None, dtype)
        part = values.get(self._order.local_view())
        runs = ufunc.reduceat(part, self._begins, dtype=accumulator_dtype(dtype))
        made = self._whole(runs, ufunc)
        if name == "mean":
            made = np.true_divide(made, self._whole(self._lengths, np.add))
        return made.astype(dtype, copy=False)

    def _whole(self, runs: Array, merge: Callable[[Array, Array], Array]) -> Array:
        """Return what is made of whole groups, given what is made of each run of this rank. Collective."""
        firsts = collectives.allgather(self._context, runs[:1] if len(runs) else np.zeros(1, runs.dtype)).reshape(-1)
        made = runs[int(self._continues) :].copy()
        for rank in self._followers:
            made[-1] = merge(made[-1], firsts[rank])
        return made


def _first(a: Array, b: Array) -> Array:
    return a


def _last(a: Array, b: Array) -> Array:
    return b


def _name(op: Any) -> str:
    """Return the name of an op, given as that or as an operator."""
    if not isinstance(op, (str, Op)):
        raise InvalidTypeError(f"op must be a name or an operator, not {op!r} of type {type(op).__name__}")
    name = op.name.lower() if isinstance(op, Op) else op.lower()
    if name not in OPS:
        raise InvalidArgumentError(f"unknown op {op!r}; the ops are {', '.join(OPS)}")
    return name
