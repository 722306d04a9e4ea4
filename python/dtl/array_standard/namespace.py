"""The namespace of the array API standard on the ranks of a context: which function each name stands for."""

from __future__ import annotations

import inspect
import math
import weakref
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .._lazy import loaded
from ..containers.base import DistributedContainer
from ..containers.layout import REPLICATED
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import check_context
from ..runtime.context import Context
from . import data_types

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
#: Functions that the standard does not have, and that xarray asks of the namespace: those of NumPy's names.
_BEYOND = {
    ".algorithms.neighbours": "gradient",
    ".algorithms.padding": "pad",
    ".linalg.numpy_forms": "einsum",
}
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
_EXTRA = _homes(_BEYOND)
_IN_LINALG, _IN_FFT, _MADE_IN_FFT = _homes(_LINALG), _homes(_FFT), _homes(_FFT_CREATION)

#: NumPy's functions of values without dimensions that have other names there.
_NUMPY_NAMES = {"concat": "concatenate", "permute_dims": "transpose"}
#: Adapters that take values without dimensions as they are, because older versions of NumPy do otherwise.
_ALSO_ALONE = frozenset(("astype", "ceil", "floor", "trunc"))


class Namespace:
    """Functions and constants by the names of the standard, on the ranks of a context; ``dtl.array_api`` makes it.

    Functions are those of dtl, wherever name and parameters agree. Values without dimensions are NumPy's scalars and
    arrays, the same on every rank.
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

    def __init__(self, ctx: Context) -> None:
        self._context = ctx
        self.linalg = Extension("linalg", ctx, _IN_LINALG, {})
        self.fft = Extension("fft", ctx, _IN_FFT, _MADE_IN_FFT)

    def __getattr__(self, name: str) -> Any:
        value = _found(self._context, name, {**_HERE, **_EXTRA}, _MADE_HERE)
        setattr(self, name, value)
        return value

    def __array_namespace_info__(self) -> data_types.Info:
        """Return what the standard asks about a namespace: devices, dtypes and what there is."""
        return data_types.Info()

    def __dir__(self) -> list[str]:
        return sorted(
            [*_NUMPY, *_HERE, *_MADE_HERE, "linalg", "fft", "__array_api_version__", "__array_namespace_info__"]
        )

    def __repr__(self) -> str:
        return f"<dtl.array_api of {self._context!r}>"


class Extension:
    """The functions of an extension of the standard: ``xp.linalg`` and ``xp.fft``."""

    def __init__(self, name: str, ctx: Context, here: dict[str, Any], creation: dict[str, Any]) -> None:
        self.__name__ = f"dtl.array_api.{name}"
        self._context, self._here, self._creation = ctx, here, creation

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = _found(self._context, name, self._here, self._creation, self.__name__.rpartition(".")[2])
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted([*self._here, *self._creation])

    def __repr__(self) -> str:
        return f"<{self.__name__} of {self._context!r}>"


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
        The same object for a context as long as it is in use. Values without dimensions are NumPy scalars or arrays,
        the same on every rank.

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
    check_context(ctx)
    if api_version is not None and api_version not in _VERSIONS:
        raise InvalidArgumentError(f"api_version {api_version!r} is none of {', '.join(_VERSIONS)}")
    kept: Any = ctx._array_namespace
    found: Namespace | None = None if kept is None else kept()
    if found is None:
        found = Namespace(ctx)
        ctx._array_namespace = weakref.ref(found)  # the namespace holds the context, not the other way round
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


def _found(ctx: Context, name: str, here: dict[str, Any], creation: dict[str, Any], extension: str = "") -> Any:
    """Return what a name of a namespace stands for."""
    if name in creation:
        make = loaded(creation[name], name)
        return _named(name, make, lambda *args, **kwargs: make(ctx, *args, **kwargs), 1)
    if name in here:
        if not isinstance(here[name], str):
            return here[name]
        return _of_arrays(ctx, name, loaded(here[name], name), extension)
    if not extension and name in _NUMPY:
        return _NUMPY[name]
    raise AttributeError(f"the namespace of dtl.array_api has no attribute {name!r}")


def _of_arrays(ctx: Context, name: str, function: Callable[..., Any], extension: str) -> Callable[..., Any]:
    """Return a function of containers that takes values without dimensions, too."""
    home = getattr(np, extension) if extension else np
    alone = getattr(home, name, None) or getattr(home, _NUMPY_NAMES.get(name, name), None)
    alone = function if name in _ALSO_ALONE else alone

    def call(*args: Any, **kwargs: Any) -> Any:
        if _has_container(args) or _has_container(kwargs.values()):
            return _as_arrays(ctx, function(*args, **kwargs))
        if any(np.ndim(value) for value in args[:1] if isinstance(value, np.ndarray)):
            raise InvalidTypeError(f"{name}: an array of NumPy is no array of this namespace; give it to asarray first")
        if alone is None:
            raise InvalidTypeError(f"{name} of values without dimensions needs a newer NumPy")
        return _as_arrays(ctx, alone(*args, **kwargs))

    return _named(name, function, call)


def _named(name: str, of: Callable[..., Any], call: Any, bound: int = 0) -> Callable[..., Any]:
    """Say of a function of a namespace what is said of the one that it calls, whose first parameters are bound."""
    signature = inspect.signature(of)
    call.__signature__ = signature.replace(parameters=list(signature.parameters.values())[bound:])
    call.__name__ = call.__qualname__ = name
    call.__module__ = "dtl.array_api"
    call.__doc__ = of.__doc__
    function: Callable[..., Any] = call
    return function


def _has_container(values: Any) -> bool:
    return any(
        isinstance(value, DistributedContainer) or (isinstance(value, (list, tuple)) and _has_container(value))
        for value in values
    )


def _as_arrays(ctx: Context, result: Any) -> Any:
    """Return a result, with replicated containers in place of arrays that every rank has. Collective for those."""
    if isinstance(result, DistributedContainer):
        return result
    if isinstance(result, np.ndarray) and result.ndim:
        return everywhere(ctx, result)
    if isinstance(result, (bool, int)):
        return np.asarray(result)[()]
    if isinstance(result, (list, tuple)):
        values = [_as_arrays(ctx, value) for value in result]
        return type(result)(*values) if hasattr(result, "_fields") else type(result)(values)
    return result


def everywhere(ctx: Context, array: Any) -> Any:
    """Return a replicated container of an array that every rank has. Collective."""
    kind: Any = DistributedVector if array.ndim == 1 else DistributedTensor
    made = kind._created(ctx, array.shape, array.dtype, REPLICATED)
    made.local_view()[...] = array
    return made
