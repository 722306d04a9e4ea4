"""Watches the destructors of all tests: what communicates is refused to them."""

from __future__ import annotations

import functools
import importlib
import inspect
import io
import pkgutil
import sys
from types import FrameType
from typing import Any, Callable, Iterator

import dtl
from dtl._native import library

#: The calls that destructors have made, and should not have.
offences: list[str] = []


def classes() -> Iterator[type]:
    """Yield each class of the package that has a destructor, its own or another's, but files', which are Python's."""
    for module in pkgutil.walk_packages(dtl.__path__, "dtl."):
        if not module.name.endswith("__main__"):
            for made in _contents(module.name):
                ours = inspect.isclass(made) and made.__module__.split(".")[0] == "dtl"
                if ours and hasattr(made, "__del__") and not issubclass(made, io.IOBase):
                    yield made


def _with_own() -> Iterator[type]:
    """Yield each class that has a destructor of its own. Modules without one are not imported, for that takes long."""
    for module in pkgutil.walk_packages(dtl.__path__, "dtl."):
        spec = module.module_finder.find_spec(module.name, None)  # type: ignore[call-arg]
        source = spec.loader.get_source(module.name) if spec is not None else None  # type: ignore[union-attr]
        if source is not None and "__del__" in source:
            yield from (made for made in _contents(module.name) if inspect.isclass(made) and "__del__" in vars(made))


def _contents(module: str) -> list[Any]:
    """Return what a module has: of one for a package that is not installed, such as matplotlib, nothing."""
    try:
        return list(vars(importlib.import_module(module)).values())
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "dtl":
            raise
        return []


def _watched(destructor: Callable[[Any], None]) -> Callable[[Any], None]:
    @functools.wraps(destructor)
    def destroy(self: Any) -> None:
        before = sys.getprofile()
        sys.setprofile(functools.partial(_note, type(self).__name__))
        try:
            destructor(self)
        finally:
            sys.setprofile(before)

    return destroy


def _note(who: str, frame: FrameType, event: str, called: Any) -> None:
    """Note a call to the core that communicates. A profiler sees it, and is no part of the program that calls."""
    if event != "call" or frame.f_code is not library._communicate.__code__:
        return
    function, arguments = frame.f_locals["function"], frame.f_locals["args"]
    # Of a context of one process, which goes with its object, nobody else knows.
    if function is not library.context_close.args[1] or library.context_size(arguments[0]) > 1:  # type: ignore[attr-defined]
        offences.append(f"the destructor of {who} called {function.__name__}")


def watch() -> None:
    """Note what destructors call from now on."""
    for made in set(_with_own()):
        made.__del__ = _watched(made.__del__)  # type: ignore[attr-defined]
