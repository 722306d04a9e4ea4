"""A small library for arrays on a GPU: what CuPy, PyTorch and Numba are to DTL, for machines without a GPU.

It calls the driver itself, which test_devices.py compiles, and works in streams of its own, which wait for no other. It
hands arrays over by DLPack, or by the CUDA array interface. Memory of arrays that are gone is overwritten, in the order
of their stream, as where a pool gives it to the next array.

``namespace("cupy")`` is a module of it with the names that DTL uses of CuPy; there are those of PyTorch and Numba, too.
"""

from __future__ import annotations

import ctypes
import math
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Iterator

import numpy as np
from dlpack_structures import Tensor, VersionedTensor
from on_a_device import DRIVERS, KINDS, VENDOR, vendors

_PTX = Path(__file__).parents[3] / "backends" / "internal" / "gpu" / "kernels" / "elementwise.ptx"

#: DLPack's number of a GPU's memory, and of kinds of elements.
_OWN = KINDS[0]
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}

_driver: Any = None
_names: dict[str, str] = {}  # by CUDA's, the driver's own
_modules: dict[int, ctypes.c_void_p] = {}
_contexts: dict[int, ctypes.c_void_p] = {}
_exported: dict[int, Any] = {}

#: The stream in which each device's calls are, and the handles of the default streams.
_streams: dict[int, int] = {}
LEGACY = 1 if VENDOR == "cuda" else 0


class DriverError(RuntimeError):
    """A call of the driver has failed."""


def _call(name: str, *args: Any) -> None:
    global _driver
    if _driver is None:
        _driver = ctypes.CDLL(DRIVERS[VENDOR])
    if name not in _names:
        _names[name] = vendors(name)
    if _names[name] == "hipMemcpyAsync":
        args = (*args[:3], 4, args[3])  # whichever way the addresses say
    code = getattr(_driver, _names[name])(*args)
    if code:
        raise DriverError(f"{name} failed: {code}")


@contextmanager
def on(device: int) -> Iterator[None]:
    """Have the calls of a block go to a device."""
    if VENDOR == "hip":
        before = ctypes.c_int()
        _call("hipGetDevice", ctypes.byref(before))
        _call("hipSetDevice", device)
        try:
            yield
        finally:
            _call("hipSetDevice", before)
        return
    if device not in _contexts:
        _contexts[device] = ctypes.c_void_p()
        _call("cuDevicePrimaryCtxRetain", ctypes.byref(_contexts[device]), device)
    _call("cuCtxPushCurrent_v2", _contexts[device])
    try:
        yield
    finally:
        _call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


def new_stream(device: int) -> int:
    """Return a stream, which lives as long as the process."""
    made = ctypes.c_void_p()
    with on(device):
        _call("cuStreamCreateWithPriority", ctypes.byref(made), 1, 0)
    return int(made.value or 0)


def stream_of(device: int) -> int:
    """Return the current stream of a device: at first, one of its own."""
    if device not in _streams:
        _streams[device] = new_stream(device)
    return _streams[device]


@contextmanager
def current(device: int, stream: int) -> Iterator[None]:
    """Have a stream be the current one in a block."""
    before = stream_of(device)
    _streams[device] = stream
    try:
        yield
    finally:
        _streams[device] = before


def order(device: int, before: int, after: int) -> None:
    """Have a stream wait for what is queued on another one."""
    with on(device):
        event = ctypes.c_void_p()
        _call("cuEventCreate", ctypes.byref(event), 2)
        _call("cuEventRecord", event, ctypes.c_void_p(before))
        _call("cuStreamWaitEvent", ctypes.c_void_p(after), event, 0)
        _call("cuEventDestroy_v2", event)


def synchronize(device: int) -> None:
    """Wait for the current stream."""
    with on(device):
        _call("cuStreamSynchronize", ctypes.c_void_p(stream_of(device)))


class _Block:
    """Memory of the library's own."""

    def __init__(self, device: int, size: int) -> None:
        self.device, self.size, self.stream, self.address = device, max(size, 1), stream_of(device), 0
        made = ctypes.c_ulonglong()
        with on(device):
            _call("cuMemAlloc_v2", ctypes.byref(made), ctypes.c_size_t(self.size))
        self.address = int(made.value)

    def __del__(self) -> None:
        if not self.address:
            return
        with on(self.device):
            at, size = ctypes.c_ulonglong(self.address), ctypes.c_size_t(self.size)
            _call("cuMemsetD8Async", at, ctypes.c_ubyte(0xDE), size, ctypes.c_void_p(self.stream))


class _Operands(ctypes.Structure):
    """The argument of a kernel, as ``kernels/each.h`` has it, of arrays in C order."""

    _fields_ = [
        ("out", ctypes.c_ulonglong),
        ("a", ctypes.c_ulonglong),
        ("b", ctypes.c_ulonglong),
        ("c", ctypes.c_ulonglong),
        ("n", ctypes.c_longlong),
        ("x", ctypes.c_ulonglong * 2),
        ("y", ctypes.c_ulonglong * 2),
        ("rest", ctypes.c_longlong * 39),
    ]


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_released = _DELETER(lambda address: _exported.pop(address, None) and None)

_capsule_new = ctypes.pythonapi.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_capsule_rename = ctypes.pythonapi.PyCapsule_SetName
_capsule_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _Taken:
    """What a capsule had, until nothing needs it."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.whole = VersionedTensor.from_address(address)

    def __del__(self) -> None:
        _DELETER(self.whole.deleter)(self.address)


class Elements:
    """An array in the driver's memory, with arithmetic."""

    __array_ufunc__ = None

    def __init__(self, device: int, address: int, dtype: Any, shape: Any, strides: Any, owner: Any) -> None:
        self.device, self.address, self.dtype = device, address, np.dtype(dtype)
        self.shape, self.strides, self.owner = tuple(shape), tuple(strides), owner
        self.writable = True

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def _in_c_order(self) -> bool:
        return self.size == 0 or self.strides == _c_order(self.shape, self.dtype.itemsize)

    # ---- Other arrays on the same memory ----

    def _at(self, offset: int, shape: Any, strides: Any) -> Any:
        return type(self)(self.device, self.address + offset, self.dtype, shape, strides, self)

    @property
    def T(self) -> Any:  # noqa: N802 - as libraries call it
        """The array with its dimensions in reverse order."""
        return self._at(0, self.shape[::-1], self.strides[::-1])

    def flipped(self) -> Any:
        """Return the array with the first dimension reversed."""
        return self._at((self.shape[0] - 1) * self.strides[0], self.shape, (-self.strides[0], *self.strides[1:]))

    def repeated(self) -> Any:
        """Return an array of the shape whose elements are all the first one."""
        return self._at(0, self.shape, (0,) * len(self.shape))

    # ---- Work in the current stream ----

    def compact(self) -> Any:
        """Return the array in C order: itself, or a copy."""
        if self._in_c_order:
            return self
        made = empty(self, self.dtype)
        made.assign(self)
        return made

    def assign(self, values: Any) -> None:
        """Copy the elements of another array of the same shape."""
        assert (values.shape, values.dtype) == (self.shape, self.dtype)
        whole = self._in_c_order and values._in_c_order
        pairs = [((0, 0), self.size)] if whole else [(pair, 1) for pair in zip(_offsets(self), _offsets(values))]
        with on(self.device):
            for (to, source), count in pairs:
                target, start = ctypes.c_void_p(self.address + to), ctypes.c_void_p(values.address + source)
                size = ctypes.c_size_t(count * self.dtype.itemsize)
                _call("cuMemcpyAsync", target, start, size, ctypes.c_void_p(stream_of(self.device)))

    def _computed(self, name: str, other: Any = None, dtype: Any = None) -> Any:
        function = ctypes.c_void_p()
        made = empty(self, self.dtype if dtype is None else dtype)
        a = self.compact()
        b = other.compact() if isinstance(other, Elements) else None
        words = np.zeros(2, np.uint64)
        if b is None and other is not None:
            words.view(np.uint8)[: self.dtype.itemsize] = np.array([other], self.dtype).view(np.uint8)
        operands = _Operands(made.address, a.address, 0 if b is None else b.address, 0, self.size)
        operands.y[0], operands.y[1] = int(words[0]), int(words[1])
        argument = (ctypes.c_void_p * 1)(ctypes.addressof(operands))
        with on(self.device):
            if self.device not in _modules:
                _modules[self.device] = ctypes.c_void_p()
                image = ctypes.create_string_buffer(_PTX.read_bytes())
                _call("cuModuleLoadDataEx", ctypes.byref(_modules[self.device]), image, 0, None, None)
            _call("cuModuleGetFunction", ctypes.byref(function), _modules[self.device], f"{name}_{self.dtype}".encode())
            stream = ctypes.c_void_p(stream_of(self.device))
            _call("cuLaunchKernel", function, 4, 1, 1, 32, 1, 1, 0, stream, argument, None)
        return made

    def __mul__(self, other: Any) -> Any:
        return self._computed("multiply", other)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        return self._computed("add", other)

    def __neg__(self) -> Any:
        return self._computed("negative")

    def __gt__(self, other: Any) -> Any:
        return self._computed("greater", other, np.bool_)

    def __imul__(self, other: Any) -> Any:
        self.assign(self * other)
        return self

    def __float__(self) -> float:
        raise TypeError("an array on a GPU is no number")

    def __bool__(self) -> bool:
        raise ValueError("the truth value of an array is ambiguous")


class Array(Elements):
    """An array that is handed over by DLPack."""

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's number of a GPU's memory, and that of the GPU."""
        return _OWN, self.device

    def __dlpack__(self, *, stream: int | None = None, max_version: Any = None, **options: Any) -> Any:
        """Return a capsule, for work in a stream."""
        if stream != -1:
            order(self.device, stream_of(self.device), LEGACY if stream is None else stream)
        assert max_version is not None  # and version 1 is enough for it
        steps = [n // self.dtype.itemsize for n in self.strides]
        extents = (ctypes.c_int64 * max(len(self.shape), 1))(*self.shape)
        strides = (ctypes.c_int64 * max(len(steps), 1))(*steps)
        tensor = Tensor(
            self.address, _OWN, self.device, len(self.shape), _CODES[self.dtype.kind], 8 * self.dtype.itemsize, 1
        )
        tensor.shape, tensor.strides = extents, strides
        whole = VersionedTensor((ctypes.c_uint32 * 2)(1, 0), None, ctypes.cast(_released, ctypes.c_void_p), 0, tensor)
        whole.flags = 0 if self.writable else 1
        _exported[ctypes.addressof(whole)] = (whole, extents, strides, self)
        return _capsule_new(ctypes.addressof(whole), b"dltensor_versioned", None)


class Interface(Elements):
    """An array that is handed over by the CUDA array interface, as Numba's are."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The elements, as libraries say that name no stream."""
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, not self.writable),
            "version": 3,
            "strides": self.strides,
            "stream": None,
        }


def empty(like: Any, dtype: Any) -> Any:
    """Return an array of a shape, with anything in it."""
    wanted = np.dtype(dtype)
    block = _Block(like.device, like.size * wanted.itemsize)
    strides = _c_order(like.shape, wanted.itemsize)
    return type(like)(like.device, block.address, wanted, like.shape, strides, block)


def _c_order(shape: tuple[int, ...], item: int) -> tuple[int, ...]:
    return tuple(item * math.prod(shape[d + 1 :]) for d in range(len(shape)))


def _offsets(array: Elements) -> list[int]:
    """Return where each element is, in C order."""
    return [sum(i * n for i, n in zip(at, array.strides)) for at in np.ndindex(*array.shape)]


# ---- As a module ----


def from_dlpack(x: Any) -> Array:
    """Return an array on the memory of another one, for work in the current stream."""
    device = x.__dlpack_device__()[1]
    capsule = x.__dlpack__(stream=stream_of(device), max_version=(1, 0))
    taken = _Taken(_capsule_pointer(capsule, b"dltensor_versioned"))
    _capsule_rename(capsule, b"used_dltensor_versioned")
    found = taken.whole.tensor
    kind = next(kind for kind, code in _CODES.items() if code == found.code)
    dtype = np.dtype("bool" if kind == "b" else f"{kind}{found.bits // 8}")
    shape = found.shape[: found.ndim]
    strides = [n * dtype.itemsize for n in found.strides[: found.ndim]]
    return Array(device, (found.data or 0) + found.offset, dtype, shape, strides, taken)


def as_cuda_array(x: Any) -> Interface:
    """Return an array on the memory of another one, which has named no stream, as Numba works in its default one."""
    told = x.__cuda_array_interface__
    assert told["stream"] is None
    dtype = np.dtype(told["typestr"])
    strides = told["strides"] or _c_order(told["shape"], dtype.itemsize)
    return Interface(x.there.device_id, told["data"][0], dtype, told["shape"], strides, x)


class _Gpus:
    def __getitem__(self, device: int) -> Any:
        return _on_default_stream(device)


@contextmanager
def _on_default_stream(device: int) -> Iterator[None]:
    with current(device, LEGACY), on(device):
        yield


def namespace(name: str) -> ModuleType:
    """Return the library as a module of a name: "cupy", "torch", "numba.cuda", or any other one."""
    made: Any = ModuleType(name)
    if name == "numba.cuda":
        made.gpus, made.as_cuda_array = _Gpus(), as_cuda_array
        return made  # type: ignore[no-any-return]
    made.from_dlpack = from_dlpack
    made.cuda = SimpleNamespace(**{"cupy": {"Device": on}, "torch": {"device": on}}.get(name, {}))
    return made  # type: ignore[no-any-return]
