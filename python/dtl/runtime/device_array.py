"""Arrays on a GPU, for libraries other than NumPy."""

from __future__ import annotations

import functools
import math
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Callable, NoReturn, Optional, Tuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .._native import library
from .._native.arguments import ON_DEVICES, is_on_device, stored_number
from .._native.library import bridge
from ..exceptions import BufferError, InvalidArgumentError, InvalidTypeError

if TYPE_CHECKING:
    from .._native import _bridge

#: DLPack's numbers of kinds of elements.
_DLPACK_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_DLPACK_KINDS = {code: kind for kind, code in _DLPACK_CODES.items()}

#: Streams by the numbers that DLPack gives them: the default of the whole process, where nobody names one; none at all.
_LEGACY, _NO_STREAM = 1, -1


class OnDeviceError(InvalidTypeError, AttributeError):
    """An attribute that NumPy's arrays have, and arrays on a GPU do not."""


#: The memory of an array on a GPU: its address, strides and stream, and what copies it.
memory_of_array: Callable[[Any], Any] = attrgetter("_memory")

#: Whether the elements lie side by side, in C order.
is_in_c_order: Callable[[Any], bool] = attrgetter("_in_c_order")

#: Whether another library has the memory.
is_foreign: Callable[[Any], bool] = attrgetter("_foreign")


class DeviceArray(NDArrayOperatorsMixin):
    """A rank's elements on a GPU. ``local_view()`` of a container on a GPU returns it.

    It has no arithmetic of its own. Other libraries can use it without a copy, by DLPack or by the CUDA array
    interface::

        view = cupy.from_dlpack(vec.local_view())
        view = torch.from_dlpack(vec.local_view())

    These libraries see the elements as earlier calls of DTL leave them, because the streams of the GPU are ordered. To
    make DTL's later calls see what a library has queued, synchronise the library, or call ``wait_for``. For NumPy,
    ``to_numpy()`` makes a copy; an implicit conversion raises. The array keeps the memory alive.
    """

    __module__ = "dtl"

    def __init__(self, memory: _bridge.DeviceMemory, dtype: np.dtype[Any], foreign: bool = False) -> None:
        self._foreign = foreign  # whether another library has the memory
        self._memory = memory
        self._dtype = dtype

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent along each dimension."""
        return self._memory.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """The number of bytes from one index to the next along each dimension.

        They are those of C order, unless the container has a halo.
        """
        return tuple([n * self._dtype.itemsize for n in self._memory.strides])

    @property
    def _in_c_order(self) -> bool:
        """Whether the elements lie side by side."""
        step = self._dtype.itemsize
        for extent, stride in zip(self.shape[::-1], self.strides[::-1]):
            if extent > 1 and stride != step:
                return self.size == 0
            step *= extent
        return True

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """The number of bytes of one element."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self.size * self._dtype.itemsize

    @property
    def device_id(self) -> int:
        """The number of the GPU."""
        return self._memory.device

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return a copy of the elements on the host, after all earlier calls of DTL. Not collective."""
        out = np.empty(self.shape, self._dtype)
        self._memory.read(out)
        return out

    def synchronize(self) -> None:
        """Wait until all earlier calls of DTL on the elements are complete. Not collective."""
        self._memory.synchronize()

    def wait_for(self, stream: int) -> None:
        """Make later calls of DTL on the elements wait for earlier work of a stream of the GPU. Not collective.

        Parameters
        ----------
        stream
            The address of the stream, such as ``cupy.cuda.get_current_stream().ptr`` or
            ``torch.cuda.current_stream().cuda_stream``; 0 and 1 are the default stream.
        """
        self._memory.order(_stream(stream), True)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's number for the kind of memory, and the number of the GPU."""
        own, managed = _own_kinds()
        return (managed if self._memory.managed else own), self._memory.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a capsule of DLPack. Later work of the stream comes after earlier calls of DTL.

        Parameters
        ----------
        stream
            The address of the stream that will read the elements; None for the default stream, -1 for none.
        max_version
            The newest version of DLPack that the caller supports; None for versions before 1.0.
        dl_device
            Where the elements have to be. Only the place where they are is accepted.
        copy
            Whether to copy them. True is refused.

        Raises
        ------
        BufferError
            If the request would need a copy.
        """
        if copy:
            raise BufferError("a DeviceArray gives no copy of itself; copy what takes it")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the elements are on device {self.__dlpack_device__()}, not on {tuple(dl_device)}")
        if self._dtype.kind not in _DLPACK_CODES:
            raise BufferError(f"DLPack has no elements of {self._dtype}")
        if stream != _NO_STREAM:
            self._memory.order(_stream(_LEGACY if stream is None else stream), False)
        code, bits = _DLPACK_CODES[self._dtype.kind], 8 * self._dtype.itemsize
        newest = 0 if max_version is None else max_version[0]
        return self._memory.dlpack(code, bits, self.__dlpack_device__()[0], newest >= 1)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The elements by the CUDA array interface, version 3, with the stream for which readers have to wait."""
        self._memory.share()
        return {
            "shape": self.shape,
            "typestr": self._dtype.str,
            "data": (self._memory.address if self.size else 0, False),
            "version": 3,
            "strides": None if self._in_c_order else self.strides,
            "stream": self._memory.stream,
        }

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<dtl.DeviceArray of shape {self.shape}, {self._dtype}, on GPU {self.device_id}>"

    # ---- What NumPy would do with it ----

    def _refusal(self, what: str, kind: type[InvalidTypeError] = InvalidTypeError) -> InvalidTypeError:
        return kind(
            f"{what}: the elements are on GPU {self.device_id}. Copy them with to_numpy(), or give the array to a "
            "library for GPUs, such as cupy.from_dlpack or torch.from_dlpack"
        )

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(np.ndarray, name):
            raise self._refusal(name, OnDeviceError)
        raise AttributeError(f"'DeviceArray' object has no attribute {name!r}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise self._refusal("conversion to an array of NumPy")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> NoReturn:
        raise self._refusal(f"np.{ufunc.__name__}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> NoReturn:
        raise self._refusal(f"np.{function.__name__}")

    def __getitem__(self, key: Any) -> NoReturn:
        raise self._refusal("a subscript")

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise self._refusal("a subscript")

    def __iter__(self) -> NoReturn:
        raise self._refusal("iteration")

    def __bool__(self) -> NoReturn:
        raise self._refusal("a truth value")


@functools.lru_cache(maxsize=None)
def _own_kinds() -> tuple[int, int]:
    """Return DLPack's numbers for the memory of this process's GPUs, and for what it shares with the host."""
    cuda, rocm, managed = ON_DEVICES
    return (rocm, rocm) if library.backend_why_not("cuda") else (cuda, managed)


def _stream(number: Any) -> int:
    """Return the address of a stream; 0, which some libraries send, is the default one."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise InvalidTypeError(f"stream must be the address of a stream, an integer, not {type(number).__name__}")
    if number < 0:
        raise InvalidArgumentError(f"stream {number} is negative")
    return number or _LEGACY


def from_dlpack(x: Any) -> DeviceArray:
    """Return an array of another library on a GPU as a DeviceArray that shares its memory. Not collective.

    Collective calls and messages accept such an array directly, and ``from_local`` makes a container of it.

    Parameters
    ----------
    x
        An array of CuPy, PyTorch, JAX, Numba or a similar library, in C order, of a dtype that containers can hold. It
        has DLPack's ``__dlpack__`` or the CUDA array interface.

    Returns
    -------
    DeviceArray
        An array that keeps the memory alive. DTL's calls on it come after what its owner has queued. Calls that write
        to it return when they are complete.

    Raises
    ------
    InvalidTypeError
        If x has neither interface, or elements of another type.
    BufferError
        If x is on the host, read-only, or not in C order.
    InvalidArgumentError
        If its address is not in the memory of a GPU, or not where a GPU reads such elements, or an extent is negative.
    BackendUnavailableError
        If no GPU can be used here.
    """
    return _shared(x, _in_order)


def on_host(x: Any) -> Any:
    """Return an array on a GPU as a copy on the host; anything else as it is."""
    return from_dlpack(x).to_numpy() if is_on_device(x) else x


def readable(x: Any) -> DeviceArray:
    """Return an array on a GPU as ``from_dlpack`` does, for reading: it may be read-only, and in any order."""
    return _shared(x, _as_it_is)


def _shared(x: Any, lent: _Lent) -> DeviceArray:
    if isinstance(x, DeviceArray):
        return x
    if hasattr(type(x), "__dlpack__"):
        return _of_dlpack(x, lent)
    if hasattr(x, "__cuda_array_interface__"):
        return _of_interface(x.__cuda_array_interface__, x, lent)
    raise InvalidTypeError(f"x of type {type(x).__name__} has neither __dlpack__ nor __cuda_array_interface__")


def capsule_of(x: Any, stream: int) -> Any:
    """Return an array's capsule of DLPack, for work in a stream, which from now on waits for its library's."""
    try:
        return x.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # from before DLPack 1.0
        return x.__dlpack__(stream=stream)


def _of_dlpack(x: Any, lent: _Lent) -> DeviceArray:
    kind, device = x.__dlpack_device__()
    if kind not in _own_kinds():
        raise BufferError(f"x is on device ({int(kind)}, {device}) of DLPack's, which is no GPU that DTL uses here")
    capsule = capsule_of(x, bridge.device_stream(device))
    address, _, _, code, bits, lanes, shape, strides, writable, owner = bridge.take_dlpack(capsule)
    if lanes != 1 or code not in _DLPACK_KINDS or bits % 8:
        raise InvalidTypeError(f"x has elements of DLPack's type {(code, bits, lanes)}, which no container holds")
    kinds = _DLPACK_KINDS[code]
    dtype = np.dtype(np.bool_) if kinds == "b" else np.dtype(f"{kinds}{bits // 8}")
    return lent(address, dtype, shape, strides, bool(writable), owner)


def _of_interface(told: Any, x: Any, lent: _Lent) -> DeviceArray:
    try:
        dtype, shape = np.dtype(told["typestr"]), tuple(told["shape"])
        address, read_only = told["data"]
    except (KeyError, TypeError, ValueError) as error:
        name = type(x).__name__
        raise InvalidTypeError(f"__cuda_array_interface__ of x of type {name} is none: {error!r}") from None
    if told.get("mask") is not None:
        raise BufferError("x has masked elements, which no container holds")
    strides = told.get("strides")
    if strides is not None and any(stride % dtype.itemsize for stride in strides):
        raise BufferError(f"x has strides {strides}, between elements of {dtype.itemsize} bytes")
    steps = None if strides is None else tuple([stride // dtype.itemsize for stride in strides])
    made = lent(address or 0, dtype, shape, steps, not read_only, x)
    if told.get("stream") is not None:
        made.wait_for(told["stream"])
    return made


#: What makes an array of its address, dtype, shape, strides in elements or None, whether it is writable, and its owner.
_Lent = Callable[[int, "np.dtype[Any]", Tuple[int, ...], Optional[Tuple[int, ...]], bool, Any], DeviceArray]


def _in_order(
    address: int, dtype: np.dtype[Any], shape: tuple[int, ...], strides: Any, writable: bool, owner: Any
) -> DeviceArray:
    """Return the array of memory that another object owns, which DTL may write to."""
    made = _as_it_is(address, dtype, shape, strides, writable, owner)
    if not is_in_c_order(made):
        raise BufferError("x is not in C order; make a contiguous copy of it")
    if not writable:
        raise BufferError("x is read-only; make a copy of it")
    return made


def _as_it_is(
    address: int, dtype: np.dtype[Any], shape: tuple[int, ...], strides: Any, writable: bool, owner: Any
) -> DeviceArray:
    """Return the array of memory that another object owns."""
    memory = bridge.device_lend(address, stored_number(dtype), shape, strides, owner)
    return DeviceArray(memory, dtype, foreign=True)
