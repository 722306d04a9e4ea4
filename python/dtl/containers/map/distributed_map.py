"""The distributed map. Each entry is on the rank that the hash of its key determines."""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterator, NoReturn

import numpy as np

from ..._native import library
from ..._native.arguments import dtype_number, operator_number
from ..._native.callsite import frame_at
from ..._native.kinds import fitting, kind_of
from ..._native.library import bridge
from ..._native.objects import Owner, handle_of
from ...exceptions import InvalidArgumentError, InvalidTypeError, KeyNotFoundError
from ...ops import SUM, OpLike
from ...policies import Execution, ExecutionLike, Partition, PartitionLike, Placement, PlacementLike, placement_of
from ...runtime.agreement import agree, check_context, collective
from ...runtime.context import Context
from ...runtime.device_array import DeviceArray
from ...runtime.staging import to_host
from .. import shared_devices
from ..array_conversion import check_caller
from ..layout import division, execution_policy
from .keys import keys_of

#: Arrays on a GPU are copied in each call, of which a trace tells alone.
_to_host = functools.partial(to_host, logs=False)

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class DistributedMap(Owner):
    """A map whose entries are divided among the ranks of a context, by a hash of their keys.

    Keys are integers, floats, dates, bytes or str of a fixed length, or records of these. Values are elements of one
    dtype. ``insert_many``, ``update_many``, ``find_many``, ``contains_many`` and ``erase_many`` take NumPy arrays, a
    list from each rank, and send them in batches. ``m[k]``, ``insert``, ``find``, ``contains`` and ``erase`` do the
    same with one key.

    **All of these are collective, even those for one key**: every rank calls them, with its own key or with the same
    one. A rank without a key calls the form for many with an empty list, which is the same call. A call is complete
    when it returns: all later calls of all ranks see its effect.

    ``len(m)``, ``local_size``, iteration, ``items`` and ``to_numpy`` communicate nothing.

    Making a map is collective: all ranks pass the same dtypes.

    Parameters
    ----------
    ctx
        The context.
    key_dtype
        The type of the keys: an integer dtype; float64 or float16, for which -0.0 equals 0.0 and all NaNs are one key;
        a dtype of dates or spans of time with a unit, such as ``"M8[s]"``, for which all NaTs are one key; ``"S<n>"``
        for bytes or ``"U<n>"`` for str of at most n characters; or a dtype of records, which are one key if all their
        fields are. A record may be given as a tuple.
    value_dtype
        The type of the values, as for a :class:`DistributedVector`.
    partition
        PARTITION_HASH: maps have no other partition.
    placement
        Where the values are: one of ``dtl.PLACEMENT_*``. The keys are on the host, whatever it is.
    execution
        EXEC_SEQ or EXEC_PAR. For maps they mean the same: each rank processes its part of a batch.

    Raises
    ------
    InvalidArgumentError
        If keys or values cannot have this dtype, or if maps do not support a policy. On every rank.
    BackendUnavailableError
        If the placement needs a GPU, and a rank has none that can be used. On every rank.
    InvalidTypeError
        If ctx is not a context.
    CollectiveMismatchError
        If the ranks pass different dtypes. The message says which rank passed what. On every rank.

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
        execution: ExecutionLike = Execution.PAR,
    ) -> None:
        check_context(ctx)
        if division(partition).partition is not Partition.HASH:
            raise InvalidArgumentError(
                f"partition {partition!r}: a map has PARTITION_HASH, since the hash of a key says which rank has it"
            )
        placed = placement_of(placement)
        self._execution = execution_policy(execution)
        if self._execution is Execution.ASYNC:
            raise InvalidArgumentError("a map has no execution EXEC_ASYNC: its calls return when they are complete")
        self._keys = keys_of(key_dtype)
        number = dtype_number(value_dtype)
        self._dtype: np.dtype[Any] = np.dtype(value_dtype)
        keys = self._keys.dtype
        if self._keys.unknown:
            agree(ctx, "map", f"keys of {keys}")
        text = self._keys.is_text
        self._handle = library.map_create(handle_of(ctx), self._keys.number, keys.itemsize, text, number, placed)
        self._context = ctx
        self._placement = Placement(library.map_placement(self._handle))
        if self._placement is not Placement.HOST:
            shared_devices.look_for(ctx)

    def _release(self, handle: int) -> None:
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
        """The context that the map was made on."""
        return self._context

    @property
    def key_dtype(self) -> np.dtype[Any]:
        """The type of the keys."""
        return self._keys.dtype

    @property
    def value_dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self._dtype

    @property
    def partition_policy(self) -> Partition:
        """Which rank has which entry: PARTITION_HASH."""
        return Partition.HASH

    @property
    def placement_policy(self) -> Placement:
        """Where the values are: one of ``dtl.PLACEMENT_*``."""
        return self._placement

    @property
    def execution_policy(self) -> Execution:
        """How each rank processes its part of a batch: EXEC_SEQ or EXEC_PAR."""
        return self._execution

    # ---- Sizes ----

    def __len__(self) -> int:
        """Return the number of entries on all ranks together. Not collective."""
        return library.map_len(self._handle)

    @property
    def local_size(self) -> int:
        """The number of entries on this rank. Not collective."""
        return library.map_local_size(self._handle)

    @property
    def global_size(self) -> int:
        """The number of entries on all ranks together, as ``len``. Not collective."""
        return library.map_len(self._handle)

    @property
    def size(self) -> int:
        """The number of entries on all ranks together, as ``global_size``. Not collective."""
        return library.map_len(self._handle)

    @property
    def empty(self) -> bool:
        """Whether the map has no entries on any rank. Not collective."""
        return library.map_len(self._handle) == 0

    # ---- One key from each rank ----

    @collective
    def insert(self, key: Any, value: Any) -> None:
        """Set the value of this rank's key. Collective, as ``insert_many`` with one key.

        Raises
        ------
        InvalidTypeError
            If a rank's key or value has another type than the map's. On every rank.
        OverflowError
            If a rank's key or value is outside the range of its dtype. On every rank.
        """
        keys = self._keys.one(key)
        self.insert_many(keys, value)

    @collective
    def find(self, key: Any, default: Any = None) -> Any:
        """Return the value of this rank's key, a NumPy scalar, or default if the map does not have it. Collective."""
        keys = self._keys.one(key)
        values, found = self.find_many(keys)
        return values[0] if found[0] else default

    @collective
    def contains(self, key: Any) -> bool:
        """Return whether the map has this rank's key. Collective."""
        keys = self._keys.one(key)
        return bool(self.contains_many(keys)[0])

    @collective
    def erase(self, key: Any) -> bool:
        """Remove this rank's key, and return whether the map had it when the call began. Collective."""
        keys = self._keys.one(key)
        return bool(self.erase_many(keys)[0])

    def __getitem__(self, key: Any) -> Any:
        """Return the value of this rank's key, as a NumPy scalar. Collective.

        Raises
        ------
        KeyNotFoundError
            If the map does not have this rank's key. Only on this rank: the others get their values.
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
        """Set the values of the keys in this rank's list, which may be empty. Collective.

        Parameters
        ----------
        keys
            A one-dimensional array or list. Of an array on a GPU, as of such values, the call makes a copy on the host.
        values
            As many values, or a scalar for all keys. If a key occurs several times in a list, its last value counts. If
            it is in the lists of several ranks, that of the highest rank counts.

        Notes
        -----
        Under a memory limit, a list that has not enough room in memory is read twice, and written once to the scratch
        folder with four bytes a key; a value and a byte a key that undo the call are there, too.

        Raises
        ------
        InvalidTypeError
            If a rank's keys or values have another type than the map's. On every rank.
        InvalidArgumentError
            If the number of a rank's values is not the number of its keys. On every rank.
        OverflowError
            If one of a rank's keys or values is outside the range of its dtype. On every rank.
        MemoryError
            If a rank has no memory for more entries. On every rank; the map is unchanged.

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
        prepared = self._keys.many(_to_host("insert", keys))
        given = self._given(_to_host("insert", values), len(prepared))
        bridge.map_insert(self, kind_of(prepared.dtype).plain(prepared), given)

    @collective
    def update_many(self, keys: Any, values: Any, op: OpLike = SUM) -> None:
        """Combine the values of existing keys with new ones; keys that the map does not have are inserted. Collective.

        Parameters
        ----------
        keys, values
            This rank's lists, as for ``insert_many``. If a key occurs several times, in one list or on several ranks,
            all its values are combined, in the order of the ranks and of their lists.
        op
            An operator other than MINLOC and MAXLOC, or its name; the same on every rank. ``dtl.ops.Op`` lists them.

        Notes
        -----
        The lists are passed over under a memory limit as for ``insert_many``.

        Raises
        ------
        InvalidArgumentError
            As for ``insert_many``. Also if op is unknown or not defined for the dtype. On every rank.
        CollectiveMismatchError
            If the ranks pass different operators. On every rank.
        InvalidTypeError, OverflowError, MemoryError
            As for ``insert_many``.
        """
        self._check_open()
        number = operator_number(op)
        prepared = self._keys.many(_to_host("update", keys))
        given = self._given(_to_host("update", values), len(prepared))
        bridge.map_update(self, kind_of(prepared.dtype).plain(prepared), given, number)

    @collective
    def find_many(self, keys: Any, default: Any = 0) -> tuple[Array, Array]:
        """Return the values of the keys in this rank's list, and which of the keys the map has. Collective.

        Parameters
        ----------
        keys
            As for ``insert_many``.
        default
            The value for keys that the map does not have: a scalar, or one value for each key.

        Returns
        -------
        values : ndarray of value_dtype, shape (n,)
            The values, in the order of the list.
        found : ndarray of bool, shape (n,)
            Whether the map has each key.

        Raises
        ------
        InvalidTypeError, InvalidArgumentError, OverflowError
            If a rank's keys or default are not as described. On every rank.

        Notes
        -----
        The keys travel at once, and what is returned is in memory, whatever the limit: pass a list that is on disk in
        slices, of which each rank has as many.
        """
        self._check_open()
        prepared = self._keys.many(_to_host("find", keys))
        n = len(prepared)
        out = np.empty(n * (self._dtype.itemsize + 1), np.uint8)
        values = out[: n * self._dtype.itemsize].view(self._dtype)
        found = out[n * self._dtype.itemsize :].view(np.bool_)
        default = _to_host("find", default)
        values[:] = self._one("default", default) if np.ndim(default) == 0 else self._many("default", default, n)
        bridge.map_find(self, kind_of(prepared.dtype).plain(prepared), out)
        return values, found

    def _which(self, op: str, ask: Callable[..., Any], keys: Any) -> Array:
        """Return which keys the map has, as an operation finds them."""
        self._check_open()
        prepared = self._keys.many(_to_host(op, keys))
        found = np.empty(len(prepared), np.bool_)
        ask(self, kind_of(prepared.dtype).plain(prepared), found)
        return found

    @collective
    def contains_many(self, keys: Any) -> Array:
        """Return which keys of this rank's list the map has, as an array of bool. Collective.

        Raises
        ------
        InvalidTypeError, InvalidArgumentError, OverflowError
            If a rank's keys are not as described for ``insert_many``. On every rank.
        """
        return self._which("contains", bridge.map_contains, keys)

    @collective
    def erase_many(self, keys: Any) -> Array:
        """Remove the keys in this rank's list, and return which of them the map had, as an array of bool. Collective.

        The result is for the time when the call began, even if a key occurs several times, in one list or on several
        ranks.

        Raises
        ------
        InvalidTypeError, InvalidArgumentError, OverflowError
            If a rank's keys are not as described for ``insert_many``. On every rank.
        """
        return self._which("erase", bridge.map_erase, keys)

    def _one(self, name: str, value: Any) -> Any:
        """Return a value of the dtype."""
        return fitting(name, value, self._dtype).reshape(-1)[0]

    def _given(self, values: Any, n: int) -> Array:
        """Return n values of the dtype, or one for all keys."""
        if np.ndim(values) == 0:
            return np.full(1, self._one("values", values), self._dtype)
        return self._many("values", values, n)

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
        """Remove all entries on all ranks, and release their memory. Collective."""
        self._check_open()
        library.map_clear(self._handle)

    @collective
    def sync(self) -> None:
        """Wait until every rank has called it. Collective.

        All ranks then see what any rank has done before. Since every call on a map is complete when it returns, sync is
        no more than a barrier.
        """
        self._meet("sync")

    @collective
    def flush(self) -> None:
        """Do the same as ``sync``. Collective."""
        self._meet("flush")

    def _meet(self, name: str) -> None:
        self._check_open()
        library.map_sync(self._handle, name)

    def to_numpy(self) -> tuple[Array, Array]:
        """Return a copy of this rank's entries, as an array of keys and an array of values. Not collective.

        The entries are in the order of the hash table. The same calls on the same number of ranks give the same order.

        Raises
        ------
        TypeError
            If a plotting or table library calls it. It would take this rank's entries for all of them.
        """
        check_caller(self, frame_at(1))
        return self._entries(0)

    def local_view(self) -> tuple[Array, Array]:
        """Return this rank's entries, as read-only arrays of keys and of values. Not collective.

        The arrays have the entries of the present. The map moves its entries as it grows, so they do not show later
        changes.

        If the placement is DEVICE, the values are a :class:`DeviceArray`: a copy, on the GPU, in the order of the keys.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx, dtl.DistributedMap(ctx, np.int64, np.float64) as squares:
        ...     squares.insert(3, 9.0)
        ...     squares.local_view() if ctx.size == 1 else None
        (array([3]), array([9.]))
        """
        if self._placement is Placement.DEVICE:
            keys = self._entries(0)[0]
            there: Any = DeviceArray(bridge.map_entries(self, 2), self._dtype)
            keys.flags.writeable = False
            return keys, there
        keys, values = self._entries(0)
        keys.flags.writeable = values.flags.writeable = False
        return keys, values

    @collective
    def global_view(self) -> tuple[Array, Array]:
        """Return a copy of all entries on every rank, as an array of keys and an array of values. Collective.

        The entries are in rank order, and those of each rank in the order of ``to_numpy``.

        Raises
        ------
        MemoryError
            If a rank has no memory for all entries. On every rank.
        """
        self._check_open()
        return self._entries(1)

    def _entries(self, everyones: int) -> tuple[Array, Array]:
        raw = np.asarray(bridge.map_entries(self, everyones))
        n, start = raw[:16].view(np.int64).tolist()
        return raw[64 : 64 + n * self._keys.dtype.itemsize].view(self._keys.dtype), raw[start:].view(self._dtype)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the keys that are on this rank now, as NumPy scalars. Not collective."""
        return iter(self._entries(0)[0])

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the keys that are on this rank now, with their values, as NumPy scalars. Not collective."""
        return zip(*self._entries(0))


def _missing(op: str, key: Any) -> KeyNotFoundError:
    error = KeyNotFoundError(f"{op}: the map has no key {key!r}")
    error.op = op
    return error
