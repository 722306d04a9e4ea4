"""The methods of containers that packages above them have: NumPy's protocols, and one-sided access."""

from __future__ import annotations

from typing import Any

from .array_function import ReductionMethods
from .array_methods import ArrayMethods
from .array_object import ArrayObject
from .functions import Function
from .subscripts import Subscripts
from .ufuncs import Elementwise
from .windows import WindowMethods

#: The classes that say which methods containers have. The first that has a name counts.
_CLASSES = (Elementwise, Subscripts, ReductionMethods, ArrayMethods, ArrayObject, WindowMethods)

#: What a class has of its own.
_OWN = {"__slots__", "__dict__", "__weakref__"}


def install(container: type[Any]) -> None:
    """Give the class of all containers its methods, except for those that it has itself."""
    for cls in _CLASSES:
        for name, value in vars(cls).items():
            if name in _OWN or name in vars(container):
                continue
            if isinstance(value, Function):
                value.put(container)
            else:
                setattr(container, name, value)
