"""The distributed map: entries live on the rank that the hash of their key says."""

from __future__ import annotations

import sys
from typing import Any, Iterator, NoReturn

import numpy as np

from ..._native import library
from ..._native.arguments import dtype_number, operator_number
from ..._native.library import bridge
from ..._native.objects import Owner
from ..._native.values import fitting
from ...exceptions import InvalidArgumentError, InvalidTypeError, KeyNotFoundError
from ...ops import SUM, OpLike
from ...policies import Execution, ExecutionLike, Partition, PartitionLike, Placement, PlacementLike
from ...runtime.agreement import check_context, collective
from ...runtime.context import Context
from ..array_conversion import check_caller
from ..layout import division, execution_policy, placement_of
from .keys import Keys

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class DistributedMap(Owner):
    """A map whose entries live on the ranks of a context: each on the rank that the hash of its key says.

    Keys are integers, float64, or bytes or str of a fixed length; values are elements of one dtype. ``insert_many``,
    ``update_many``, ``find_many``, ``contains_many`` and ``erase_many`` take NumPy arrays, each rank's own list, and
    send them in batches. ``m[k]``, ``insert``, ``find``, ``contains`` and ``erase`` do the same with one key.

    **They are all collective, also those for one key**: every rank calls, each with its own key or all with the same.
    A rank that has none passes an empty list to the form for many, which is the same call. A call is complete when it
    returns: every later call of every rank sees it.

    ``len(m)``, ``local_size``, iteration, ``items`` and ``to_numpy`` communicate nothing.

    Parameters
    ----------
    ctx
        The ranks. They all pass the same dtypes, or all raise. Collective.
    key_dtype
        The type of keys: an integer dtype; float64, where -0.0 is 0.0 and every NaN the same key; ``"S<n>"`` for bytes,
        or ``"U<n>"`` for str, of at most n characters.
    value_dtype
        The type of values: an element type, as of a :class:`DistributedVector`.
    partition
        PARTITION_HASH, the only one of a map: the hash of a key says which rank has its entry.
    placement
        PLACEMENT_HOST, or PLACEMENT_DEVICE_PREFERRED, which is the host here: entries lie there.
    execution
        EXEC_SEQ or EXEC_PAR, which mean the same here: each rank goes through its own part of a batch.

    Raises
    ------
    InvalidArgumentError
        If there are no such keys or values, or the map has no such policy. On every rank.
    InvalidTypeError
        If ctx is no context.
    CollectiveMismatchError
        If ranks pass different dtypes; the text says which rank passed what. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     counts = dtl.DistributedMap(ctx, "U8", np.int64)
    ...     counts.update_many(["red", "blue", "red"], 1)
    ...     int(counts["red"]) // ctx.size, "green" in counts, len(counts)
    (2, False, 2)
    """

    __module__ = "dtl"

    @collective
    def __init__(
        self,
        ctx: Context,
        key_dtype: Any,
        value_dtype: Any,
        *,
        partition: PartitionLike = Partition.HASH,
        placement: PlacementLike = Placement.HOST,
        execution: ExecutionLike = Execution.SEQ,
    ) -> None:
        check_context(ctx)
        if division(partition).partition is not Partition.HASH:
            raise InvalidArgumentError(
                f"partition {partition!r}: a map has PARTITION_HASH, since the hash of a key says which rank has it"
            )
        if placement_of(placement) not in (Placement.HOST, Placement.DEVICE_PREFERRED):
            raise InvalidArgumentError(f"placement {placement!r}: the entries of a map lie on the host")
        self._placement = Placement.HOST
        self._execution = execution_policy(execution)
        if self._execution is Execution.ASYNC:
            raise InvalidArgumentError("a map has no execution EXEC_ASYNC: its calls return when they are complete")
        self._keys = Keys(key_dtype)
        number = dtype_number(value_dtype)
        self._dtype: np.dtype[Any] = np.dtype(value_dtype)
        keys = self._keys.dtype
        self._handle = library.map_create(ctx._handle, self._keys.number, keys.itemsize, keys.kind == "U", number)
        self._context = ctx

    def _let_go(self, handle: int) -> None:
        library.map_close(handle)

    def _check_open(self) -> None:
        """Refuse a map that was closed on this rank: the core has nothing to agree about with the others."""
        if not self._handle:
            raise library.closed("map")

    def __repr__(self) -> str:
        if not self._handle:
            return "<dtl.DistributedMap, closed>"
        return f"<dtl.DistributedMap of {len(self)} {self._keys.name} to {self._dtype}, {self.local_size} here>"

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError(
            "a DistributedMap is not pickled, because its entries are divided among the ranks: write it with "
            "dtl.checkpoint(path, {...}), which dtl.restore reads on any number of ranks; or send what global_view() "
            "returns"
        )

    @property
    def context(self) -> Context:
        """The ranks."""
        return self._context

    @property
    def key_dtype(self) -> np.dtype[Any]:
        """The type of keys."""
        return self._keys.dtype

    @property
    def value_dtype(self) -> np.dtype[Any]:
        """The type of values."""
        return self._dtype

    @property
    def partition_policy(self) -> Partition:
        """Which rank has which entry: PARTITION_HASH."""
        return Partition.HASH

    @property
    def placement_policy(self) -> Placement:
        """Where the entries lie: one of ``dtl.PLACEMENT_*``."""
        return self._placement

    @property
    def execution_policy(self) -> Execution:
        """How each rank goes through its part: EXEC_SEQ or EXEC_PAR."""
        return self._execution

    # ---- Sizes ----

    def __len__(self) -> int:
        """Return the number of entries on all ranks. Not collective: each call that changed it told every rank."""
        return library.map_len(self._handle)

    @property
    def local_size(self) -> int:
        """The number of entries on this rank. Not collective."""
        return library.map_local_size(self._handle)

    @property
    def global_size(self) -> int:
        """The number of entries on all ranks, as ``len`` says it. Not collective."""
        return library.map_len(self._handle)

    @property
    def size(self) -> int:
        """The same as ``global_size``. Not collective."""
        return library.map_len(self._handle)

    @property
    def empty(self) -> bool:
        """Whether there is no entry on any rank. Not collective."""
        return library.map_len(self._handle) == 0

    # ---- One key from each rank ----

    @collective
    def insert(self, key: Any, value: Any) -> None:
        """Set the value of this rank's key. Collective: ``insert_many`` with one key.

        Raises
        ------
        InvalidTypeError
            If the key or value of any rank is of another type. On every rank.
        OverflowError
            If it does not fit its dtype. On every rank.
        """
        keys = self._keys.one(key)
        self.insert_many(keys, value)

    @collective
    def find(self, key: Any, default: Any = None) -> Any:
        """Return the value of this rank's key, a NumPy scalar, or default where the map has no such key. Collective."""
        keys = self._keys.one(key)
        values, found = self.find_many(keys)
        return values[0] if found[0] else default

    @collective
    def contains(self, key: Any) -> bool:
        """Say whether the map has this rank's key. Collective."""
        keys = self._keys.one(key)
        return bool(self.contains_many(keys)[0])

    @collective
    def erase(self, key: Any) -> bool:
        """Remove this rank's key, and say whether it was there when the call began. Collective."""
        keys = self._keys.one(key)
        return bool(self.erase_many(keys)[0])

    def __getitem__(self, key: Any) -> Any:
        """Return the value of this rank's key. Collective.

        Raises
        ------
        KeyNotFoundError
            If the map does not have this rank's key: only here, the call is complete on every rank.
        """
        value = self.find(key)
        if value is None:
            raise _missing("find", key)
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        self.insert(key, value)

    def __delitem__(self, key: Any) -> None:
        if not self.erase(key):
            raise _missing("erase", key)

    def __contains__(self, key: Any) -> bool:
        return self.contains(key)

    # ---- Each rank's own list of keys. An error of one rank raises on every rank, and nothing is changed. ----

    @collective
    def insert_many(self, keys: Any, values: Any) -> None:
        """Set the values of this rank's own list of keys. Collective; an empty list will do.

        Parameters
        ----------
        keys
            An array or list of one dimension.
        values
            As many, or a scalar for all. Of a key that occurs twice in the list, the last value stays. If several
            ranks have it in theirs, that of the highest rank stays.

        Raises
        ------
        InvalidTypeError
            If keys or values of any rank are of another type. On every rank.
        InvalidArgumentError
            If any rank has not as many values as keys. On every rank.
        OverflowError
            If a key or value of any rank does not fit its dtype. On every rank.
        MemoryError
            If a rank has no room for more entries. On every rank, and the map is as it was.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx:
        ...     squares = dtl.DistributedMap(ctx, np.int64, np.int64)
        ...     mine = np.arange(ctx.rank, 1000, ctx.size)
        ...     squares.insert_many(mine, mine**2)
        ...     values, found = squares.find_many([31, 2000], default=-1)
        ...     values.tolist(), found.tolist()
        ([961, -1], [True, False])
        """
        self._check_open()
        prepared = self._keys.many(keys)
        given = self._many("values", values, len(prepared))
        bridge.call(bridge.MAP_INSERT, self, _plain(prepared), given, 0, 0, 0, 0)

    @collective
    def update_many(self, keys: Any, values: Any, op: OpLike = SUM) -> None:
        """Combine values with those of this rank's own list of keys; a key that is new gets the value. Collective.

        Parameters
        ----------
        keys, values
            As of ``insert_many``. A key that occurs more than once, in one list or on several ranks, is combined with
            each of its values, in the order of the ranks and of their lists.
        op
            An operator of ``dtl.ops.Op`` other than MINLOC and MAXLOC, or its name; the same on every rank.

        Raises
        ------
        InvalidArgumentError
            As of ``insert_many``, and if the operator is none or not defined for the dtype. On every rank.
        CollectiveMismatchError
            If ranks pass different operators. On every rank.
        InvalidTypeError, OverflowError, MemoryError
            As of ``insert_many``.
        """
        self._check_open()
        number = operator_number(op)
        prepared = self._keys.many(keys)
        given = self._many("values", values, len(prepared))
        bridge.call(bridge.MAP_UPDATE, self, _plain(prepared), given, number, 0, 0, 0)

    @collective
    def find_many(self, keys: Any, default: Any = 0) -> tuple[Array, Array]:
        """Return the values of this rank's own list of keys, and which of them the map has. Collective.

        Parameters
        ----------
        keys
            As of ``insert_many``.
        default
            The value where the map does not have a key: a scalar, or one for each key.

        Returns
        -------
        values : ndarray of value_dtype, shape (n,)
            The values, in the order of the list.
        found : ndarray of bool, shape (n,)
            Whether the map has each key.

        Raises
        ------
        InvalidTypeError, InvalidArgumentError, OverflowError
            If keys or the default of any rank are not as described. On every rank.
        """
        self._check_open()
        prepared = self._keys.many(keys)
        n = len(prepared)
        out = np.empty(n * (self._dtype.itemsize + 1), np.uint8)
        values = out[: n * self._dtype.itemsize].view(self._dtype)
        found = out[n * self._dtype.itemsize :].view(np.bool_)
        values[:] = self._one("default", default) if np.ndim(default) == 0 else self._many("default", default, n)
        bridge.call(bridge.MAP_FIND, self, _plain(prepared), out, 0, 0, 0, 0)
        return values, found

    def _which(self, op: str, code: int, keys: Any) -> Array:
        """Return which keys the map has, as an operation finds them."""
        self._check_open()
        prepared = self._keys.many(keys)
        found = np.empty(len(prepared), np.bool_)
        bridge.call(code, self, _plain(prepared), found, 0, 0, 0, 0)
        return found

    @collective
    def contains_many(self, keys: Any) -> Array:
        """Return which of this rank's own list of keys the map has, as an array of bool. Collective.

        Raises
        ------
        InvalidTypeError, InvalidArgumentError, OverflowError
            If keys of any rank are not as ``insert_many`` wants them. On every rank.
        """
        return self._which("contains", bridge.MAP_CONTAINS, keys)

    @collective
    def erase_many(self, keys: Any) -> Array:
        """Remove this rank's own list of keys, and return which of them the map had, as an array of bool. Collective.

        That is as it was when the call began, also of a key that occurs twice, in one list or on several ranks.

        Raises
        ------
        InvalidTypeError, InvalidArgumentError, OverflowError
            If keys of any rank are not as ``insert_many`` wants them. On every rank.
        """
        return self._which("erase", bridge.MAP_ERASE, keys)

    def _one(self, name: str, value: Any) -> Any:
        """Return a value of the dtype."""
        return fitting(name, value, self._dtype).reshape(-1)[0]

    def _many(self, name: str, values: Any, n: int) -> Array:
        """Return n values of the dtype."""
        if not n and isinstance(values, (list, tuple)) and not values:
            return np.empty(0, self._dtype)  # NumPy makes an empty list an array of floats
        if np.ndim(values) == 0:
            return np.full(n, self._one(name, values), self._dtype)
        given = fitting(name, values, self._dtype)
        if given.ndim != 1:
            raise InvalidArgumentError(f"{name} of shape {given.shape} must have 1 dimension")
        if len(given) != n:
            raise InvalidArgumentError(f"{len(given)} {name} for {n} keys")
        return given

    # ---- All entries ----

    @collective
    def clear(self) -> None:
        """Remove all entries of all ranks, and give their memory back. Collective."""
        self._check_open()
        library.map_clear(self._handle)

    @collective
    def sync(self) -> None:
        """Return when every rank has called it. Collective.

        What any rank did before is there for every rank after. That holds for each single call, too, since calls are
        complete when they return: there is nothing to be sent here, and this is a barrier.
        """
        self._meet("sync")

    @collective
    def flush(self) -> None:
        """Do what ``sync`` does, since no call leaves anything to be sent. Collective."""
        self._meet("flush")

    def _meet(self, name: str) -> None:
        self._check_open()
        library.map_sync(self._handle, name)

    def to_numpy(self) -> tuple[Array, Array]:
        """Return a copy of this rank's entries: an array of keys and one of values. Not collective.

        Their order is the table's: the same calls on as many ranks give the same.

        Raises
        ------
        TypeError
            If a library of plots or tables calls it, which takes this rank's entries for all.
        """
        check_caller(self, sys._getframe(1))
        return self._entries(0)

    def local_view(self) -> tuple[Array, Array]:
        """Return this rank's entries: an array of keys and one of values, neither of which can be written to.

        Not collective. They are the entries as they are now: a map moves them as it grows, so that later changes do not
        show.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx, dtl.DistributedMap(ctx, np.int64, np.float64) as squares:
        ...     squares.insert(3, 9.0)
        ...     squares.local_view() if ctx.size == 1 else None
        (array([3]), array([9.]))
        """
        keys, values = self._entries(0)
        keys.flags.writeable = values.flags.writeable = False
        return keys, values

    @collective
    def global_view(self) -> tuple[Array, Array]:
        """Return a copy of all ranks' entries on every rank: an array of keys and one of values. Collective.

        The entries are in rank order, and those of each rank as ``to_numpy`` gives them.

        Raises
        ------
        MemoryError
            If a rank has no room for all entries. On every rank.
        """
        self._check_open()
        return self._entries(1)

    def _entries(self, everyones: int) -> tuple[Array, Array]:
        raw = np.asarray(bridge.call(bridge.MAP_ENTRIES, self, None, None, everyones, 0, 0, 0))
        n, start = raw[:16].view(np.int64).tolist()
        return raw[64 : 64 + n * self._keys.dtype.itemsize].view(self._keys.dtype), raw[start:].view(self._dtype)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the keys on this rank, NumPy scalars, as they are now. Not collective."""
        return iter(self._entries(0)[0])

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the keys on this rank with their values, NumPy scalars, as they are now. Not collective."""
        return zip(*self._entries(0))


def _plain(keys: Array) -> Array:
    """Return keys in a type that the bridge knows."""
    return keys.view(np.uint8) if keys.dtype.kind in "SU" else keys


def _missing(op: str, key: Any) -> KeyNotFoundError:
    error = KeyNotFoundError(f"{op}: the map has no key {key!r}")
    error.op = op
    return error
