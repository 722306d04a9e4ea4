"""The distributed map."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ..._native import library
from ...exceptions import KeyNotFoundError
from ...runtime.agreement import collective
from ...runtime.context import Context
from .batches import Batched


class DistributedMap(Batched):
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

    Raises
    ------
    InvalidArgumentError
        If there are no such keys or values. On every rank.
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

    @collective
    def __init__(self, ctx: Context, key_dtype: Any, value_dtype: Any) -> None:
        self._create(ctx, key_dtype, value_dtype)

    def __repr__(self) -> str:
        if not self._handle:
            return "<dtl.DistributedMap, closed>"
        return f"<dtl.DistributedMap of {len(self)} {self._keys.name} to {self._dtype}, {self.local_size} here>"

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

    # ---- Sizes ----

    def __len__(self) -> int:
        """Return the number of entries on all ranks. Not collective: each call that changed it told every rank."""
        return library.map_len(self._handle)

    @property
    def local_size(self) -> int:
        """The number of entries on this rank. Not collective."""
        return library.map_local_size(self._handle)

    @property
    @collective
    def global_size(self) -> int:
        """The number of entries on all ranks, which add up what they have. Collective."""
        self._check_open()
        return library.map_global_size(self._handle)

    @property
    def size(self) -> int:
        """The same as ``global_size``. Collective."""
        return self.global_size

    @property
    def empty(self) -> bool:
        """Whether there is no entry on any rank. Collective."""
        return self.global_size == 0

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

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the keys on this rank, NumPy scalars, as they are now. Not collective."""
        return iter(self.to_numpy()[0])

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the keys on this rank with their values, NumPy scalars, as they are now. Not collective."""
        return zip(*self.to_numpy())


def _missing(op: str, key: Any) -> KeyNotFoundError:
    error = KeyNotFoundError(f"{op}: the map has no key {key!r}")
    error.op = op
    return error
