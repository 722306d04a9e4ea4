"""Functions, arguments and results as bytes: by pickle as far as that goes, else by cloudpickle, if it is there."""

from __future__ import annotations

import collections
import io
import pickle
import sys
import types
from typing import Any, Callable

from ..exceptions import InvalidTypeError

_MISSING = (
    "functions and classes of a notebook or a script, lambdas, and functions within functions need cloudpickle: "
    "pip install cloudpickle, or move them to a module"
)


def pack(thing: Any) -> bytes:
    """Return a thing as bytes.

    Raises
    ------
    InvalidTypeError
        If it, or something in it, cannot be sent; the text says why.
    """
    stream = io.BytesIO()
    try:
        _Pickler(stream, protocol=5).dump(thing)
        return stream.getvalue()
    except Exception as error:  # classes say by any exception that they cannot be pickled
        cloudpickle = _cloudpickle()
        if cloudpickle is None:
            raise InvalidTypeError(f"{error}; {_MISSING}") from error
    try:
        stream = io.BytesIO()
        _by_value(cloudpickle.CloudPickler)(stream, protocol=5).dump(thing)
        return stream.getvalue()
    except Exception as error:
        raise InvalidTypeError(str(error) or type(error).__name__) from error


def unpack(data: bytes) -> Any:
    """Return the thing that these bytes stand for."""
    return pickle.loads(data)


def unpack_in_main(data: bytes) -> Any:
    """Return the thing that these bytes stand for; functions of the sender's ``__main__`` become this one's."""
    return _Unpickler(io.BytesIO(data)).load()


def _cloudpickle() -> Any:
    try:
        import cloudpickle  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        return None
    return cloudpickle


class _Pickler(pickle.Pickler):
    """Refuses what standard pickle sends by name only, although no rank knows that name."""

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, (type, types.FunctionType)) and thing.__module__ == "__main__":
            raise pickle.PicklingError(f"{thing.__qualname__} is of __main__")
        return NotImplemented


def _by_value(base: Any) -> Any:
    """Return cloudpickle's pickler, with which code keeps the name of its file, for tracebacks and reports.

    From its version 3.1.2 on, cloudpickle sends ``<dynamic-code>`` in its place.
    """
    reduce = base.dispatch_table[types.CodeType]

    def reduce_code(code: types.CodeType) -> tuple[Any, ...]:
        make, arguments = reduce(code)
        return make, tuple(code.co_filename if each == "<dynamic-code>" else each for each in arguments)

    table = collections.ChainMap({types.CodeType: reduce_code}, base.dispatch_table)
    return type("Pickler", (base,), {"dispatch_table": table})


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name)
        return _make_in_main(found) if name == "_make_function" and module.startswith("cloudpickle") else found


def _make_in_main(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return cloudpickle's maker of functions, with which those of ``__main__`` share its namespace."""

    def made(code: types.CodeType, namespace: dict[str, Any], *more: Any) -> Any:
        main = vars(sys.modules["__main__"])
        return make(code, main if namespace.get("__name__") == "__main__" else namespace, *more)

    return made
