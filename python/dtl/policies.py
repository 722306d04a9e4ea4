"""Policies: how a container's elements are divided, where they are, and how algorithms run on them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Literal, Sequence, TypeVar, Union

from ._numbers import PARTITION, PLACEMENT
from .exceptions import InvalidArgumentError

if TYPE_CHECKING:
    import numpy as np


class Partition(enum.IntEnum):
    """Which rank holds which element."""

    BLOCK = PARTITION.BLOCK
    CYCLIC = PARTITION.CYCLIC
    BLOCK_CYCLIC = PARTITION.BLOCK_CYCLIC
    HASH = PARTITION.HASH
    REPLICATED = PARTITION.REPLICATED
    EXPLICIT = PARTITION.EXPLICIT


class Placement(enum.IntEnum):
    """Where the elements are: on the host, on a GPU, in memory that both reach, or in files."""

    HOST = PLACEMENT.HOST
    DEVICE = PLACEMENT.DEVICE
    UNIFIED = PLACEMENT.UNIFIED
    DEVICE_PREFERRED = PLACEMENT.DEVICE_PREFERRED
    DISK = PLACEMENT.DISK


class Execution(enum.IntEnum):
    """How algorithms run on the local part: on one thread, on those that the rank has, or in the background."""

    SEQ = 0
    PAR = 1
    ASYNC = 2


PARTITION_BLOCK = Partition.BLOCK
PARTITION_CYCLIC = Partition.CYCLIC
PARTITION_BLOCK_CYCLIC = Partition.BLOCK_CYCLIC
PARTITION_HASH = Partition.HASH
PARTITION_REPLICATED = Partition.REPLICATED
PARTITION_EXPLICIT = Partition.EXPLICIT

PLACEMENT_HOST = Placement.HOST
PLACEMENT_DEVICE = Placement.DEVICE
PLACEMENT_UNIFIED = Placement.UNIFIED
PLACEMENT_DEVICE_PREFERRED = Placement.DEVICE_PREFERRED
PLACEMENT_DISK = Placement.DISK

EXEC_SEQ = Execution.SEQ
EXEC_PAR = Execution.PAR
EXEC_ASYNC = Execution.ASYNC

# What functions take: a policy, or its name. The partition may also be the local size of each rank.
PartitionLike = Union[
    Partition, Literal["block", "cyclic", "block_cyclic", "hash", "replicated"], Sequence[int], "np.ndarray[Any, Any]"
]
PlacementLike = Union[Placement, Literal["host", "device", "unified", "device_preferred", "disk"]]
ExecutionLike = Union[Execution, Literal["seq", "par", "async"]]

Policy = TypeVar("Policy", Partition, Placement, Execution)


def member_of(policies: type[Policy], value: Any) -> Policy | None:
    """Return the policy that a value is, or that it names, such as "cyclic"; None if there is none."""
    if value.__class__ is policies:
        return value
    if isinstance(value, str):
        return policies.__members__.get(value.upper())
    try:
        return None if isinstance(value, (bool, float)) else policies(value)
    except ValueError:
        return None


def placement_of(placement: Any) -> Placement:
    """Return the placement that a caller asks for. Whether there is memory of that kind, the core knows."""
    found = member_of(Placement, placement)
    if found is None:
        raise InvalidArgumentError(f"placement {placement!r} is none of dtl.PLACEMENT_*, nor the name of one")
    return found
