"""Elements by their keys: sums, means and the like of all elements that have one key."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Any, Callable, Sequence

import numpy as np

from .._lazy import late
from .._native import library
from .._native.arguments import stored_number
from .._native.kinds import kind_of
from .._native.objects import refuse_closed
from ..comm import collectives
from ..comm.objects import allgather_object
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import is_laid_out_as, note_meaning, noted_meaning, run_as
from ..containers.making import new_like
from ..containers.places.copies import check_placements
from ..containers.places.place import from_parts, place_of, set_part
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..ops import Op, OpLike
from ..policies import Placement
from ..runtime.agreement import agree, collective, local_step, refuse_other_context
from .counted_groups import counted
from .exchange import gathered, share
from .external import rows_at_a_time
from .ordered import changes, flattened, run_starts
from .ranged_groups import RangedGroups
from .reductions import Reduction, has, reduction, result_dtype, spans_of_runs
from .rows import has_rows
from .sort import argsort, check_keys, lexsort
from .sorted_groups import Runs, sort_runs
from .user_functions import user_code
from .wider_types import check_computed

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Arrays = Any  # tuple[Array, ...]

here, taken = (late(".containers.places.copies", name) for name in ("here", "taken"))

#: How the elements of a group are aggregated.
OPS = ("sum", "prod", "min", "max", "count", "mean", "var", "std", "median", "nunique", "first", "last")

#: Those that elements of any type have.
_OF_ANY = ("count", "nunique", "first", "last")


@collective
def group_by(keys: DistributedContainer | Sequence[DistributedContainer]) -> GroupBy:
    """Return the groups of equal keys, to aggregate other containers by. Collective.

    Parameters
    ----------
    keys
        A container of one dimension, the same on every rank, of any dtype and divided in any way. NaNs are equal to
        each other, and NaTs are, as for ``unique``. They are read now: what becomes of the container later changes
        nothing. Or several such, divided alike, in a list: a group is then of those elements of which all keys are
        equal.

    Returns
    -------
    GroupBy
        What has the order of the keys; ``agg(values, op)`` makes aggregates, as many as wanted with one sort.

    Raises
    ------
    InvalidTypeError
        If keys is no container, nor a list of some.
    InvalidArgumentError
        If it has more than one dimension, or one of several is divided otherwise than the first. On every rank.
    CollectiveMismatchError
        If ranks pass different containers.

    Notes
    -----
    Of keys on disk, :meth:`dtl.GroupBy.agg` says how often it goes over them, and what it has in memory.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     shop = dtl.DistributedVector.from_numpy(ctx, np.array([2, 1, 2, 2]))
    ...     day = dtl.DistributedVector.from_numpy(ctx, np.array([0, 0, 1, 0]))
    ...     price = dtl.DistributedVector.from_numpy(ctx, np.array([5.0, 3.0, 1.0, 3.0]))
    ...     shops, means = dtl.group_by(shop).agg(price, "mean")
    ...     print(shops.gather_to(), means.gather_to())
    ...     (shops, days), means = dtl.group_by([shop, day]).agg(price, "mean")
    ...     print(shops.gather_to(), days.gather_to(), means.gather_to())
    [1 2] [3. 3.]
    [1 2 2] [0 0 1] [3. 4. 1.]
    """
    return GroupBy(keys)


class GroupBy:
    """The groups of equal keys, as ``group_by`` returns them. A context manager, which closes it.

    Until it is closed it keeps the order of the keys: about 9 bytes an element, and the distinct keys. Where the keys
    are integers of a small range, they are counted, and sorted only for an aggregate that needs it: it then keeps a
    copy of them, too.
    """

    __module__ = "dtl"

    _closed = True
    _sorted = False
    _unsorted: Sequence[Any] = ()
    _ranged: RangedGroups | None = None

    @collective
    def __init__(self, keys: DistributedContainer | Sequence[DistributedContainer]) -> None:
        self._several = isinstance(keys, (list, tuple))
        if self._several and not keys:
            raise InvalidArgumentError("keys is an empty list")
        each: Any = keys if self._several else (keys,)
        check_container("each of the keys" if self._several else "keys", each[0])
        check_keys("the first of the keys" if self._several else "keys", *each)
        check_placements("group_by", each)
        #: Divided as the keys are: values must be, also when the keys are closed or divided anew.
        self._layout = new_like(each[0], np.bool_)
        share(each[0], "group_by", f"{len(each)} keys" if self._several else "", also=each[1:], anywhere=True)
        self._context = each[0].context
        self._meanings = [noted_meaning(key) for key in each]
        self._of = ", ".join(str(key.dtype) for key in each)
        with contextlib.ExitStack() as stack:

            def copied(key: Any) -> Any:
                work = stack.enter_context(flattened(key))
                run_as(work, each[0].execution_policy)
                return work

            self._counted = counted(each[0], lambda: self._keep(copied(each[0]))) if len(each) == 1 else None
            self._rows = rows_at_a_time(each[0], [*(key.dtype for key in each), np.float64])
            if self._counted is None and self._rows:
                self._unsorted = [copied(key) for key in each]
                self._ranged = RangedGroups(self._unsorted, self._rows, group_by)
                self._keys = self._ranged.keys
                stack.pop_all()
            elif self._counted is None:
                self._sort([key if _is_in_order(key) else copied(key) for key in each])
            else:
                self._keys = [self._container(self._counted.keys)]
                stack.pop_all()
        self._closed = False

    def _keep(self, work: Any) -> Any:
        """Keep the keys by blocks, which an aggregate that needs their order sorts."""
        self._unsorted = [work]
        return work

    def _sort(self, work: Sequence[Any]) -> None:
        """Find the order of the keys, and where its groups begin. Collective."""
        order: DistributedVector = argsort(work[0]) if len(work) == 1 else lexsort(work[::-1])
        self._order = here("group_by", order)
        parts = [taken("group_by", key, self._order.local_view()) for key in work]
        first = run_starts(self._context, parts[0])
        for part in parts[1:]:
            first |= changes(self._context, part)
        if self._counted is None:
            self._keys = [self._container(part[first]) for part in parts]
        del parts  # before more memory is needed
        self._divide(first)
        self._sorted = True

    def _container(self, part: Array) -> DistributedVector:
        """Return a vector of the ranks' arrays, where the keys are. Collective."""
        return from_parts(DistributedVector, self._context, part, place_of(self._layout).PLACEMENT)

    def _divide(self, first: Array) -> None:
        """Find the runs of one key in this rank's part of the order, and who has the rest of the last. Collective."""
        #: Whether the first run of equal keys began on an earlier rank.
        self._continues = bool(len(first) and not first[0])
        begins = np.flatnonzero(first)
        self._begins = np.append(0, begins) if self._continues else begins
        self._lengths = np.diff(self._begins, append=len(first))
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
        return f"<dtl.GroupBy of {self._layout.global_size} {self._of} in {self._keys[0].global_size} groups>"

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
            ranged = self._ranged.keys if self._ranged is not None else []
            order = [self._order] if self._sorted else []
            for vec in (self._layout, *self._unsorted, *order, *ranged, *self._keys):
                vec.close()

    @collective
    def agg(self, values: DistributedContainer, op: OpLike | str) -> tuple[Any, DistributedVector]:
        """Return the distinct keys, and what is made of the values of each. Collective.

        Parameters
        ----------
        values
            A container of the keys' size, divided as they are, the same on every rank: each element belongs to the
            key of its index.
        op
            "sum", "prod", "min" or "max", or ``dtl.SUM`` and so on: as NumPy makes them, in its result types, and NaN
            where one of a group is; "mean"; "var" or "std", as NumPy makes them with ddof 0; "count", how many there
            are, NaNs included; "median", as NumPy makes it; "nunique", how many different ones there are, NaNs being
            equal; "first" or "last", the element of the lowest or the highest index. Or a function of a group's values,
            an array in the order of their indices, that returns one element, such as ``np.ptp``. Values that are no
            numbers have those that NumPy has for them: dates "min" and "max", spans of time also "sum", "mean" and
            "median", text none but "count", "nunique", "first" and "last".

        Returns
        -------
        keys, aggregates : DistributedVector
            New vectors, both divided alike, by PARTITION_EXPLICIT: where the keys are in sorted order. The keys are in
            ascending order, NaN last, as of ``unique``. Of several keys, the first is a tuple of as many vectors, in
            the order of the first key, then of the second, and so on.

        Raises
        ------
        InvalidTypeError
            If values is no container, or op no operator, name or function; if complex values are to be compared, or
            there is no such aggregate of the values' dtype. On every rank.
        InvalidArgumentError
            If there is no such op, values are divided otherwise than the keys, or a function returns something else
            than an element that a vector holds. On every rank.
        CommunicationError
            On the ranks where a function does not raise that raises on another one.
        InvalidHandleError
            If this or values is closed. On every rank.
        CollectiveMismatchError
            If ranks pass different containers or ops. On every rank.

        Notes
        -----
        The values travel to the ranks where their keys are in sorted order, in one exchange: those of a key that occurs
        very often to several, which add up their own first, so that no rank gets more than its even part. "count" moves
        nothing, "first" and "last" one element a group; "median" and "nunique" sort each group's values. A function is
        called once a group, on the rank where the group begins, which has to have room for all of its values. Floats
        are added up in float64, in an order that depends on the division and the number of ranks; float32 is rounded
        once. Where the keys are integers of a small range, no value travels for "count", nor for "sum", "mean", "var"
        and "std" of floats: the ranks add up sums.

        Keys and values on disk for which there is no memory under the limit are read once for each aggregate, written
        to a file by ranges of keys, and read from there once. Of one key's values, "median" and "nunique" need all in
        memory, as "count", "first" and "last" do. A function of the user's has the order of all keys in memory.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx:
        ...     shop = dtl.DistributedVector.from_numpy(ctx, np.array([2, 1, 2, 2]))
        ...     price = dtl.DistributedVector.from_numpy(ctx, np.array([5, 3, 1, 4]))
        ...     with dtl.group_by(shop) as groups:
        ...         for op in ("count", dtl.SUM, "last", "median", np.ptp):
        ...             print(groups.agg(price, op)[1].gather_to())
        [1 3]
        [ 3 10]
        [3 4]
        [3. 4.]
        [0 4]
        """
        if self._closed:
            raise library.closed("group_by")
        name = _name(op)
        self._check_values(values, name)
        if name in ("min", "max", "median") and kind_of(values.dtype).is_complex:
            raise InvalidTypeError(f"values of {values.dtype} have no {name}: they have no order")
        share(values, "agg", name, also=self._keys, anywhere=True)
        groups = self._counted if self._counted is not None and self._counted.has(values, name) else None
        if groups is None and self._rows and not callable(op):
            return self._agg_in_ranges(values, name)
        if not self._sorted and groups is None:
            self._sort(self._unsorted)
        if callable(op) and not isinstance(op, Op):
            made = self._by_function(values, op)
        else:
            # No warnings of overflow: where warnings are errors, they would raise on some ranks only.
            with np.errstate(all="ignore"):
                made = groups.aggregates(values, name) if groups else self._aggregates(values, name)
        result = new_like(self._keys[0], made.dtype)
        set_part(result, made)
        return self._beside_keys(result, values, name)

    def _agg_in_ranges(self, values: Any, name: str) -> tuple[Any, DistributedVector]:
        """Return the keys, and an aggregate that takes the groups by ranges of keys that fit in memory. Collective."""
        if self._ranged is None:
            self._ranged = RangedGroups(self._unsorted, self._rows, group_by)
        return self._beside_keys(self._ranged.aggregates(values, name), values, name)

    def _beside_keys(self, result: Any, values: Any, name: str) -> tuple[Any, DistributedVector]:
        """Return copies of the keys, and an aggregate. Collective."""
        keys = tuple(key.copy() for key in self._keys)
        for key, meaning in zip(keys, self._meanings):
            note_meaning(key, meaning)
        if name in ("min", "max", "first", "last"):
            note_meaning(result, noted_meaning(values))
        agree(self._context, "agg")
        return keys if self._several else keys[0], result

    def _check_values(self, values: Any, name: str) -> None:
        check_container("values", values)
        refuse_closed(values)
        if name in OPS and name not in _OF_ANY:
            of_dates = "sum" if name == "median" else name  # a median of dates needs their sum
            if not has(of_dates, values.dtype):
                check_computed(values, name)
        check_placements("agg", (self._layout, values))
        refuse_other_context("values", values, self._context)
        if values.shape != self._layout.shape or not is_laid_out_as(self._layout, values):
            raise InvalidArgumentError(f"{values!r} is divided otherwise than the keys; redistribute one of them")

    def _aggregates(self, values: Any, name: str) -> Array:
        """Return the aggregate of each group that starts on this rank. Collective."""
        if name == "count":
            return self._count()
        if name in ("first", "last"):
            ends = self._begins if name == "first" else self._begins + self._lengths - 1
            runs = (self._order.local_view()[ends],)
            return np.asarray(values.get(self._of_whole_groups(runs, _first if name == "first" else _last)[0]))
        if name in ("median", "nunique"):
            return self._of_sorted_values(values, name)
        return self._reduced(values, reduction(name, None, values.dtype))

    def _reduced(self, values: Any, by: Reduction) -> Array:
        """Return what a reduction makes of each group that starts on this rank. Collective."""
        part, begins, lengths = taken("agg", values, self._order.local_view()), self._begins, self._lengths
        made = np.empty(len(begins), by.dtype)
        ends = []
        for runs in list(spans_of_runs(begins, lengths)) if by.is_wide and len(begins) else [slice(0, len(begins))]:
            found, counts = by.runs(part, begins[runs], lengths[runs]), lengths[runs]
            # The first run and the last of this rank may go on on other ranks.
            inner = slice(int(runs.start == 0), len(counts) - int(runs.stop == len(begins)))
            made[runs][inner] = by.finish(tuple(each[inner] for each in found), counts[inner])
            ends.append([each[[0, -1][: len(counts)]] for each in found])
        both = tuple(np.concatenate(each)[[0, -1][: len(begins)]] for each in zip(*ends))
        whole = self._of_whole_groups(both, by.merge)
        made, counts = made[int(self._continues) :], lengths[int(self._continues) :]
        if by.name in ("mean", "var", "std"):
            counts = self._count()
        places = [0, -1][2 - len(whole[0]) :]
        made[places] = by.finish(whole, counts[places])
        return made

    def _count(self) -> Array:
        """Return how many elements each group has that starts on this rank. Collective."""
        counts: Array = self._of_whole_groups((self._lengths,), lambda a, b: (a[0] + b[0],))[0]
        return counts

    def _of_sorted_values(self, values: Any, name: str) -> Array:
        """Return the median or number of different values of each group that starts on this rank. Collective."""
        ctx, part = self._context, taken("agg", values, self._order.local_view())
        sort_runs(ctx, part, Runs(self._begins, self._lengths, self._continues))
        if name == "nunique":
            new = changes(ctx, part)
            new[self._begins[int(self._continues) :]] = True
            numbers = (np.add.reduceat(new, self._begins, dtype=np.int64),)
            return np.asarray(self._of_whole_groups(numbers, lambda a, b: (a[0] + b[0],))[0])
        begins, count = self._begins[int(self._continues) :], self._count()
        made = np.empty(len(count), result_dtype("mean", None, values.dtype))
        for runs in spans_of_runs(begins[:-1], count[:-1]):
            made[runs] = _middle(*part[begins[runs] + _middle_places(count[runs])])
        with from_parts(DistributedVector, ctx, part) as in_order:  # the last group may go on on other ranks
            last = in_order.get(np.ravel(self._order.local_offset + begins[-1:] + _middle_places(count[-1:])))
        if len(made):
            made[-1] = _middle(*last)
        return made

    def _ranges(self) -> tuple[Array, Array]:
        """Return where each group that starts on this rank begins in the order, and how long it is. Collective."""
        count = self._count()
        return self._order.local_offset + self._begins[int(self._continues) :], count

    def _by_function(self, values: Any, f: Callable[[Array], Any]) -> Array:
        """Return a function's value of each group that starts on this rank. Collective."""
        ctx = self._context
        first, count = self._ranges()
        places = np.arange(first[0], first[0] + count.sum()) if len(first) else np.empty(0, np.int64)
        part = taken("agg", values, self._order.get(places))
        with user_code(ctx, "agg"):
            made = np.array([f(group) for group in np.split(part, np.cumsum(count)[:-1])] if len(first) else [])
        with local_step(ctx, "agg"):
            kind = kind_of(made.dtype)
            if made.ndim > 1 or not (kind.is_number or kind.is_moved):
                what = f"of {made.dtype} of shape {made.shape[1:]}"
                raise InvalidArgumentError(f"the function gave values {what}; it must give one element a group")
            stored_number(made.dtype)
        dtypes = [dtype for dtype in allgather_object(ctx, made.dtype if len(made) else None) if dtype is not None]
        return made.astype(np.result_type(*dtypes)) if dtypes else made

    def _of_whole_groups(self, runs: Arrays, merge: Callable[[Arrays, Arrays], Arrays]) -> Arrays:
        """Return what is made of whole groups, given what is made of each run of this rank. Collective."""
        mine = np.zeros(1, [(f"part {i}", part.dtype) for i, part in enumerate(runs)])
        for name, part in zip(mine.dtype.names or (), runs):
            mine[name][: len(part)] = part[:1]
        firsts = gathered(self._context, mine)
        made = tuple(part[int(self._continues) :].copy() for part in runs)
        for rank in self._followers:
            other = tuple(firsts[name][rank] for name in firsts.dtype.names or ())
            for part, merged in zip(made, merge(tuple(part[-1] for part in made), other)):
                part[-1] = merged
        return made


def _middle_places(count: Array) -> Array:
    """Return where the two elements in the middle of so many in order are, and the last."""
    return np.array([(count - 1) // 2, count // 2, count - 1])


def _middle(low: Any, high: Any, last: Any) -> Array:
    """Return medians, given the elements in the middle and the last, which is NaN if any is."""
    if not kind_of(np.asarray(low).dtype).is_span:
        low, high, last = (np.asarray(each, np.float64) for each in (low, high, last))
    return np.asarray(np.where(np.isnan(last), last, np.where(low == high, low, (low + high) / 2)))


def _is_in_order(key: Any) -> bool:
    """Say whether keys can be sorted without a copy: by blocks, on the host."""
    return (
        isinstance(key, DistributedVector)
        and key.placement_policy is not Placement.DEVICE
        and has_rows(key, blocks=True)
    )


def _first(a: Arrays, b: Arrays) -> Arrays:
    return a


def _last(a: Arrays, b: Arrays) -> Arrays:
    return b


def _name(op: Any) -> str:
    """Return the name of an op, given as that, as an operator, or as a function."""
    if callable(op) and not isinstance(op, Op):
        return f"the function {getattr(op, '__qualname__', type(op).__name__)}"
    if not isinstance(op, (str, Op)):
        raise InvalidTypeError(f"op must be a name, an operator or a function, not {op!r} of type {type(op).__name__}")
    name = op.name.lower() if isinstance(op, Op) else op.lower()
    if name not in OPS:
        raise InvalidArgumentError(f"unknown op {op!r}; the ops are {', '.join(OPS)}")
    return name
