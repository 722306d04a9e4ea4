"""A plugin of pytest that keeps the calls of NumPy which tests make, or the packages that they test.

The functions that make arrays return arrays of a class of its own, which NumPy's functions, ufuncs and operators hand
to it. ``REPLAY_RECORD`` names the file that calls are appended to, ``REPLAY_SECONDS`` the time that the tests have.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random
import threading
import time
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from calls import Call, UnkeptError, plain, shape_class, written

#: Of calls that have function, keywords, dtypes and numbers of dimensions in common, this many are kept.
ALIKE = 2

#: What makes arrays, by the module that has it.
_MAKERS = {
    np: "array asarray asanyarray ascontiguousarray arange zeros ones empty full linspace logspace geomspace eye "
    "identity indices fromiter frombuffer fromfunction tri",
    np.random: "rand randn randint random random_sample uniform normal permutation choice",
}

#: The methods of arrays that are no calls of mathematics, or that say how this array lies in memory.
_UNKEPT = frozenset(
    "view setflags dump dumps tofile tobytes tostring getfield setfield newbyteorder itemset resize".split()  # noqa: SIM905
)
_METHODS = [name for name in dir(np.ndarray) if name[0] != "_" and callable(getattr(np.ndarray, name))]
_METHODS = [name for name in _METHODS if name not in _UNKEPT]

_inside = threading.local()
_seen: dict[Any, int] = {}


@contextlib.contextmanager
def _once() -> Iterator[bool]:
    """Say whether this is a call of a program, and not one that NumPy makes within it."""
    outer = not getattr(_inside, "a_call", False)
    _inside.a_call = True
    try:
        yield outer
    finally:
        if outer:
            _inside.a_call = False


def _keep(kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    try:
        call = Call(kind, name, plain(args), plain(kwargs))
        alike = (kind, name, shape_class(call.args), shape_class(call.kwargs))
        if _seen.get(alike, 0) < ALIKE:
            _seen[alike] = _seen.get(alike, 0) + 1
            with open(os.environ["REPLAY_RECORD"], "ab") as file:
                file.write(written(call))
    except UnkeptError:
        pass


def _base(value: Any) -> Any:
    if type(value) is Recorded:
        return value.view(np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(map(_base, value))
    return value


def _recorded(value: Any) -> Any:
    """Return a result whose calls are kept, too: not one of objects, which are not kept, and which pandas resizes."""
    if type(value) is np.ndarray and not value.dtype.hasobject:
        return value.view(Recorded)
    if type(value) in (list, tuple):
        return type(value)(map(_recorded, value))
    return value


class Recorded(np.ndarray):  # type: ignore[type-arg]
    """An array of which the calls are kept."""

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        with _once() as outer:
            if outer:
                _keep("function", f"{func.__module__}:{func.__name__}", args, kwargs)
            return _recorded(super().__array_function__(func, types, args, kwargs))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        with _once() as outer:
            if outer:
                home = "numpy" if getattr(np, ufunc.__name__, None) is ufunc else "scipy.special"
                name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
                _keep("ufunc", f"{home}:{name}", inputs, kwargs)
            out = kwargs.get("out")
            result = getattr(ufunc, method)(*_base(inputs), **{key: _base(value) for key, value in kwargs.items()})
            if out is not None:
                return out[0] if len(out) == 1 else out
            return _recorded(result)

    def __getitem__(self, key: Any) -> Any:
        with _once() as outer:
            if outer:
                _keep("method", "__getitem__", (self, key), {})
            return _recorded(self.view(np.ndarray)[_base(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        with _once() as outer:
            if outer:
                _keep("method", "__setitem__", (self, key, value), {})
            self.view(np.ndarray)[_base(key)] = _base(value)


def _method(name: str) -> Callable[..., Any]:
    of = getattr(np.ndarray, name)

    @functools.wraps(of)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _once() as outer:
            if outer:
                _keep("method", name, (self, *args), kwargs)
            result = of(self.view(np.ndarray), *_base(args), **{key: _base(value) for key, value in kwargs.items()})
            return _recorded(result)

    return called


for _name in _METHODS:
    setattr(Recorded, _name, _method(_name))


def _maker(of: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(of)
    def made(*args: Any, **kwargs: Any) -> Any:
        result = of(*args, **kwargs)
        if type(result) is np.ndarray and args and type(args[0]) is Recorded:
            kept = args[0].view(np.ndarray)
            if kept.ctypes.data == result.ctypes.data and (kept.dtype, kept.strides) == (result.dtype, result.strides):
                return args[0] if kept.shape == result.shape else _recorded(result)
        return _recorded(result) if type(result) is np.ndarray else result

    return made


def pytest_configure() -> None:
    for module, names in _MAKERS.items():
        for name in names.split():
            setattr(module, name, _maker(getattr(module, name)))


_until = float("inf")


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Mix the tests, so that those that the time is enough for are of many kinds."""
    global _until
    random.Random(len(items)).shuffle(items)
    _until = time.monotonic() + float(os.environ["REPLAY_SECONDS"])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: Any) -> None:
    if time.monotonic() > _until:
        item.session.shouldstop = "the time is over"
        pytest.skip("the time is over")
