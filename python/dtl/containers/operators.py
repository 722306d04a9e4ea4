"""The types of operators on containers. At run time, they are those of ``bridge.Container``.

Of operands that are containers, numbers and arrays, an operator makes a container of the kind of its first operand; but
where a vector meets a tensor, it makes a tensor, and of a span, which owns nothing, a vector or a tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Callable, ClassVar, Protocol, TypeVar, Union, overload

    import numpy as np

    from .base import DistributedContainer
    from .owning import OwningContainer
    from .sequences import OneDimensional
    from .span import DistributedSpan
    from .tensor import DistributedTensor
    from .types import Made

    Number = Union[int, float, complex, np.generic]
    Own = TypeVar("Own", bound=OwningContainer)
    Line = TypeVar("Line", bound=OneDimensional)
    Line_co = TypeVar("Line_co", bound=OneDimensional, covariant=True)

    class _OfLine(Protocol[Line_co]):
        @overload
        def __call__(self, other: Number | OneDimensional, /) -> Line_co: ...
        @overload
        def __call__(self, other: DistributedTensor, /) -> DistributedTensor: ...
        @overload
        def __call__(self, other: Any, /) -> Any: ...

    class Binary:
        """An operator of two operands."""

        @overload
        def __get__(self, instance: Line, owner: Any = ..., /) -> _OfLine[Line]: ...
        @overload
        def __get__(self, instance: DistributedTensor, owner: Any = ..., /) -> Callable[[Any], DistributedTensor]: ...
        @overload
        def __get__(self, instance: DistributedSpan, owner: Any = ..., /) -> Callable[[Any], Made]: ...
        @overload
        def __get__(self, instance: DistributedContainer, owner: Any = ..., /) -> Callable[[Any], Any]: ...
        def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...

    class InPlace:
        """An operator that writes to its first operand."""

        def __get__(self, instance: Own, owner: Any = ..., /) -> Callable[[Any], Own]: ...

    class Unary:
        """An operator of one operand."""

        @overload
        def __get__(self, instance: Own, owner: Any = ..., /) -> Callable[[], Own]: ...
        @overload
        def __get__(self, instance: DistributedSpan, owner: Any = ..., /) -> Callable[[], Made]: ...
        @overload
        def __get__(self, instance: DistributedContainer, owner: Any = ..., /) -> Callable[[], Any]: ...
        def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...

    class OfOne:
        """A function of each element of a container."""

        @overload
        def __call__(self, x: Own, /) -> Own: ...
        @overload
        def __call__(self, x: Any, /) -> Any: ...
        def __call__(self, x: Any, /) -> Any:
            """Return a container of the function's values."""

    class OfTwo:
        """A function of the elements of two operands."""

        @overload
        def __call__(self, x1: Line, x2: Number | OneDimensional, /) -> Line: ...
        @overload
        def __call__(self, x1: DistributedTensor, x2: Any, /) -> DistributedTensor: ...
        @overload
        def __call__(self, x1: Number | OneDimensional, x2: DistributedTensor, /) -> DistributedTensor: ...
        @overload
        def __call__(self, x1: Number, x2: Line, /) -> Line: ...
        @overload
        def __call__(self, x1: Any, x2: Any, /) -> Any: ...
        def __call__(self, x1: Any, x2: Any, /) -> Any:
            """Return a container of the function's values."""

    class Transposed:
        """An attribute that is a container of the same kind."""

        @overload
        def __get__(self, instance: Own, owner: Any = ..., /) -> Own: ...
        @overload
        def __get__(self, instance: DistributedSpan, owner: Any = ..., /) -> Made: ...
        @overload
        def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...
        def __get__(self, instance: Any, owner: Any = None, /) -> Any: ...

    class Operators:
        """The operators."""

        __hash__: ClassVar[None]  # type: ignore[assignment]
        __eq__: Binary  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]
        __ne__: Binary  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]
        __lt__ = __le__ = __gt__ = __ge__ = Binary()
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = Binary()
        __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = Binary()
        __pow__ = __rpow__ = __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = Binary()
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = Binary()
        __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = InPlace()
        __ilshift__ = __irshift__ = __iand__ = __ior__ = __ixor__ = __imatmul__ = InPlace()
        __neg__ = __pos__ = __invert__ = Unary()

        # A method: what looks for one, such as the protocol of abs, knows no other attribute for it.
        @overload
        def __abs__(self: Own) -> Own: ...  # type: ignore[misc]  # a mixin of it
        @overload
        def __abs__(self) -> Any: ...
        def __abs__(self) -> Any: ...

        def __matmul__(self, other: Any) -> Any: ...
        def __rmatmul__(self, other: Any) -> Any: ...
        def __divmod__(self, other: Any) -> tuple[Any, Any]: ...
        def __rdivmod__(self, other: Any) -> tuple[Any, Any]: ...

else:

    class Operators:
        """Nothing: each operator is a slot of the type in C."""
