"""What a map does with many keys at once, and what it shows of its entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native import library
from ..._native.arguments import dtype_number, operator_number
from ..._native.library import bridge
from ..._native.objects import Owner
from ..._native.values import fitting
from ...exceptions import InvalidArgumentError
from ...ops import SUM, Op
from ...runtime.agreement import check_context, collective
from ...runtime.context import Context
from .keys import Keys

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Batched(Owner):
    """A native map, with keys and values in NumPy arrays."""

    _context: Context
    _keys: Keys
    _dtype: np.dtype[Any]

    def _create(self, ctx: Context, key_dtype: Any, value_dtype: Any) -> None:
        check_context(ctx)
        self._keys = Keys(key_dtype)
        number = dtype_number(value_dtype)
        self._dtype = np.dtype(value_dtype)
        keys = self._keys.dtype
        self._handle = library.map_create(ctx._handle, self._keys.number, keys.itemsize, keys.kind == "U", number)
        self._context = ctx

    def _let_go(self, handle: int) -> None:
        library.map_close(handle)

    def _check_open(self) -> None:
        """Refuse a map that was closed on this rank: the core has nothing to agree about with the others."""
        if not self._handle:
            raise library.closed("map")

    # ---- Each rank's own list. Whatever one rank cannot do raises on every rank, and nothing is changed. ----

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
    def update_many(self, keys: Any, values: Any, op: Op | str = SUM) -> None:
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

    # ---- Entries ----

    def to_numpy(self) -> tuple[Array, Array]:
        """Return a copy of this rank's entries: an array of keys and one of values. Not collective.

        Their order is the table's: the same calls on as many ranks give the same.
        """
        return self._entries(0)

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

    def _one(self, name: str, value: Any) -> Any:
        """Return a value of the dtype."""
        return fitting(name, value, self._dtype).reshape(-1)[0]

    def _many(self, name: str, values: Any, n: int) -> Array:
        """Return n values of the dtype."""
        if not n and isinstance(values, (list, tuple)) and not values:
            return np.empty(0, self._dtype)  # which NumPy takes for floats
        if np.ndim(values) == 0:
            return np.full(n, self._one(name, values), self._dtype)
        given = fitting(name, values, self._dtype)
        if given.ndim != 1:
            raise InvalidArgumentError(f"{name} of shape {given.shape} must have 1 dimension")
        if len(given) != n:
            raise InvalidArgumentError(f"{len(given)} {name} for {n} keys")
        return given


def _plain(keys: Array) -> Array:
    """Return keys in a type that the bridge knows."""
    return keys.view(np.uint8) if keys.dtype.kind in "SU" else keys
