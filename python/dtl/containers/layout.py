"""How a container is divided, placed and worked on: as a caller says it, and as the core takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._native.arguments import integer, listed
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Execution, Partition, member_of


class Division(NamedTuple):
    """Which rank owns which element. The core checks the numbers."""

    partition: Partition
    block_size: int = 0
    sizes: tuple[int, ...] = ()
    grid: tuple[int, ...] | None = None

    def numbers(self) -> tuple[int, ...]:
        """Return the division as the core takes it: lists with their lengths before them, -1 for no grid."""
        grid = (-1,) if self.grid is None else (len(self.grid), *self.grid)
        return (self.partition, self.block_size, len(self.sizes), *self.sizes, *grid)

    def __str__(self) -> str:
        text = f"partition {self.partition.name}"
        if self.partition is Partition.BLOCK_CYCLIC:
            text += f" of {self.block_size}"
        if self.sizes:
            text += f" {self.sizes}"
        return text if self.grid is None else f"grid {self.grid}"

    def for_other_size(self) -> Division:
        """Return how a container of another size is divided likewise. Local sizes do not carry over: BLOCK does."""
        if self.partition is Partition.EXPLICIT:
            return BLOCK
        return Division(self.partition, self.block_size)


BLOCK = Division(Partition.BLOCK)
REPLICATED = Division(Partition.REPLICATED)

#: The block size of PARTITION_BLOCK_CYCLIC where nobody says one: what ScaLAPACK's guide suggests to start with.
DEFAULT_BLOCK = 64

_BLOCK = Partition.BLOCK  # members of enumerations are slow to get at


def division(partition: Any, block_size: Any = None, grid: Any = None) -> Division:
    """Return the division that a caller asks for."""
    if partition is _BLOCK and block_size is None and grid is None:
        return BLOCK
    sizes: tuple[int, ...] = ()
    if isinstance(partition, (Sequence, np.ndarray)) and not isinstance(partition, (str, bytes)):
        policy = Partition.EXPLICIT
        sizes = integers("partition", partition)
    else:
        policy = _policy(partition)
    block = 0
    if policy is Partition.BLOCK_CYCLIC:
        block = DEFAULT_BLOCK if block_size is None else integer("block_size", block_size)
    elif block_size is not None:
        raise InvalidArgumentError(f"block_size {block_size!r} is for PARTITION_BLOCK_CYCLIC, not for {policy.name}")
    return Division(policy, block, sizes, None if grid is None else integers("grid", grid))


def _policy(partition: Any) -> Partition:
    policy = member_of(Partition, partition)
    if policy is None:
        raise InvalidArgumentError(
            f"partition {partition!r} is none of dtl.PARTITION_*, nor the name of one, nor the local size of each rank"
        )
    if policy is Partition.EXPLICIT:
        raise InvalidArgumentError("PARTITION_EXPLICIT is said by the local size of each rank: partition=(3, 5, ...)")
    return policy


def integers(name: str, values: Any) -> tuple[int, ...]:
    """Return several integers that fit 64 bits; one alone stands for a tuple of it."""
    if values.__class__ is int:
        return (integer(name, values),)
    if isinstance(values, (str, bytes)):
        raise InvalidTypeError(f"{name} must be integers, not {values!r}")
    try:
        return tuple(integer(name, value) for value in listed(values))
    except InvalidArgumentError:
        raise
    except TypeError:
        return (integer(name, values),)


def execution_policy(execution: Any) -> Execution:
    """Return how algorithms are to run."""
    found = member_of(Execution, execution)
    if found is None:
        raise InvalidArgumentError(f"execution {execution!r} is none of dtl.EXEC_*, nor the name of one")
    return found
