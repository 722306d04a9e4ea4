"""Lazy imports: what a program does not use is not imported.

Imports point one way through the packages, and so do late calls, which are imports when they are first made.

The stub ``__init__.pyi`` says where each public name is. Type checkers read it, and so does ``attach``, as
``lazy_loader`` of scikit-image does: there is no second table that could differ from it.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from typing import Any, Callable, Iterable

#: What says more of a name that a package does not have: ``unknown_name`` of runtime.hints, which ``protocol`` adds.
explain: dict[str, Callable[[str, str, Iterable[str]], str]] = {}


#: What makes tables and sparse matrices of files and checkpoints: of packages above ``io``, which ``protocol`` adds.
readers: dict[str, Callable[..., Any]] = {}


def attach(package: str, eager: Iterable[str] = ()) -> tuple[Callable[[str], Any], list[str]]:
    """Return a function that imports a name of a package when it is asked for, and the names that there are.

    The eager modules are imported at once, with all of their names.
    """
    module = sys.modules[package]
    homes = names_of(os.path.join(os.path.dirname(str(module.__file__)), "__init__.pyi"))

    def load(name: str) -> Any:
        if name not in homes:
            text = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(text if name.startswith("_") else explain["unknown name"](package, name, homes))
        home = importlib.import_module(homes[name], package)
        value = home if homes[name] == f".{name}" else getattr(home, name)
        say_public(value, package)
        setattr(module, name, value)
        return value

    for name, home in homes.items():
        if home in eager:
            load(name)
    return load, list(homes)


def say_public(function: Any, module: str) -> None:
    """Let a function of a package's module say that it is the module's that programs import it from.

    So do pickles and help. A public class says so in its body, because its objects may come before its name.
    """
    function = getattr(function, "__func__", function)  # of a class method that is a function, too
    while callable(function) and not isinstance(function, type) and function.__module__.count(".") > 1:
        with contextlib.suppress(AttributeError):  # a ShortCall has what the function behind it has
            function.__module__ = module
        function = getattr(function, "__wrapped__", None)


def names_of(stub: str) -> dict[str, str]:
    """Return the names that a stub imports, and the module of each.

    The stub has them line by line: ``from .module import name as name``, or ``from . import module as module``.
    """
    homes = {}
    with open(stub, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("from ."):
                _, home, _, name, *_ = line.split()
                homes[name] = f".{name}" if home == "." else home
    return homes


def public(name: str) -> Any:
    """Return what the package has by a public name; None if it has none."""
    return getattr(sys.modules[__package__], name) if name in sys.modules[__package__].__dir__() else None


def loaded(home: str, name: str) -> Any:
    """Return what a module of the package has by a name. The module is imported if need be."""
    return getattr(importlib.import_module(home, __package__), name)


def late(home: str, name: str) -> Callable[..., Any]:
    """Return a function that calls one of another module, which is imported for the first call."""
    function: Callable[..., Any] | None = None

    def there() -> Callable[..., Any]:
        nonlocal function
        if function is None:
            function = getattr(importlib.import_module(home, __package__), name)
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        return (function or there())(*args, **kwargs)

    call.__name__, call.__module__ = name, f"{__package__}{home}"
    call.there = there  # type: ignore[attr-defined]
    return call


#: What gives a class of a lower package the methods that packages above it have for it, by the name of the class.
extensions: dict[str, Callable[[type[Any]], None]] = {}


def extend(cls: type[Any]) -> None:
    """Give a class the methods that packages above it have for it: the last line of the class's module."""
    if cls.__name__ in extensions:
        extensions[cls.__name__](cls)
