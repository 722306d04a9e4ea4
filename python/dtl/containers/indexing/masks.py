"""Containers of bool as masks, of all elements or of rows: of the first dimensions.

No rank gathers the elements: where a container is not divided in rank order, the ranks move them to one that is, by
blocks, and the result back.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from ..._native.element_loops import packed
from ..._native.kinds import fingerprint
from ..._native.library import bridge
from ..._native.threads import threads
from ..._native.values import spread
from ...comm import collectives
from ...exceptions import InvalidArgumentError
from ...policies import Partition, Placement
from ...runtime.agreement import agree
from ..base import DistributedContainer, linear_indices, own_elements
from ..broadcasting import spread_over
from ..interior import (
    as_carried,
    division_of,
    elements_at,
    end_write,
    in_blocks,
    owning_class_of,
    run_as,
    tensor_class_of,
)
from ..layout import BLOCK, Division
from ..making import created, divide, result_placement
from ..places import device
from ..places.copies import to_host
from ..places.place import from_parts, place_of
from .regions import move_all

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

Made = TypeVar("Made")


def select(of: DistributedContainer, mask: DistributedContainer) -> Any:
    """Return a container of the elements, or rows, for which a mask is true. Collective."""
    ctx = of.context
    if not (is_in_global_order(of) and is_in_global_order(mask) and mask.ndim == of.ndim):
        agree(ctx, "getitem", "a container as a mask")
    elements = in_global_order(of)
    chosen = in_global_order(mask)
    if mask.ndim < of.ndim:
        chosen = _mask_of_rows(elements, chosen)
    if of.placement_policy is Placement.HOST:
        return rows_of(
            of, packed(elements.local_view(), chosen.local_view(), threads(of.execution_policy)), agreed_words(None)
        )
    kind = owning_class_of(of) if elements.ndim == mask.ndim else tensor_class_of(of)
    if of.placement_policy is Placement.DISK:
        agree(ctx, "getitem", "a container as a mask")
        made = selected_on_disk(kind, elements, chosen)
    else:
        part = place_of(of).chosen(elements, chosen)
        agree(ctx, "getitem", "a container as a mask")
        made = from_parts(kind, ctx, part, of.placement_policy)
    divide(made, division_of(of).for_other_size())
    run_as(made, of.execution_policy)
    return made


def selected_on_disk(kind: type[Made], elements: DistributedContainer, mask: DistributedContainer) -> Made:
    """Return a container on disk of the elements, or rows, where this rank's part of a mask is true. Collective."""
    of, true = elements.local_view(), mask.local_view()
    count = sum([int(np.count_nonzero(true[rows])) for rows in in_blocks(true)])
    sizes = tuple(collectives.allgather(elements.context, count).tolist())
    shape = (sum(sizes), *elements.shape[mask.ndim :])
    divided = Division(Partition.EXPLICIT, sizes=sizes)
    where = result_placement(elements, shape, elements.dtype)
    made: Any = created(kind, elements.context, shape, elements.dtype, divided, where, blank=True)
    part, at = made.local_view(), 0
    for rows in in_blocks(of):
        some = packed(of[rows], true[rows], threads(elements.execution_policy))
        part[at : at + len(some)] = some
        at += len(some)
    new: Made = made
    return new


def agreed_words(mask: Array | None) -> bytes:
    """Return what the ranks agree on where a mask selects elements: an array, or None for a container."""
    words = "a container as a mask" if mask is None else f"a mask with fingerprint {fingerprint(mask)}"
    return f"getitem {words}".encode()


def rows_of(of: DistributedContainer, rows: Array, words: bytes) -> Any:
    """Return a container of elements, or rows, that each rank has chosen of another one, in rank order. Collective."""
    kind = owning_class_of(of) if rows.ndim == 1 else tensor_class_of(of)
    made = kind._of_rows(of, rows, words)
    run_as(made, of.execution_policy)
    return made


def assign(of: DistributedContainer, mask: DistributedContainer, value: Any) -> None:
    """Assign to the elements, or rows, for which a mask is true. Collective."""
    rest = of.shape[mask.ndim :]
    if isinstance(value, DistributedContainer):
        agree(of.context, "setitem", f"a container of {value.shape} where another is true")
        indices, counts = selected(mask)
        value = spread_over(value, (sum(counts), *rest), of)
        kind = owning_class_of(value) if value.ndim == 1 else tensor_class_of(value)
        divided = Division(Partition.EXPLICIT, 0, counts)
        fitted = created(kind, of.context, value.shape, of.dtype, divided, of.placement_policy, True)
        move_all(fitted, value)
        if by_kernel(of, mask):
            device.put_where(of, mask, fitted)
            agree(of.context, "setitem", "a container was assigned")
            return
        bridge.put(of, _rows(indices, rest), as_carried(of, to_host("setitem", fitted)).reshape(-1))
        return
    agree(of.context, "setitem", f"values with fingerprint {fingerprint(value)} where a container is true")
    while value.ndim > len(rest) and len(value) == 1:
        value = value[0]  # spreads over the elements or rows
    if value.ndim <= len(rest):
        if value.size == 1:
            value = value.reshape(())
        else:
            value = own_elements(of, spread("values", value, rest).reshape(rest), range(mask.ndim, of.ndim))
        _assign_own(of, mask, value)
        return
    indices, counts = selected(mask)
    try:
        value = np.broadcast_to(value, (sum(counts), *rest))
    except ValueError:
        shape = (sum(counts), *rest)
        raise InvalidArgumentError(f"values of shape {value.shape} for what a mask selects, of shape {shape}") from None
    start = sum(counts[: of.context.rank])
    given = np.ascontiguousarray(value[start : start + len(indices)])
    if by_kernel(of, mask):
        device.put_where(of, mask, given)
        agree(of.context, "setitem", "values were assigned")
        return
    bridge.put(of, _rows(indices, rest), as_carried(of, given).reshape(-1))


def by_kernel(of: DistributedContainer, mask: DistributedContainer) -> bool:
    """Say whether each rank's GPU has, in rank order, the elements that its part of the mask chooses."""
    return mask.ndim == of.ndim and bool(place_of(of).puts(of))


def _assign_own(of: DistributedContainer, mask: DistributedContainer, value: Array) -> None:
    """Assign a number, or a row, where a mask is true. Collective."""
    if mask.ndim == of.ndim:
        place_of(of).put_where(of, mask, value.reshape(1))
    else:
        place_of(of).put(of, _rows_chosen(of, mask), value)
    end_write(of, "setitem")


def _rows_chosen(of: DistributedContainer, mask: DistributedContainer) -> Array:
    """Return the mask of this rank's rows. Collective."""
    wanted = linear_indices(of, range(mask.ndim))
    got = elements_at(mask, wanted.reshape(-1))
    return got.reshape(wanted.shape)


def _rows(indices: Array, rest: tuple[int, ...]) -> Array:
    """Return the index of each element of rows of a shape."""
    if not rest:
        return indices
    size = math.prod(rest)
    return (indices[:, np.newaxis] * size + np.arange(size)).reshape(-1)


def _mask_of_rows(elements: DistributedContainer, mask: DistributedContainer) -> DistributedContainer:
    """Return a mask, of which each rank has what it has of the rows. Both are in rank order. Collective."""
    ctx = elements.context
    sizes = np.asarray(collectives.allgather(ctx, np.array([elements.local_shape[0], mask.local_shape[0]])))
    if (sizes[:, 0] == sizes[:, 1]).all():
        return mask
    kind = owning_class_of(mask) if mask.ndim == 1 else tensor_class_of(mask)
    divided = Division(Partition.EXPLICIT, sizes=tuple(sizes[:, 0].tolist()))
    moved: DistributedContainer = created(kind, ctx, mask.shape, mask.dtype, divided, mask.placement_policy, True)
    move_all(moved, mask)
    return moved


def selected(mask: DistributedContainer) -> tuple[Array, tuple[int, ...]]:
    """Return the indices of a part of the true elements, and the number of each rank's, in order. Collective."""
    chosen = in_global_order(mask)
    indices = place_of(chosen).true_indices(chosen)
    agree(mask.context, "setitem", "where a container is true")
    return indices, tuple(collectives.allgather(mask.context, len(indices)).tolist())


def is_in_global_order(of: DistributedContainer) -> bool:
    """Say whether each rank has some of the elements, in rank order."""
    if of.context.size == 1 or division_of(of) is BLOCK:
        return True
    return of.partition_policy in (Partition.BLOCK, Partition.EXPLICIT) and of.grid[0] == of.context.size


def in_global_order(of: DistributedContainer) -> DistributedContainer:
    """Return a container with the same elements, of which each rank has some, in rank order. Collective."""
    if is_in_global_order(of):
        return of
    kind = owning_class_of(of)
    copy: DistributedContainer = created(kind, of.context, of.shape, of.dtype, BLOCK, of.placement_policy, blank=True)
    move_all(copy, of)
    return copy
