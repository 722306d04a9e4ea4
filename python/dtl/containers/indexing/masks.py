"""Containers of bool as masks.

No rank gathers the elements: where a container is not divided in rank order, the ranks move them to one that is, by
blocks, and the result back.
"""

from __future__ import annotations

from typing import Any

from ..._native.library import bridge
from ..._native.values import fingerprint
from ...comm import collectives
from ...exceptions import InvalidArgumentError
from ...policies import Partition
from ...runtime.agreement import agree
from ..base import DistributedContainer, linear_indices
from ..layout import BLOCK, Division
from .regions import move, whole_region

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def select(of: DistributedContainer, mask: DistributedContainer) -> Any:
    """Return a container of the elements for which a mask that is divided alike is true. Collective."""
    ctx = of.context
    agree(ctx, "getitem", "a container as a mask")
    elements, chosen = _in_global_order(of), _in_global_order(mask)
    part = elements.local_view()[chosen.local_view()]
    agree(ctx, "getitem", "a container as a mask")
    made = of._owning_class()._from_parts(ctx, part)
    made._divide(of._division.for_other_size())
    made._run_as(of.execution_policy)
    return made


def assign(of: DistributedContainer, mask: DistributedContainer, value: Any) -> None:
    """Assign to the elements for which a mask that is divided alike is true. Collective."""
    if isinstance(value, DistributedContainer):
        agree(of.context, "setitem", f"a container of {value.shape} where another is true")
        indices, counts = _selected(mask)
        _check_count(value.shape[0], sum(counts))
        fitted = value._owning_class()._created(
            of.context, value.shape, of.dtype, Division(Partition.EXPLICIT, 0, counts)
        )
        move(fitted, value, whole_region(value.shape).source())
        bridge.call(bridge.PUT, of, indices, fitted.local_view(), 0, 0, 0, 0)
        return
    agree(of.context, "setitem", f"values with fingerprint {fingerprint(value)} where a container is true")
    if value.size == 1:
        of.local_view()[mask.local_view()] = value.reshape(())
        return
    indices, counts = _selected(mask)
    _check_count(value.size, sum(counts))
    start = sum(counts[: of.context.rank])
    bridge.call(bridge.PUT, of, indices, value[start : start + len(indices)], 0, 0, 0, 0)


def one_dimensional(values: Array) -> Array:
    """Return the values for what a mask selects, one for each element."""
    if values.ndim != 1:
        raise InvalidArgumentError(f"values of shape {values.shape} for what a mask selects, which has 1 dimension")
    return values


def _check_count(given: int, selected: int) -> None:
    if given != selected:
        raise InvalidArgumentError(f"{given} values for the {selected} elements that the mask selects")


def _selected(mask: DistributedContainer) -> tuple[Array, tuple[int, ...]]:
    """Return the indices of a part of the true elements, and the number of each rank's, in order. Collective."""
    chosen = _in_global_order(mask)
    indices = linear_indices(chosen)[chosen.local_view()]
    agree(mask.context, "setitem", "where a container is true")
    return indices, tuple(collectives.allgather(mask.context, len(indices)).tolist())


def _in_global_order(of: DistributedContainer) -> DistributedContainer:
    """Return a container with the same elements, of which each rank has some, in rank order. Collective."""
    contiguous = of.partition_policy in (Partition.BLOCK, Partition.EXPLICIT)
    if of.context.size == 1 or (contiguous and of.grid[0] == of.context.size):
        return of
    copy: DistributedContainer = of._owning_class()._created(of.context, of.shape, of.dtype, BLOCK)
    move(copy, of, whole_region(of.shape).source())
    return copy
