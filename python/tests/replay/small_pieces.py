"""Makes what goes over elements on disk in pieces do so from a few bytes on, so that small arrays have several.

The limit of memory that the Python package asks for, and the sizes of its pieces, are numbers of modules and defaults
of parameters, which become SIZE. The limit that the core has is large: there, nothing is short.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import FunctionType

import dtl
from dtl._native import library

#: How many bytes, elements or rows a piece has, and for how many pieces there is memory.
SIZE, PIECES = 64, 16

#: The packages that go over elements. Those of random numbers decide by their blocks which numbers are drawn.
_PACKAGES = (
    *("dtl.algorithms.", "dtl.array_standard.", "dtl.containers.", "dtl.fft.", "dtl.linalg.", "dtl.protocol."),
    "dtl.runtime.",
)

#: What sizes are called there, and from what number on they are sizes.
_NAMES = {
    *("BLOCK", "ROWS", "_AT_A_TIME", "_AT_ONCE", "_BLOCK", "_CACHED", "_CHUNK", "_FOLDED", "_LARGE", "_LEAST", "_MANY"),
    *("_MUCH", "_PACKED", "_PANELS", "_PIECE", "_ROW", "_SMALL", "_TASK", "_TILE", "_TOGETHER"),
}
_LEAST = 1 << 12


def make_small() -> None:
    """Set a limit of memory, and make pieces small."""
    for found in pkgutil.walk_packages(dtl.__path__, "dtl."):
        if f"{found.name}.".startswith(_PACKAGES):
            importlib.import_module(found.name)
    dtl.set_memory_limit(2 << 30)
    library.memory_limit = lambda: SIZE * PIECES
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(_PACKAGES)]
    sizes = set()
    for module in modules:
        for name, value in list(vars(module).items()):
            if name in _NAMES and type(value) is int and value >= _LEAST:
                sizes.add(value)
                setattr(module, name, SIZE)
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, FunctionType) and value.__defaults__:
                value.__defaults__ = tuple(SIZE if type(d) is int and d in sizes else d for d in value.__defaults__)
