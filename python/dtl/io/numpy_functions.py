"""NumPy's functions that write arrays to files, for containers: each rank writes its part."""

from __future__ import annotations

import os
from typing import Any

from ..exceptions import InvalidTypeError
from .files import save as save_file


def _named(file: Any, ending: str) -> str:
    """Return a path with the ending that NumPy gives it."""
    try:
        path = os.fspath(file)
    except TypeError:
        raise InvalidTypeError(f"file must be a path, not {type(file).__name__}: the ranks write one file") from None
    if not isinstance(path, str):
        path = os.fsdecode(path)
    return path if path.endswith(ending) else path + ending


def save(file: Any, arr: Any, allow_pickle: bool = True, fix_imports: Any = None) -> None:
    """Write a container to an ``.npy`` file. Collective."""
    save_file(arr, _named(file, ".npy"), format="npy")


def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write containers to an ``.npz`` file, by their names or as ``arr_0``, ``arr_1`` and so on. Collective."""
    arrays = dict(kwds)
    for place, c in enumerate(args):
        if f"arr_{place}" in arrays:
            raise InvalidTypeError(f"Cannot use un-named variables and keyword arr_{place}")
        arrays[f"arr_{place}"] = c
    save_file(arrays, _named(file, ".npz"), format="npz")
