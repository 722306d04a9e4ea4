"""Containers beside slices, as in ``t[mask, :2]`` and ``t[:, columns]``: two subscripts, or one with an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native import slow_paths
from ..._native.kinds import kind_of
from ..._native.library import bridge
from ..._native.objects import refuse_closed
from ..base import DistributedContainer
from ..interior import as_elements


def rows_first(key: Any) -> tuple[DistributedContainer, tuple[Any, ...]] | None:
    """Return a container that chooses rows, and the slices and integers beside it; None for other subscripts."""
    if not isinstance(key, tuple) or len(key) < 2 or not isinstance(key[0], DistributedContainer):
        return None
    rows, rest = key[0], key[1:]
    if not all(
        _is_slice(entry) or (isinstance(entry, (int, np.integer)) and entry.__class__ is not bool) for entry in rest
    ):
        return None
    return (rows, rest) if kind_of(rows.dtype).is_boolean or any(_is_slice(entry) for entry in rest) else None


def select(of: Any, rows: DistributedContainer, rest: tuple[Any, ...]) -> Any:
    """Return the rows that a container chooses, and of them what else is selected. Collective."""
    if _is_whole(rest, of.ndim - _chosen(rows)):
        return of[rows]
    return of[_before_rest(rows, rest)][rows]


def assign(of: Any, rows: DistributedContainer, rest: tuple[Any, ...], value: Any) -> None:
    """Assign to the rows that a container chooses, and of them to what else is selected. Collective."""
    if _is_whole(rest, of.ndim - _chosen(rows)):
        of[rows] = value
        return
    place = _before_rest(rows, rest)
    between = of[place]
    between[rows] = value
    of[place] = between


def with_arrays(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return entries with arrays, on every rank, for the containers among them. Collective."""
    return tuple(_everywhere(entry) if isinstance(entry, DistributedContainer) else entry for entry in entries)


def _everywhere(indices: Any) -> Any:
    refuse_closed(indices)
    started = slow_paths.clock() if slow_paths.listeners else 0
    places = np.arange(indices.global_size)
    array = np.asarray(as_elements(indices, bridge.take(indices, places)))
    if started and indices.context.size > 1:
        slow_paths.tell(slow_paths.EVERYWHERE, "getitem", array.nbytes, started)
    return array.reshape(indices.shape)


def _is_slice(entry: Any) -> bool:
    return entry is None or entry is Ellipsis or isinstance(entry, slice)


def _is_whole(rest: tuple[Any, ...], dims: int) -> bool:
    """Say whether slices select everything of some dimensions."""
    whole = all(entry is Ellipsis or (isinstance(entry, slice) and entry == slice(None)) for entry in rest)
    return whole and len(rest) <= dims + (Ellipsis in rest)


def _chosen(rows: DistributedContainer) -> int:
    """Return how many dimensions a container chooses of."""
    return rows.ndim if kind_of(rows.dtype).is_boolean else 1


def _before_rest(rows: DistributedContainer, rest: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*[slice(None)] * _chosen(rows), *rest)
