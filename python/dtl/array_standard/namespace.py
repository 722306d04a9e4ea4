"""The namespace of the array API standard on the ranks of a context: which function each name stands for."""

from __future__ import annotations

import inspect
import math
import weakref
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator

import numpy as np

from .._lazy import loaded
from ..containers.base import DistributedContainer
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition, Placement
from ..runtime.agreement import check_open
from ..runtime.context import Context, kept_of
from . import data_types
from .data_types import placement
from .zero_dimensional import Home, ZeroDimensional, everywhere, values, wrapped

if TYPE_CHECKING:
    from ..containers.operators import OfOne, OfTwo

#: The newest version of the standard that the namespace has the names of, and those before it.
VERSION = "2025.12"
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", VERSION)

#: Ufuncs and functions of NumPy that work on containers and mean what the standard says: names that both have.
_OF_NUMPY = (
    "add copysign cos cosh divide equal exp expm1 floor_divide greater greater_equal hypot isfinite isinf isnan less "
    "less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply "
    "negative nextafter not_equal positive reciprocal remainder sign signbit sin sinh sqrt square subtract tan tanh "
    "bitwise_and bitwise_or bitwise_xor real imag"
)
#: Those that NumPy has had other names for.
_RENAMED = {
    "abs": np.absolute,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "bitwise_invert": np.invert,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "conj": np.conjugate,
    "pow": np.power,
}
#: Functions of dtl whose parameters are those of the standard, or more.
_SAME = {
    ".algorithms.concatenate": "concat stack unstack",
    ".algorithms.elementwise": "count_nonzero nonzero round where",
    ".algorithms.manipulation": "expand_dims flip matrix_transpose moveaxis permute_dims roll squeeze",
    ".algorithms.statistics": "all any argmax argmin max mean min prod sum",
    ".algorithms.creation": "tril triu",
    ".algorithms.taking": "take_along_axis tile",
    ".linalg": "matmul tensordot vecdot",
    ".array_standard.adapters": "argsort astype broadcast_arrays ceil clip cumulative_prod cumulative_sum diff floor "
    "isin meshgrid repeat reshape searchsorted sort std take trunc unique_all unique_counts "
    "unique_inverse unique_values var",
}
#: Functions that make containers of what every rank knows: they take the context first.
_CREATION = {
    ".array_standard.creation": "arange asarray broadcast_to empty empty_like eye from_dlpack full full_like linspace "
    "ones ones_like zeros zeros_like",
}
#: Functions of NumPy that the standard does not have, and that xarray asks of the namespace.
_BEYOND = frozenset(["cross", "cumprod", "cumsum", "einsum", "gradient", "pad", "quantile", "transpose"])
_LINALG = {
    ".linalg": "cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power "
    "matrix_transpose outer qr slogdet solve svd svdvals tensordot trace vecdot vector_norm",
    ".array_standard.linear_algebra": "matrix_rank pinv",
}
_FFT = {
    ".fft": "fft fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftn",
}
_FFT_CREATION = {".array_standard.creation": "fftfreq rfftfreq"}


def _homes(table: dict[str, str]) -> dict[str, Any]:
    """Return the module of each name."""
    return {name: home for home, names in table.items() for name in names.split()}


_HERE = {**_homes(_SAME), **data_types.NAMES}
_MADE_HERE = _homes(_CREATION)
_IN_LINALG, _IN_FFT, _MADE_IN_FFT = _homes(_LINALG), _homes(_FFT), _homes(_FFT_CREATION)

#: Functions that give distinct elements, and how many of these every rank gets rather than a part of them. Libraries
#: iterate over the classes of some labels.
_SETS = frozenset(("unique_all", "unique_counts", "unique_inverse", "unique_values"))
_FEW = 1024
#: Functions that take an array of NumPy, which every rank has: xarray moves the axes of what np.nanquantile returns.
_OF_NUMPY_TOO = frozenset(("moveaxis",))

#: What has a device of the namespace.
_ARRAYS = (DistributedContainer, ZeroDimensional)

#: NumPy's functions of values without dimensions that have other names there.
_NUMPY_NAMES = {"concat": "concatenate", "permute_dims": "transpose"}
#: Adapters that take values without dimensions as they are, because older versions of NumPy do otherwise.
_ALSO_ALONE = frozenset(("astype", "ceil", "floor", "trunc"))


class Namespace:
    """Functions and constants by the names of the standard, on the ranks of a context; ``dtl.array_api`` makes it.

    Functions are those of dtl, wherever name and parameters agree. Values without dimensions are arrays of the
    namespace, too, which every rank has; see ``zero_dimensional.py``.
    """

    __module__ = "dtl"
    __name__ = "dtl.array_api"
    __array_api_version__ = VERSION

    if TYPE_CHECKING:  # checkers take a ufunc of NumPy for a function that makes arrays
        sqrt = square = exp = expm1 = log = log1p = log2 = log10 = sin = cos = tan = sinh = cosh = tanh = OfOne()
        asin = acos = atan = asinh = acosh = atanh = floor = ceil = trunc = round = abs = sign = signbit = OfOne()
        negative = positive = reciprocal = conj = real = imag = isfinite = isinf = isnan = OfOne()
        logical_not = bitwise_invert = OfOne()
        add = subtract = multiply = divide = floor_divide = remainder = pow = atan2 = hypot = logaddexp = OfTwo()
        maximum = minimum = copysign = nextafter = equal = not_equal = less = less_equal = greater = OfTwo()
        greater_equal = logical_and = logical_or = logical_xor = bitwise_and = bitwise_or = bitwise_xor = OfTwo()
        bitwise_left_shift = bitwise_right_shift = OfTwo()

    def __init__(self, ctx: Context, partition: Partition = Partition.BLOCK) -> None:
        self._home = home = Home(ctx, partition)
        self.linalg = Extension("linalg", home, _IN_LINALG, {})
        self.fft = Extension("fft", home, _IN_FFT, _MADE_IN_FFT)
        self.special = Special()
        windows = _of_arrays(home, "sliding_window_view", np.lib.stride_tricks.sliding_window_view, "")
        self.lib = SimpleNamespace(stride_tricks=SimpleNamespace(sliding_window_view=windows))  # where xarray looks

    def __getattr__(self, name: str) -> Any:
        value = _found(self._home, name, _HERE, _MADE_HERE)
        setattr(self, name, value)
        return value

    def __array_namespace_info__(self) -> data_types.Info:
        """Return what the standard asks about a namespace: devices, dtypes and what there is."""
        return data_types.Info()

    def __dir__(self) -> list[str]:
        return sorted(
            [*_NUMPY, *_HERE, *_MADE_HERE, "linalg", "fft", "__array_api_version__", "__array_namespace_info__"]
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Namespace) and other._home.context is self._home.context

    def __hash__(self) -> int:
        return hash((Namespace, self._home.context))

    def __repr__(self) -> str:
        return f"<dtl.array_api of {self._home.context!r}>"


class Extension:
    """The functions of an extension of the standard: ``xp.linalg`` and ``xp.fft``."""

    def __init__(self, name: str, home: Home, here: dict[str, Any], creation: dict[str, Any]) -> None:
        self.__name__ = f"dtl.array_api.{name}"
        self._home, self._here, self._creation = home, here, creation

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = _found(self._home, name, self._here, self._creation, self.__name__.rpartition(".")[2])
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted([*self._here, *self._creation])

    def __repr__(self) -> str:
        return f"<{self.__name__} of {self._home.context!r}>"


class Special:
    """The functions of each element that ``scipy.special`` has, as SciPy asks a namespace for them: ``xp.special``."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            from scipy import special
        except ImportError:
            raise AttributeError(f"the function {name!r} of the namespace's special needs SciPy") from None
        found = getattr(special, name, None)
        found = getattr(found, "__wrapped__", found)  # what looks for the namespace is not the ufunc, but has it
        if not isinstance(found, np.ufunc):
            raise AttributeError(f"scipy.special has no function {name!r} of each element")
        return found

    def __repr__(self) -> str:
        return "<dtl.array_api.special>"


def array_api(ctx: Context, *, api_version: str | None = None) -> Namespace:
    """Return the namespace of the array API standard for the ranks of a context. Not collective.

    ``x.__array_namespace__()`` of a container returns this namespace, so that functions written for the standard accept
    containers. Its functions are as collective as the functions of dtl that they stand for. Those that make arrays,
    such as ``zeros`` and ``asarray``, are collective.

    Parameters
    ----------
    ctx
        The context on which arrays are made.
    api_version
        A version of the standard; None for the newest one that is supported, 2025.12. The namespace also has newer
        names.

    Returns
    -------
    namespace
        The same object for a context as long as it is in use. Where functions of NumPy return scalars, its functions
        return arrays without dimensions, which every rank has, and which belong to the namespace as containers do.

    Raises
    ------
    InvalidTypeError
        If ctx is not a context.
    InvalidArgumentError
        If the version is not supported.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     xp = dtl.array_api(ctx)
    ...     x = xp.linspace(0.0, 1.0, 5)
    ...     x.__array_namespace__() is xp, float(xp.sum(xp.sqrt(x) ** 2))
    (True, 2.5)
    """
    check_open(ctx)
    if api_version is not None and api_version not in _VERSIONS:
        raise InvalidArgumentError(f"api_version {api_version!r} is none of {', '.join(_VERSIONS)}")
    return _kept(ctx, Partition.BLOCK)


def of_array(ctx: Context, partition: Partition, api_version: str | None = None) -> Namespace:
    """Return the namespace of an array: equal for all arrays of a context, whatever arrays it makes.

    That of a replicated array makes replicated arrays, so that what is computed of such arrays stays replicated.
    """
    found = array_api(ctx, api_version=api_version)
    return _kept(ctx, partition) if partition is Partition.REPLICATED else found


def _kept(ctx: Context, partition: Partition) -> Namespace:
    """Return the namespace of a context that makes arrays of a partition: the same object as long as it is in use."""
    of_context = kept_of(ctx)
    if of_context.array_namespaces is None:
        of_context.array_namespaces = {}
    kept: dict[Partition, Any] = of_context.array_namespaces
    held = kept.get(partition)
    found: Namespace | None = None if held is None else held()
    if found is None:
        found = Namespace(ctx, partition)
        kept[partition] = weakref.ref(found)  # the namespace holds the context, not the other way round
    return found


_NUMPY: dict[str, Any] = {
    **{name: getattr(np, name) for name in _OF_NUMPY.split()},
    **_RENAMED,
    "broadcast_shapes": np.broadcast_shapes,
    "e": math.e,
    "inf": math.inf,
    "nan": math.nan,
    "newaxis": None,
    "pi": math.pi,
}


def _found(home: Home, name: str, here: dict[str, Any], creation: dict[str, Any], extension: str = "") -> Any:
    """Return what a name of a namespace stands for."""
    if name in creation:
        return _making(home, name, loaded(creation[name], name))
    if name in here:
        if not isinstance(here[name], str):
            return here[name]
        return _of_arrays(home, name, loaded(here[name], name), extension)
    if not extension and name in _NUMPY:
        return _NUMPY[name]
    if not extension and name in _BEYOND:
        return _of_arrays(home, name, getattr(np, name), "")
    raise AttributeError(f"the namespace of dtl.array_api has no attribute {name!r}")


def _making(home: Home, name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes arrays on the context, with the partition of the namespace where it has a choice."""
    divided = {"partition": home.partition} if "partition" in inspect.signature(make).parameters else {}

    def call(*args: Any, **kwargs: Any) -> Any:
        if name == "asarray" and _is_as_asked(*args, **kwargs):
            return args[0]
        made = make(home.context, *values(args), **values(kwargs), **divided)
        return wrapped(home, made, _device(args, kwargs))

    return _named(name, make, call, 1)


def _is_as_asked(
    obj: Any = None, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None, **others: Any
) -> bool:
    """Say whether asarray returns an array without dimensions as it is."""
    if not isinstance(obj, ZeroDimensional) or copy or others:
        return False
    return (dtype is None or obj.dtype == dtype) and placement(device) in (None, obj.device)


def _device(args: Any, kwargs: dict[str, Any]) -> Placement:
    """Return where the result of a call is said to be: on the device that it names, or that its first array is on."""
    named = placement(kwargs.get("device"))
    return next((x.device for x in args if isinstance(x, _ARRAYS)), Placement.HOST) if named is None else named


def _of_arrays(home: Home, name: str, function: Callable[..., Any], extension: str) -> Callable[..., Any]:
    """Return a function of containers that takes values without dimensions, too."""
    there = getattr(np, extension) if extension else np
    alone = getattr(there, name, None) or getattr(there, _NUMPY_NAMES.get(name, name), None)
    alone = function if name in _ALSO_ALONE else alone

    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs, lies = values(args), values(kwargs), _device(args, kwargs)
        if name in _OF_NUMPY_TOO or home.partition is Partition.REPLICATED:
            args = tuple(everywhere(home.context, x) if isinstance(x, np.ndarray) and x.ndim else x for x in args)
        given = [*_containers(args), *_containers(kwargs.values())]
        if given:
            made = function(*args, **kwargs)
            if all(x.partition_policy is Partition.REPLICATED for x in given):
                _replicate(made)
            elif name in _SETS:
                _replicate([value for field, value in _fields(made) if field != "inverse_indices"], _FEW)
            return wrapped(home, made, lies)
        if any(np.ndim(value) for value in args[:1] if isinstance(value, np.ndarray)):
            raise InvalidTypeError(f"{name}: an array of NumPy is no array of this namespace; give it to asarray first")
        if alone is None:
            raise InvalidTypeError(f"{name} of values without dimensions needs a newer NumPy")
        return wrapped(home, alone(*args, **kwargs), lies)

    return _named(name, function, call)


def _replicate(made: Any, most: float = math.inf) -> None:
    """Let every rank have all elements of each container that has at most so many. Collective where there are any."""
    for x in _containers([made]):
        if x.partition_policy is not Partition.REPLICATED and x.global_size <= most:
            own: Any = x
            own.redistribute(Partition.REPLICATED)


def _named(name: str, of: Callable[..., Any], call: Any, bound: int = 0) -> Callable[..., Any]:
    """Give a function the name and docstring of the function that it calls, whose first parameters are bound."""
    signature = inspect.signature(of)
    known = [each for each in list(signature.parameters.values())[bound:] if each.name != "partition"]
    call.__signature__ = signature.replace(parameters=known)
    call.__name__ = call.__qualname__ = name
    call.__module__ = "dtl.array_api"
    call.__doc__ = of.__doc__
    function: Callable[..., Any] = call
    return function


def _containers(values: Any) -> Iterator[DistributedContainer]:
    """Return the containers among some values, and in lists and tuples of them."""
    for value in values:
        if isinstance(value, DistributedContainer):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _containers(value)


def _fields(made: Any) -> Iterable[tuple[str, Any]]:
    """Return the results of a call with their names, if there are several."""
    return zip(made._fields, made) if hasattr(made, "_fields") else [("", made)]
