"""Lazy imports: what a program does not use is not imported.

The stub ``__init__.pyi`` says where each public name is. Type checkers read it, and so does ``attach``, as
``lazy_loader`` of scikit-image does: there is no second table that could differ from it.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, Callable, Iterable


def attach(package: str, eager: Iterable[str] = ()) -> tuple[Callable[[str], Any], list[str]]:
    """Return a function that imports a name of a package when it is asked for, and the names that there are.

    The eager modules are imported at once, with all of their names.
    """
    module = sys.modules[package]
    homes = names_of(os.path.join(os.path.dirname(str(module.__file__)), "__init__.pyi"))

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = importlib.import_module(homes[name], package)
        value = home if homes[name] == f".{name}" else getattr(home, name)
        setattr(module, name, value)
        return value

    for name, home in homes.items():
        if home in eager:
            load(name)
    return load, list(homes)


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
