"""Calls of NumPy that are kept: what is called, and with what."""

from __future__ import annotations

import functools
import importlib
import pickle
from pathlib import Path
from typing import Any, Iterator, NamedTuple

import numpy as np

#: Arrays with more elements are not kept, nor calls with more in all.
MOST_ELEMENTS = 2000

#: Values that are kept as they are, beside arrays and what holds them.
_PLAIN = (type(None), bool, int, float, complex, str, bytes, slice, range, type(...), np.generic, np.dtype, np.ufunc)


class Call(NamedTuple):
    """A call of a function (``numpy.linalg:norm``), a ufunc's method (``numpy:add.reduce``) or an array's method."""

    kind: str  # "function", "ufunc" or "method"; of a method, the array is the first argument
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class UnkeptError(Exception):
    """A call has an argument that is not kept: an object of another package, or a large one."""


def plain(value: Any) -> Any:
    """Return an argument with arrays of NumPy's own class; raise UnkeptError if it has what is not kept."""
    if isinstance(value, np.ndarray):
        if isinstance(value, (np.matrix, np.ma.MaskedArray, np.recarray)) or value.dtype.hasobject:
            raise UnkeptError
        if value.size > MOST_ELEMENTS:
            raise UnkeptError
        plain_array = value.view(np.ndarray)
        return plain_array.copy() if value.ndim and not value.flags.c_contiguous else plain_array
    if isinstance(value, np.generic) and value.dtype.hasobject:
        raise UnkeptError
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    if type(value) is dict:
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, _PLAIN) or value is np._NoValue:
        return value
    if isinstance(value, type) and (value.__module__ == "builtins" or issubclass(value, np.generic)):
        return value
    if getattr(value, "__module__", "").split(".")[0] == "numpy" and hasattr(np, getattr(value, "__name__", "-")):
        return value
    raise UnkeptError


def shape_class(value: Any) -> Any:  # noqa: PLR0911 - a kind of value each
    """Return what calls have in common of which a few are enough: types, dtypes, numbers of dimensions, and words."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, tuple(min(extent, 2) for extent in value.shape)
    if isinstance(value, (list, tuple)):
        return type(value).__name__, min(len(value), 4), tuple(shape_class(each) for each in value[:4])
    if isinstance(value, dict):
        return tuple((key, shape_class(value[key])) for key in sorted(value))
    if isinstance(value, slice):
        return "slice", *(shape_class(each) for each in (value.start, value.stop, value.step))
    if isinstance(value, (bool, type(None), np.dtype, type)):
        return str(value)
    if isinstance(value, int):
        return "int", min(max(value, -2), 2)
    if isinstance(value, str):
        return value[:12]
    return type(value).__name__


def written(call: Call) -> bytes:
    """Return the bytes of a call."""
    return pickle.dumps(tuple(call), protocol=4)


def read(file: Path) -> Iterator[Call]:
    """Read the calls of a file, of which the last may be incomplete."""
    with open(file, "rb") as stream:
        while True:
            try:
                yield Call(*pickle.load(stream))
            except (EOFError, pickle.UnpicklingError):
                return


@functools.lru_cache(maxsize=None)
def target(kind: str, name: str) -> Any:
    """Return the function that a call names; of a method, a function that takes the array first."""
    if kind == "method":
        return _method(name)
    home, _, path = name.partition(":")
    found: Any = importlib.import_module(home)
    for word in path.split("."):
        found = getattr(found, word)
    return found


def _method(name: str) -> Any:
    def called(array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, name)(*args, **kwargs)

    return called


def shown(call: Call) -> str:
    """Return a call as a program writes it, shortened."""
    words = [*map(_shown, call.args), *(f"{key}={_shown(value)}" for key, value in call.kwargs.items())]
    if call.kind == "method":
        return f"{words[0]}.{call.name}({', '.join(words[1:])})"
    home, _, path = call.name.partition(":")
    return f"{home.replace('numpy', 'np', 1)}.{path}({', '.join(words)})"


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        text = np.array2string(value, separator=", ", threshold=12).replace("\n", "")
        return f"array({text}, {value.dtype.str!r})" if value.size < 13 else f"<{value.dtype} {value.shape}>"
    if isinstance(value, (list, tuple)):
        text = ", ".join(map(_shown, value[:6])) + (", ..." if len(value) > 6 else "")
        return f"[{text}]" if isinstance(value, list) else f"({text}{',' * (len(value) == 1)})"
    return value.__name__ if isinstance(value, (type, np.ufunc)) else repr(value)[:60]
