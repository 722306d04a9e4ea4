"""Types for type checkers: extents, what functions that make containers take by keyword, and kinds of containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, Tuple, TypedDict, TypeVar, Union

from ..policies import ExecutionLike, PartitionLike, PlacementLike

if TYPE_CHECKING:
    from .base import DistributedContainer
    from .owning import OwningContainer
    from .sequences import DistributedVector
    from .tensor import DistributedTensor

#: The shape of a vector.
OneExtent = Union[int, Tuple[int]]
#: The shape of a tensor, where a checker can see that it has two dimensions or more.
SomeExtents = Union[Tuple[int, int], Tuple[int, int, int], Tuple[int, int, int, int], Tuple[int, int, int, int, int]]
Extents = Union[int, Sequence[int]]

#: What new containers are: a vector of one dimension, a tensor of more.
Made = Union["DistributedVector", "DistributedTensor"]

#: A container that owns its elements, of which functions make another of its kind.
Owned = TypeVar("Owned", bound="OwningContainer")


class How(TypedDict, total=False):
    """How a new container is divided, placed and worked on."""

    partition: PartitionLike
    block_size: int | None
    grid: Any
    placement: PlacementLike
    execution: ExecutionLike
    like: DistributedContainer | None
