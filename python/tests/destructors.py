"""Watches the destructors of all tests: what communicates is refused to them."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import threading
from typing import Any, Callable, Iterator

import dtl
from dtl import _native

#: The calls that destructors have made, and should not have.
offences: list[str] = []

_here = threading.local()


def classes() -> Iterator[type]:
    """Yield each class of the package that has a destructor, its own or another's."""
    for module in pkgutil.walk_packages(dtl.__path__, "dtl."):
        if not module.name.endswith("__main__"):
            for made in vars(importlib.import_module(module.name)).values():
                if inspect.isclass(made) and made.__module__ == module.name and hasattr(made, "__del__"):
                    yield made


def _watched(destructor: Callable[[Any], None], here: Any = _here) -> Callable[[Any], None]:
    @functools.wraps(destructor)
    def destroy(self: Any) -> None:
        outer, here.name = getattr(here, "name", ""), type(self).__name__
        try:
            destructor(self)
        finally:
            here.name = outer

    return destroy


def _refused(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any) -> Any:
        who = getattr(_here, "name", "")
        # Of a context of one process, which goes with its object, nobody else knows.
        if who and not (name == "context_close" and _native.context_size(args[0]) == 1):
            offences.append(f"the destructor of {who} called {name}")
        return function(*args)

    return call


def watch() -> None:
    """Note what destructors call from now on."""
    for made in set(classes()):
        if "__del__" in vars(made):
            made.__del__ = _watched(made.__del__)  # type: ignore[attr-defined]
    for name, function in list(vars(_native).items()):
        if isinstance(function, functools.partial) and function.func is _native._communicate:
            setattr(_native, name, _refused(name, function))
