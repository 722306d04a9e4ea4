"""Libraries for arrays on a GPU, whose arrays the functions of users get: CuPy, PyTorch, Numba, and others with DLPack.

A library's stream and those of DTL wait for each other on the GPU: by DLPack, which each array is handed over with, and
with Numba by its default streams.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import nullcontext
from types import ModuleType
from typing import Any, ContextManager, Union

import numpy as np

from ..exceptions import BackendUnavailableError, InvalidArgumentError, InvalidTypeError
from .device_array import DeviceArray, capsule_of, memory_of_array, readable

#: How a caller names a library: by its name, or as the module; None is the one that the program has imported.
LibraryLike = Union[str, ModuleType, None]

#: The libraries that are looked for where the caller names none, and what installs them.
_KNOWN = {
    "cupy": "pip install cupy-cuda12x",
    "torch": "pip install torch",
    "numba.cuda": "pip install 'numba-cuda[cu12]'",
}

#: The driver's numbers of the default stream of all threads, and of that of each: Numba's is one of them.
_DEFAULT_STREAMS = (1, 2)


class Library:
    """A library whose ``from_dlpack`` makes an array of a DeviceArray, as the array API standard has it."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self.name = str(module.__name__)

    def on(self, device: int) -> ContextManager[Any]:
        """Return a block in which the library works on a GPU."""
        if self.name == "cupy":
            chosen: ContextManager[Any] = self._module.cuda.Device(device)
        elif self.name == "torch":
            chosen = self._module.cuda.device(device)
        else:
            chosen = nullcontext()  # which finds the GPU in each array
        return chosen

    def view(self, there: DeviceArray) -> Any:
        """Return the library's array of elements. What it queues from now on comes after earlier calls of DTL."""
        return self._module.from_dlpack(there)

    def result(self, array: Any) -> DeviceArray:
        """Return an array of the library for reading, after what it has queued."""
        return readable(array)

    def end(self, array: Any, there: DeviceArray) -> None:
        """Have later calls of DTL on elements, of which the array is, come after what the library has queued."""
        capsule_of(array, memory_of_array(there).stream)


class _Numba(Library):
    """Numba, whose arrays are made by the CUDA array interface, and which names no stream where it is a default one."""

    def on(self, device: int) -> ContextManager[Any]:
        chosen: ContextManager[Any] = self._module.gpus[device]
        return chosen

    def view(self, there: DeviceArray) -> Any:
        for stream in _DEFAULT_STREAMS:
            memory_of_array(there).order(stream, False)
        return self._module.as_cuda_array(_WithoutStream(there))

    def result(self, array: Any) -> DeviceArray:
        made = readable(array)
        self.end(array, made)
        return made

    def end(self, array: Any, there: DeviceArray) -> None:
        for stream in _DEFAULT_STREAMS:
            memory_of_array(there).order(stream, True)


class _WithoutStream:
    """An array that names no stream: Numba would wait for it on the host, and work on it in that stream."""

    def __init__(self, there: DeviceArray) -> None:
        self.there = there
        self.__cuda_array_interface__ = {**there.__cuda_array_interface__, "stream": None}


def chosen(library: Any) -> Library:
    """Return the library that the caller names, by its name or as a module; if none, the one that is imported."""
    if library is None:
        library = _imported()
    module = _module(library) if isinstance(library, str) else library
    if hasattr(module, "as_cuda_array"):
        return _Numba(module)
    if getattr(module, "__name__", None) == "numba":
        return chosen("numba.cuda")
    check_library(module)
    return Library(module)


def _imported() -> str:
    names = [name for name in _KNOWN if name in sys.modules]
    if len(names) > 1:
        raise InvalidArgumentError(
            f"{' and '.join(names)} are imported; say which library's arrays the function takes: library={names[0]!r}"
        )
    if not names:
        ways = ", ".join(f"{name} ({way})" for name, way in _KNOWN.items())
        raise BackendUnavailableError(
            "the function gets arrays on the GPU, of a library that the program has imported, and it has imported none "
            f"of {ways}. Import one, or pass another module with from_dlpack as library; with library='numpy', the "
            "function gets a copy on the host"
        )
    return names[0]


def _module(name: str) -> Any:
    if name == "numba":
        name = "numba.cuda"
    try:
        return importlib.import_module(name)
    except ImportError as error:
        way = f": {_KNOWN[name]}" if name in _KNOWN else ""
        raise BackendUnavailableError(f"library {name!r} cannot be imported{way} ({error})") from None


def check_library(library: Any) -> None:
    """Refuse what names no library, wherever the elements are."""
    if library is None or isinstance(library, str) or is_numpy(library):
        return
    if any(hasattr(library, name) for name in ("from_dlpack", "as_cuda_array")):
        return
    name = getattr(library, "__name__", None)
    if name != "numba":
        what = f"of type {type(library).__name__}" if name is None else repr(name)
        raise InvalidTypeError(f"library {what} is neither a name nor a module with from_dlpack")


def is_numpy(library: Any) -> bool:
    """Say whether a library is NumPy, whose arrays are on the host."""
    return library is np or (isinstance(library, str) and library == "numpy")
