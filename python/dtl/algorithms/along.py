"""The type of functions that reduce along a dimension: of a tensor and one dimension, a container is left.

When the program runs, the decorator changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from typing import Callable, Protocol, overload

    from typing_extensions import Concatenate, ParamSpec

    from ..containers.tensor import DistributedTensor
    from ..containers.types import Made

    P = ParamSpec("P")

    class Along(Protocol[P]):
        """Functions of a container and an axis; checkers know the further parameters from the function itself."""

        @overload
        def __call__(self, a: DistributedTensor, axis: int, *args: P.args, **kwargs: P.kwargs) -> Made: ...
        @overload
        def __call__(self, a: Any, axis: Any = ..., *args: P.args, **kwargs: P.kwargs) -> Any: ...


def along(function: Callable[Concatenate[Any, Any, P], Any], /) -> Along[P]:
    """Say for type checkers that a function reduces along its second parameter."""
    return cast("Along[P]", function)
