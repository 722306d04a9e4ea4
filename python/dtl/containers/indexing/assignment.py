"""Assignment to what a subscript selects."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._lazy import spread_to, to_host
from ..._native.library import bridge
from ..._native.values import fingerprint, fitting
from ...exceptions import InvalidArgumentError
from ...policies import Partition
from ...runtime.agreement import agree
from ..base import DistributedContainer, linear_indices
from ..indices import from_start, last_occurrences
from . import beside_slices, masks, parts
from .beside_slices import Mixed
from .regions import Region, assign, move
from .subscript import Mask, Points, Selection, Where

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def selected_shape(chosen: Points | Mask | Region | Mixed) -> tuple[int, ...]:
    """Return the shape of what is assigned to."""
    return chosen.shape if isinstance(chosen, (Region, Mixed)) else chosen.indices.shape


def converted(to: DistributedContainer, chosen: Selection, value: DistributedContainer) -> DistributedContainer:
    """Return the container that is assigned, with its elements as the other's type. Collective if it is spread."""
    value._check_open()
    if value.context.size != to.context.size:
        raise InvalidArgumentError(f"a container on {value.context.size} ranks for one on {to.context.size}")
    if isinstance(chosen, Where):
        rest = to.shape[chosen.mask.ndim :]
        if value.ndim != 1 + len(rest) or value.shape[1:] != rest:
            beside = f" and then {rest}" if rest else ""
            raise InvalidArgumentError(
                f"a container of shape {value.shape} for what a mask selects; it must have 1 dimension{beside}"
            )
    elif value.shape != selected_shape(chosen):
        shape = selected_shape(chosen)
        try:
            if np.broadcast_shapes(value.shape, shape) != shape:
                raise ValueError
        except ValueError:
            raise InvalidArgumentError(f"a container of shape {value.shape} for what has shape {shape}") from None
        value = spread_to(value, shape)
    if value.dtype == to.dtype:
        return value
    elements = fitting("values", to_host("setitem", value), to.dtype)
    result: DistributedContainer = value._like(to.dtype)
    result._set_part(elements)
    return result


def assign_selected(to: DistributedContainer, chosen: Selection, value: Any) -> None:
    """Assign prepared values, an array or a container, to what was selected. Collective."""
    if isinstance(chosen, Where):
        masks.assign(to, chosen.mask, value)
    elif isinstance(value, DistributedContainer):
        if isinstance(chosen, Region):
            move(to, value, chosen.destination())
        elif isinstance(chosen, Mixed):
            beside_slices.assign_container(to, chosen, value)
        else:
            _scatter(to, chosen.indices.reshape(-1), value)
    elif isinstance(chosen, Region):
        assign(to, chosen, value)
    elif isinstance(chosen, Mixed):
        beside_slices.assign(to, chosen, value)
    else:
        bridge.call(bridge.GIVE, to, chosen.indices, to._for_core(value), 0, 0, 0, 0)


def _scatter(to: DistributedContainer, indices: Array, value: DistributedContainer) -> None:
    """Assign a container to the elements of an index list that is the same on every rank. Collective."""
    agree(to.context, "setitem", f"indices with fingerprint {fingerprint(indices)}")
    if value.partition_policy is Partition.REPLICATED:
        bridge.call(bridge.GIVE, to, indices, to._for_core(to_host("setitem", value)).reshape(-1), 0, 0, 0, 0)
        return
    mine = linear_indices(value).reshape(-1)
    mine_last = last_occurrences(from_start(indices, to.global_size))[mine]
    chosen, values = indices[mine][mine_last], parts.own_elements(value, mine_last.reshape(value.local_shape))
    bridge.call(bridge.PUT, to, chosen, to._for_core(values), 0, 0, 0, 0)
