"""Assignment to what a subscript selects."""

from __future__ import annotations

from typing import Any

from ..._native.kinds import fingerprint, fitting
from ..._native.library import bridge
from ..._native.objects import refuse_closed
from ...exceptions import InvalidArgumentError
from ...policies import Partition
from ...runtime.agreement import agree
from ..base import DistributedContainer, linear_indices
from ..broadcasting import spread_over
from ..indices import from_start, last_occurrences
from ..interior import as_carried
from ..making import new_like
from ..places.copies import to_host
from ..places.place import place_of, set_part
from . import masks, mixed_keys
from .mixed_keys import Mixed
from .regions import Region, assign, move
from .subscript import Gathered, Mask, Points, Selection, Where

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def selected_shape(of: DistributedContainer, chosen: Points | Mask | Region | Mixed | Gathered) -> tuple[int, ...]:
    """Return the shape of what is assigned to."""
    if isinstance(chosen, Gathered):
        return (*chosen.indices.shape, *(of.shape[1:] if chosen.rows else ()))
    return chosen.shape if isinstance(chosen, (Region, Mixed)) else chosen.indices.shape


def given(to: DistributedContainer, chosen: Selection | Gathered, value: Any) -> Any:
    """Return a container in the shape of what it is assigned to; its element, on every rank, if it has one alone.

    Anything else is returned as it is. Collective if it is spread.
    """
    if not isinstance(value, DistributedContainer):
        return value
    _check_ranks(to, value)
    shape = None if isinstance(chosen, Where) else selected_shape(to, chosen)
    if value.shape != shape and value.global_size == 1:
        return value[(0,) * value.ndim]
    return value if shape is None else spread_over(value, shape, to)


def _check_ranks(to: DistributedContainer, value: DistributedContainer) -> None:
    refuse_closed(value)
    if value.context.size != to.context.size:
        raise InvalidArgumentError(f"a container on {value.context.size} ranks for one on {to.context.size}")


def converted(to: DistributedContainer, value: DistributedContainer) -> DistributedContainer:
    """Return a container with its elements as the other's type. Collective."""
    _check_ranks(to, value)
    if value.dtype == to.dtype:
        return value
    elements = fitting("values", to_host("setitem", value), to.dtype)
    result: DistributedContainer = new_like(value, to.dtype)
    set_part(result, elements)
    return result


def assign_selected(to: DistributedContainer, chosen: Selection, value: Any) -> None:
    """Assign prepared values, an array or a container, to what was selected. Collective."""
    if isinstance(chosen, Where):
        masks.assign(to, chosen.mask, value)
    elif isinstance(value, DistributedContainer):
        if isinstance(chosen, Region):
            move(to, value, chosen.destination())
        elif isinstance(chosen, Mixed):
            mixed_keys.assign_container(to, chosen, value)
        else:
            _scatter(to, chosen.indices.reshape(-1), value)
    elif isinstance(chosen, Region):
        assign(to, chosen, value)
    elif isinstance(chosen, Mixed):
        mixed_keys.assign(to, chosen, value)
    else:
        bridge.give(to, chosen.indices, as_carried(to, value))


def _scatter(to: DistributedContainer, indices: Array, value: DistributedContainer) -> None:
    """Assign a container to the elements of an index list that is the same on every rank. Collective."""
    agree(to.context, "setitem", f"indices with fingerprint {fingerprint(indices)}")
    if value.partition_policy is Partition.REPLICATED:
        bridge.give(to, indices, as_carried(to, to_host("setitem", value)).reshape(-1))
        return
    mine = linear_indices(value).reshape(-1)
    mine_last = last_occurrences(from_start(indices, to.global_size))[mine]
    chosen, values = indices[mine][mine_last], place_of(value).own_elements(value, mine_last.reshape(value.local_shape))
    bridge.put(to, chosen, as_carried(to, values))
