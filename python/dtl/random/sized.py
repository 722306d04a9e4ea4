"""The types of methods that draw numbers: what they return follows from the size that they are given.

A decorator names the position of the parameter ``size``. For a type checker, the method then returns a vector where the
size is one extent, a tensor where it is several, and a number or either of them else. When the program runs, the
decorators change nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from typing import Protocol, TypeVar, overload

    from typing_extensions import Concatenate, ParamSpec

    from ..containers.sequences import DistributedVector
    from ..containers.tensor import DistributedTensor
    from ..containers.types import OneExtent, SomeExtents

    P = ParamSpec("P")
    Result_co = TypeVar("Result_co", covariant=True)  # what there is for one extent

    class First(Protocol[P, Result_co]):
        """Methods whose first parameter is the size."""

        @overload
        def __call__(self, size: OneExtent, /, *options: Any, **named: Any) -> Result_co: ...
        @overload
        def __call__(self, size: SomeExtents, /, *options: Any, **named: Any) -> DistributedTensor: ...
        @overload
        def __call__(self, *, size: OneExtent, **named: Any) -> Result_co: ...
        @overload
        def __call__(self, *, size: SomeExtents, **named: Any) -> DistributedTensor: ...
        @overload
        def __call__(self, *args: P.args, **named: P.kwargs) -> Any: ...

    class Second(Protocol[P, Result_co]):
        """Methods whose second parameter is the size."""

        @overload
        def __call__(self, a: Any, size: OneExtent, /, *options: Any, **named: Any) -> Result_co: ...
        @overload
        def __call__(self, a: Any, size: SomeExtents, /, *options: Any, **named: Any) -> DistributedTensor: ...
        @overload
        def __call__(self, *a: Any, size: OneExtent, **named: Any) -> Result_co: ...
        @overload
        def __call__(self, *a: Any, size: SomeExtents, **named: Any) -> DistributedTensor: ...
        @overload
        def __call__(self, *args: P.args, **named: P.kwargs) -> Any: ...

    class Third(Protocol[P, Result_co]):
        """Methods whose third parameter is the size."""

        @overload
        def __call__(self, a: Any, b: Any, size: OneExtent, /, *options: Any, **named: Any) -> Result_co: ...
        @overload
        def __call__(self, a: Any, b: Any, size: SomeExtents, /, *options: Any, **named: Any) -> DistributedTensor: ...
        @overload
        def __call__(self, *a: Any, size: OneExtent, **named: Any) -> Result_co: ...
        @overload
        def __call__(self, *a: Any, size: SomeExtents, **named: Any) -> DistributedTensor: ...
        @overload
        def __call__(self, *args: P.args, **named: P.kwargs) -> Any: ...

    class Fourth(Protocol[P, Result_co]):
        """Methods whose fourth parameter is the size."""

        @overload
        def __call__(self, a: Any, b: Any, c: Any, size: OneExtent, /, **named: Any) -> Result_co: ...
        @overload
        def __call__(self, a: Any, b: Any, c: Any, size: SomeExtents, /, **named: Any) -> DistributedTensor: ...
        @overload
        def __call__(self, *a: Any, size: OneExtent, **named: Any) -> Result_co: ...
        @overload
        def __call__(self, *a: Any, size: SomeExtents, **named: Any) -> DistributedTensor: ...
        @overload
        def __call__(self, *args: P.args, **named: P.kwargs) -> Any: ...

    class Chosen(Protocol[P]):
        """What draws elements of something: numbers below an integer, or elements of an array or a container."""

        @overload
        def __call__(self, a: int, /) -> int: ...
        @overload
        def __call__(
            self, a: int | DistributedVector, size: OneExtent, /, *options: Any, **named: Any
        ) -> DistributedVector: ...
        @overload
        def __call__(self, a: int | DistributedVector, /, *, size: OneExtent, **named: Any) -> DistributedVector: ...
        @overload
        def __call__(self, a: Any, size: SomeExtents, /, *options: Any, **named: Any) -> DistributedTensor: ...
        @overload
        def __call__(self, a: Any, /, *, size: SomeExtents, **named: Any) -> DistributedTensor: ...
        @overload
        def __call__(self, *args: P.args, **named: P.kwargs) -> Any: ...

    Method = Callable[Concatenate[Any, P], Any]

    sized_first: Callable[[Method[P]], First[P, DistributedVector]]
    sized_second: Callable[[Method[P]], Second[P, DistributedVector]]
    sized_third: Callable[[Method[P]], Third[P, DistributedVector]]
    sized_fourth: Callable[[Method[P]], Fourth[P, DistributedVector]]

    chosen: Callable[[Method[P]], Chosen[P]]

    # Those that draw rows: there is a dimension more than the size has.
    rows_second: Callable[[Method[P]], Second[P, DistributedTensor]]
    rows_third: Callable[[Method[P]], Third[P, DistributedTensor]]

else:

    def _unchanged(method: Callable[..., Any]) -> Callable[..., Any]:
        return method

    sized_first = sized_second = sized_third = sized_fourth = chosen = rows_second = rows_third = _unchanged
