"""Policies: how a container's elements are divided, where they are, and how algorithms run on them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Literal, Sequence, TypeVar, Union

from ._numbers import (
    PARTITION_BLOCK as _PARTITION_BLOCK,
)
from ._numbers import (
    PARTITION_BLOCK_CYCLIC as _PARTITION_BLOCK_CYCLIC,
)
from ._numbers import (
    PARTITION_CYCLIC as _PARTITION_CYCLIC,
)
from ._numbers import (
    PARTITION_EXPLICIT as _PARTITION_EXPLICIT,
)
from ._numbers import (
    PARTITION_HASH as _PARTITION_HASH,
)
from ._numbers import (
    PARTITION_REPLICATED as _PARTITION_REPLICATED,
)
from ._numbers import (
    PLACEMENT_DEVICE as _PLACEMENT_DEVICE,
)
from ._numbers import (
    PLACEMENT_DEVICE_PREFERRED as _PLACEMENT_DEVICE_PREFERRED,
)
from ._numbers import (
    PLACEMENT_HOST as _PLACEMENT_HOST,
)
from ._numbers import (
    PLACEMENT_UNIFIED as _PLACEMENT_UNIFIED,
)
from .exceptions import InvalidArgumentError

if TYPE_CHECKING:
    import numpy as np


class Partition(enum.IntEnum):
    """Which rank holds which element."""

    BLOCK = _PARTITION_BLOCK
    CYCLIC = _PARTITION_CYCLIC
    BLOCK_CYCLIC = _PARTITION_BLOCK_CYCLIC
    HASH = _PARTITION_HASH
    REPLICATED = _PARTITION_REPLICATED
    EXPLICIT = _PARTITION_EXPLICIT


class Placement(enum.IntEnum):
    """Where the elements are: on the host, on a GPU, or in memory that both reach."""

    HOST = _PLACEMENT_HOST
    DEVICE = _PLACEMENT_DEVICE
    UNIFIED = _PLACEMENT_UNIFIED
    DEVICE_PREFERRED = _PLACEMENT_DEVICE_PREFERRED


class Execution(enum.IntEnum):
    """How algorithms run on the local part: on one thread, on several, or in the background."""

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

EXEC_SEQ = Execution.SEQ
EXEC_PAR = Execution.PAR
EXEC_ASYNC = Execution.ASYNC

# What functions take: a policy, or its name. The partition may also be the local size of each rank.
PartitionLike = Union[
    Partition, Literal["block", "cyclic", "block_cyclic", "hash", "replicated"], Sequence[int], "np.ndarray[Any, Any]"
]
PlacementLike = Union[Placement, Literal["host", "device", "unified", "device_preferred"]]
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
