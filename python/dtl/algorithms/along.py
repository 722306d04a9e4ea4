"""Types of functions: of those that reduce along a dimension, and that return a container like the one that they get.

When the program runs, the decorators change nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from typing import Callable, Protocol, overload

    from typing_extensions import Concatenate, ParamSpec

    from ..containers.sequences import DistributedVector, Line, OneDimensional
    from ..containers.tensor import DistributedTensor
    from ..containers.types import Made, Owned

    P = ParamSpec("P")

    class Along(Protocol[P]):
        """Functions of a container and an axis; checkers know the further parameters from the function itself."""

        @overload
        def __call__(self, a: DistributedTensor, axis: int, *args: P.args, **kwargs: P.kwargs) -> Made: ...
        @overload
        def __call__(self, a: Any, axis: Any = ..., *args: P.args, **kwargs: P.kwargs) -> Any: ...

    class AlongThird(Protocol[P]):
        """Functions of a container, of fractions, and of an axis."""

        @overload
        def __call__(self, c: DistributedTensor, q: Any, axis: int, **named: Any) -> Made: ...
        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...

    class Cumulative(Protocol[P]):
        """Functions of a container and an axis whose result has as many elements, in one line without an axis."""

        @overload
        def __call__(self, a: Owned, axis: int, *args: P.args, **kwargs: P.kwargs) -> Owned: ...
        @overload
        def __call__(self, a: Line, axis: None = ..., *args: P.args, **kwargs: P.kwargs) -> Line: ...
        @overload
        def __call__(self, a: Any, axis: Any = ..., *args: P.args, **kwargs: P.kwargs) -> Any: ...

    class SameClass(Protocol[P]):
        """Functions of a container that return one of its class, or of a span's container."""

        @overload
        def __call__(self, a: Owned, *args: P.args, **kwargs: P.kwargs) -> Owned: ...
        @overload
        def __call__(self, a: Any, *args: P.args, **kwargs: P.kwargs) -> Any: ...

    class AsManyDimensions(Protocol[P]):
        """Functions of a container that return another one of as many dimensions."""

        @overload
        def __call__(self, a: OneDimensional, *args: P.args, **kwargs: P.kwargs) -> DistributedVector: ...
        @overload
        def __call__(self, a: DistributedTensor, *args: P.args, **kwargs: P.kwargs) -> DistributedTensor: ...
        @overload
        def __call__(self, a: Any, *args: P.args, **kwargs: P.kwargs) -> Any: ...


def along(function: Callable[Concatenate[Any, Any, P], Any], /) -> Along[P]:
    """Say for type checkers that a function reduces along its second parameter."""
    return cast("Along[P]", function)


def along_third(function: Callable[P, Any], /) -> AlongThird[P]:
    """Say for type checkers that a function reduces along its third parameter."""
    return cast("AlongThird[P]", function)


def cumulative(function: Callable[Concatenate[Any, Any, P], Any], /) -> Cumulative[P]:
    """Say for type checkers that a function cumulates along its second parameter."""
    return cast("Cumulative[P]", function)


def same_class(function: Callable[Concatenate[Any, P], Any], /) -> SameClass[P]:
    """Say for type checkers that a function returns a container of the class of its first parameter."""
    return cast("SameClass[P]", function)


def as_many_dimensions(function: Callable[Concatenate[Any, P], Any], /) -> AsManyDimensions[P]:
    """Say for type checkers that a function returns a container of as many dimensions as its first parameter has."""
    return cast("AsManyDimensions[P]", function)
