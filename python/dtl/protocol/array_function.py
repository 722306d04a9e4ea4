"""NumPy's reductions as methods of containers, and NumPy's functions on containers."""

from __future__ import annotations

import functools
import inspect
import math
from typing import TYPE_CHECKING, Any, Callable, Collection, overload

import numpy as np

from .._lazy import late
from .._native.keywords import refuse_no_copy
from .._native.no_value import NO_VALUE
from ..containers import one_rank
from ..containers.base import DistributedContainer
from ..containers.ufunc_operands import check_classes
from ..exceptions import DTLError, InvalidArgumentError, InvalidTypeError
from ..policies import Execution
from ..runtime.agreement import tell
from ..runtime.scheduler import defer
from .functions import Function
from .small_arguments import SMALL, has_containers, taken_whole, whole

if TYPE_CHECKING:
    from ..algorithms import statistics
    from ..containers.operators import Transposed
    from ..containers.sequences import DistributedVector, Line
    from ..containers.types import Owned

_ASYNC = Execution.ASYNC

#: The modules of the functions that NumPy's functions of the same names call for containers.
MODULES = {
    ".algorithms.statistics": "sum prod min max argmin argmax all any mean var std nansum nanprod nanmin nanmax "
    "nanmean nanvar nanstd nanargmin nanargmax",
    ".algorithms.scan": "cumsum cumprod nancumsum nancumprod",
    ".linalg": "dot vdot tensordot",
    ".linalg.numpy_functions": "cross einsum inner kron outer diagonal trace polyfit polydiv einsum_path",
    ".algorithms.histogram": "histogram bincount",
    ".algorithms.grid_counts": "histogram2d histogramdd histogram_bin_edges",
    ".algorithms.select": "median quantile percentile nanmedian nanquantile nanpercentile",
    ".algorithms.creation": "zeros_like empty_like tril triu",
    ".algorithms.manipulation": "reshape ravel flip roll squeeze expand_dims moveaxis swapaxes broadcast_to "
    "matrix_transpose",
    ".algorithms.concatenate": "unstack split array_split",
    ".algorithms.taking": "take_along_axis tile repeat",
    ".algorithms.elementwise": "where clip round isclose allclose array_equal nonzero flatnonzero argwhere "
    "count_nonzero isin",
    ".algorithms.sets": "union1d intersect1d setxor1d setdiff1d",
    ".algorithms.neighbours": "gradient convolve correlate unwrap",
    ".algorithms.polynomials": "polyval vander polyadd polysub polymul polyder polyint",
    ".algorithms.diagonal_forms": "diag diagflat fill_diagonal diag_indices_from tril_indices_from triu_indices_from",
    ".algorithms.bits": "packbits unpackbits",
    ".algorithms.inserting": "delete insert",
    ".algorithms.writing": "put putmask place put_along_axis",
    ".algorithms.applying": "apply_along_axis apply_over_axes piecewise",
    ".algorithms.indexing_routines": "choose compress extract trim_zeros partition argpartition lexsort sort_complex "
    "ix_ ravel_multi_index unravel_index block",
    ".algorithms.padding": "pad",
    ".algorithms.distinct": "unique_all",
    ".algorithms.unique_forms": "unique",
    ".io.numpy_functions": "save savez",
    ".array_standard.adapters": "unique_counts unique_inverse unique_values cumulative_sum cumulative_prod",
    ".algorithms.copying_forms": "copy astype copyto ones_like full_like",
    ".algorithms.spacing_forms": "linspace logspace geomspace",
    ".algorithms.joining_forms": "concatenate stack vstack hstack dstack column_stack append atleast_1d atleast_2d "
    "atleast_3d broadcast_arrays meshgrid hsplit vsplit dsplit",
    ".algorithms.numpy_functions": "take sort argsort shape ndim size fliplr flipud rot90 rollaxis ediff1d ptp "
    "average real imag angle nan_to_num isreal iscomplex isneginf isposinf sinc i0 fix "
    "digitize interp diff isrealobj iscomplexobj result_type can_cast min_scalar_type common_type select trapezoid "
    "trapz cov corrcoef array_equiv searchsorted resize "
    "real_if_close is_busday busday_offset busday_count datetime_as_string",
}

#: Other names of the same.
_NAMES = {
    "amin": "min",
    "amax": "max",
    "around": "round",
    "concat": "concatenate",
    "transpose": ".algorithms.manipulation permute_dims",
    "permute_dims": ".algorithms.manipulation permute_dims",
}


#: The functions of numpy.linalg and of numpy.fft that dtl.linalg and dtl.fft have.
_LINALG = (
    "cholesky cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power "
    "matrix_transpose multi_dot norm outer qr slogdet solve svdvals tensordot trace vecdot vector_norm"
)
_STRINGS = (
    "capitalize center decode encode expandtabs ljust lower multiply replace rjust swapcase title translate upper zfill"
)
_FFT = "fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftn"


def _table() -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return what to call in place of each of NumPy's functions, of those that this NumPy has."""
    table: dict[Callable[..., Any], Callable[..., Any]] = {}
    for home, names in MODULES.items():
        for name in names.split():
            if hasattr(np, name):
                table[getattr(np, name)] = late(home, name)
    for name, other in _NAMES.items():
        if hasattr(np, name):
            home, _, of = other.rpartition(" ")
            table[getattr(np, name)] = late(home, of) if home else table[getattr(np, of)]
    for module, home, names in (
        (np.linalg, ".linalg", _LINALG),
        (np.linalg, ".linalg.numpy_functions", "cond matrix_rank pinv svd tensorinv tensorsolve"),
        (np.fft, ".fft", _FFT),
        (np.lib.stride_tricks, ".algorithms.sliding_windows", "sliding_window_view"),
        (getattr(np, "strings", np.char), ".algorithms.strings", _STRINGS),
    ):
        for name in names.split():
            if hasattr(module, name):
                table[getattr(module, name)] = late(home, name)
    return table


FUNCTIONS = _table()

#: The names of the arguments of a function that passes any on to NumPy.
_ANY_NAME: dict[str, str] = {}

#: NumPy's functions whose parameter like= takes a container.
_LIKE_NAMES = (
    "zeros ones empty full arange eye identity tri fromfunction array asarray asanyarray ascontiguousarray "
    "asfortranarray require frombuffer fromiter fromstring fromfile loadtxt genfromtxt"
)
_LIKE = {getattr(np, name): late(".algorithms.like_forms", name) for name in _LIKE_NAMES.split()}

#: What to use in place of functions of NumPy that take no containers.
_INSTEAD = {
    "savetxt": "dtl.save",
    "savez_compressed": "dtl.save",
}

#: The functions whose first argument is a container, by their modules, or by their names where others of their module
#: take an array there or write to it. An array that is given there beside a container becomes one.
_LED = frozenset(
    f"dtl{home}"
    for home in (
        ".algorithms.statistics",
        ".algorithms.scan",
        ".algorithms.select",
        ".algorithms.histogram",
        ".algorithms.grid_counts",
        ".algorithms.taking",
    )
)
_LED_NAMES = frozenset(
    "array_split average clip corrcoef cov delete diff digitize gradient insert interp piecewise ptp round split "  # noqa: SIM905
    "take trapezoid trapz unwrap".split()
)

#: The modules of functions whose further parameters are passed by NumPy's names for them.
_NAMED = frozenset(f"dtl{home}" for home in (".algorithms.statistics", ".algorithms.select"))

#: Parameters that NumPy's functions have and some of these do not: what means the same as to leave them out. The order
#: is that of elements in memory: functions in which it means more have the parameter.
_ABSENT: dict[str, tuple[Any, ...]] = {
    "out": (None,),
    "initial": (NO_VALUE,),
    "where": (NO_VALUE,),
    "keepdims": (NO_VALUE,),
    "mean": (NO_VALUE,),
    "correction": (NO_VALUE,),
    "overwrite_input": (True, False),
    "weights": (None,),
    "interpolation": (None,),
    "mode": ("raise",),
    "subok": (True, False),
    "kind": (None,),
    "order": ("C", "K", "A", "F"),
    "dtype": (None,),
    "casting": ("same_kind",),
    "device": (None, "cpu"),
    "copy": (True, None),
    "sorter": (None,),
    "shape": (None,),
}

#: Parameters that NumPy has by another name: that of quantiles before 1.22, and that of the array API standard.
_RENAMED = {"interpolation": "method", "correction": "ddof"}


def _is_absent(word: str, value: Any) -> bool:
    """Say whether a keyword says what is so without it."""
    return any(value is none or (isinstance(none, str) and value == none) for none in _ABSENT.get(word, ()))


@functools.lru_cache(maxsize=None)
def _parameters(func: Callable[..., Any], known: Callable[..., Any]) -> tuple[dict[str, str], float]:
    """Return by which names a function takes the arguments that NumPy's has, and how many it takes by position."""
    found = inspect.signature(known.there()).parameters.values()  # type: ignore[attr-defined]  # see late()
    words = _words(func)
    if any(each.kind is each.VAR_KEYWORD for each in found):
        of_any_number = any(each.kind is each.VAR_POSITIONAL for each in _signature(func))
        return _ANY_NAME, words.index("out") if "out" in words and not of_any_number else math.inf
    placed = [each.name for each in found if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    positions = math.inf if any(each.kind is each.VAR_POSITIONAL for each in found) else len(placed)
    own = {each.name for each in found}
    names = {word: name for word, name in zip(words, placed) if word not in own and name not in words}
    return {**names, **{name: name for name in own}}, positions


def _words(func: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters of NumPy's function; none where NumPy does not say them."""
    return tuple(each.name for each in _signature(func))


def _signature(func: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    try:
        return tuple(inspect.signature(func).parameters.values())
    except ValueError:
        return ()


def _passed(
    func: Callable[..., Any], known: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Return what a call of NumPy's function passes to that of containers, and the array or container for the result.

    What a call says and the function does not take is refused, unless it is what is so anyway.
    """
    names, positions = _parameters(func, known)
    limit = 2 if known.__module__ in _NAMED else positions
    if len(args) > limit:
        words = _words(func)
        args, kwargs = args[: int(limit)], {**dict(zip(words[int(limit) :], args[int(limit) :])), **kwargs}
    passed: dict[str, Any] = {}
    out, has_out = None, "out" in kwargs and (names is not _ANY_NAME or "out" in _words(func))
    for given, value in kwargs.items():
        word = names.get(given) or _RENAMED.get(given, given)
        if _is_absent(given, value) and (word not in names or value is NO_VALUE):
            continue
        if word == "out" and has_out and word not in names:
            out = value
        elif names is not _ANY_NAME and word not in names:
            error = InvalidTypeError(f"{_name(func)}: {given}= is not taken with containers")
            error.op = _name(func)
            raise error
        elif word in passed:
            raise InvalidArgumentError(f"{_name(func)}: {given} and {word} can't be provided simultaneously")
        else:
            passed[word] = value
    return args, passed, out


class ReductionMethods:
    """NumPy's methods and functions, which make numbers or other containers of containers. All are collective."""

    _context: Any

    if TYPE_CHECKING:
        sum = statistics.sum
        prod = statistics.prod
        min = statistics.min
        max = statistics.max
        argmin = statistics.argmin
        argmax = statistics.argmax
        all = statistics.all
        any = statistics.any
        mean = statistics.mean
        var = statistics.var
        std = statistics.std
    else:
        sum = Function(".algorithms.statistics")
        prod = Function(".algorithms.statistics")
        min = Function(".algorithms.statistics")
        max = Function(".algorithms.statistics")
        argmin = Function(".algorithms.statistics")
        argmax = Function(".algorithms.statistics")
        all = Function(".algorithms.statistics")
        any = Function(".algorithms.statistics")
        mean = Function(".algorithms.statistics")
        var = Function(".algorithms.statistics")
        std = Function(".algorithms.statistics")

    @overload
    def cumsum(self: Owned, axis: int, dtype: Any = ..., out: Any = ..., *, exclusive: bool = ...) -> Owned: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def cumsum(self: Line, axis: None = ..., dtype: Any = ..., out: Any = ..., *, exclusive: bool = ...) -> Line: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def cumsum(self, axis: int | None = ..., dtype: Any = ..., out: Any = ..., *, exclusive: bool = ...) -> Any: ...
    def cumsum(self, axis: int | None = None, dtype: Any = None, out: Any = None, *, exclusive: bool = False) -> Any:
        """Return the cumulative sums. Collective; see :func:`dtl.cumsum`."""
        return _called(self, np.cumsum, axis, dtype, into=out, exclusive=exclusive)

    @overload
    def cumprod(self: Owned, axis: int, dtype: Any = ..., out: Any = ..., *, exclusive: bool = ...) -> Owned: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def cumprod(self: Line, axis: None = ..., dtype: Any = ..., out: Any = ..., *, exclusive: bool = ...) -> Line: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def cumprod(self, axis: int | None = ..., dtype: Any = ..., out: Any = ..., *, exclusive: bool = ...) -> Any: ...
    def cumprod(self, axis: int | None = None, dtype: Any = None, out: Any = None, *, exclusive: bool = False) -> Any:
        """Return the cumulative products. Collective; see :func:`dtl.cumprod`."""
        return _called(self, np.cumprod, axis, dtype, into=out, exclusive=exclusive)

    def dot(self, b: Any, out: Any = None, *, reproducible: bool = False) -> Any:
        """Return the inner product with a vector, or the product of matrices. Collective; see :func:`dtl.dot`."""
        return _called(self, np.dot, b, into=out, reproducible=reproducible)

    if TYPE_CHECKING:
        T = mT = Transposed()  # noqa: N815 - NumPy's name
    else:

        def _transpose(self) -> Any:
            """Return the transpose, where ``bridge.Container`` does not do it at once."""
            return _permute_dims(self)

        @property
        def mT(self) -> Any:  # noqa: N802 - NumPy's name
            """The transpose of the last two dimensions. Collective; see :func:`dtl.permute_dims`."""
            return _matrix_transpose(self)

    @overload
    def transpose(self: Owned, *axes: Any) -> Owned: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def transpose(self, *axes: Any) -> Any: ...
    def transpose(self, *axes: Any) -> Any:
        """Return the dimensions in another order. Collective; see :func:`dtl.permute_dims`."""
        return _permute_dims(self, _one_or_several(axes) if axes else None)

    def reshape(self, *shape: Any, order: Any = "C", copy: bool | None = None) -> Any:
        """Return a copy in another shape. Collective; see :func:`dtl.reshape`.

        The result never shares elements with the container: copy=False raises InvalidArgumentError.
        """
        refuse_no_copy("reshape", copy)
        return _reshape(self, _one_or_several(shape), order)

    @overload
    def ravel(self: Line, order: Any = ...) -> Line: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def ravel(self, order: Any = ...) -> DistributedVector: ...
    def ravel(self, order: Any = "C") -> Any:
        """Return a vector of the elements. Collective; see :func:`dtl.reshape`."""
        return _ravel(self, order)

    @overload
    def flatten(self: Line, order: Any = ...) -> Line: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def flatten(self, order: Any = ...) -> DistributedVector: ...
    def flatten(self, order: Any = "C") -> Any:
        """Return a vector of the elements. Collective; see :func:`dtl.reshape`."""
        return _ravel(self, order)

    def squeeze(self, axis: Any = None) -> Any:
        """Return a copy without dimensions of extent 1. Collective; see :func:`dtl.squeeze`."""
        return _squeeze(self, axis)

    def take(self, indices: Any, axis: int | None = None, out: Any = None, mode: Any = "raise") -> Any:
        """Return the elements, or rows, of given indices. Collective; see :func:`dtl.take`.

        By mode, indices outside raise BoundsError, or are moved inside: "wrap" takes the remainder, "clip" the nearest.
        """
        made = _take(self, indices, axis) if mode == "raise" else _take_by_mode(self, indices, axis, mode=mode)
        return made if out is None else _written("take", made, out)

    @overload
    def clip(self: Owned, min: Any = ..., max: Any = ..., out: Any = ..., **options: Any) -> Owned: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def clip(self, min: Any = ..., max: Any = ..., out: Any = ..., **options: Any) -> Any: ...
    def clip(self, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
        """Return elements between two bounds. See :func:`dtl.clip`.

        Options are ``where``, ``casting``, ``dtype``, ``order`` and ``subok``, as NumPy's ufuncs take them.
        """
        return _clip(self, min, max, out, **options)

    @overload
    def round(self: Owned, decimals: int = ..., out: Any = ...) -> Owned: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def round(self, decimals: int = ..., out: Any = ...) -> Any: ...
    def round(self, decimals: int = 0, out: Any = None) -> Any:
        """Return rounded elements. Not collective, unless they go to ``out``; see :func:`dtl.round`."""
        made = _round(self, decimals)
        return made if out is None else _written("round", made, out)

    def nonzero(self) -> tuple[DistributedVector, ...]:
        """Return the indices of the elements that are not zero. Collective; see :func:`dtl.nonzero`."""
        found: tuple[DistributedVector, ...] = _nonzero(self)
        return found

    def _array_function(
        self, func: Callable[..., Any], types: Collection[type], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Return what a function of NumPy makes of containers, where ``bridge.Container`` does not do it at once."""
        made = one_rank.dot(*args) if func is np.dot and not kwargs and len(args) == 2 else None
        if made is not None:
            return made
        known = FUNCTIONS.get(func)
        if known is not None and not kwargs and len(args) == 1 and len(types) == 1:  # a container's, and nothing else
            return known(*args)
        if not all(issubclass(kind, DistributedContainer) or _is_ordinary(kind) for kind in types):
            return NotImplemented
        if known is None:
            like = _LIKE.get(getattr(np, func.__name__, func))  # NumPy before 1.25 passes another function of that name
            if like is None:
                raise _no_meaning(func)
            return like(*args, like=self, **kwargs)  # np.zeros(3, like=c)
        try:
            check_classes(_name(func), types)
            call, args, kwargs, out = self._prepared(func, known, args, kwargs)
            return call(*args, **kwargs) if out is None else _written(_name(func), call(*args, **kwargs), out)
        except DTLError as error:  # which may be of one rank's arguments
            tell(error, _name(func), (self,))
            raise

    def _prepared(
        self, func: Callable[..., Any], known: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], Any]:
        """Return what to call for one of NumPy's functions, and with what; and where the result goes, if anywhere."""
        out = None
        if kwargs or len(args) > 1:
            if not args:
                args, kwargs = _first_placed(func, kwargs)
            if func.__name__ in SMALL:
                args, kwargs = taken_whole(func, args, kwargs)
                if not has_containers((*args, *kwargs.values())) and not (_is_led(known) and np.ndim(args[0])):
                    return func, args, kwargs, None
            args = _led(known, args, self._context)
            args, kwargs, out = _passed(func, known, args, kwargs)
        return known, args, kwargs, out


def _first_placed(func: Callable[..., Any], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments of which the first, given by its name, is given by position, if the function takes it so."""
    first = next(iter(_words(func)), None)
    if first is None or first not in kwargs:
        return (), kwargs
    return (kwargs[first],), {name: value for name, value in kwargs.items() if name != first}


def _is_led(known: Callable[..., Any]) -> bool:
    return known.__module__ in _LED or known.__name__ in _LED_NAMES


def _led(known: Callable[..., Any], args: tuple[Any, ...], ctx: Any) -> tuple[Any, ...]:
    """Return arguments of which the first is a container, if it was an array and the function wants a container."""
    first = args[0] if args else None
    if not isinstance(first, (np.ndarray, list)) or not _is_led(known):
        return args
    if isinstance(first, list) and any(isinstance(each, (DistributedContainer, list)) for each in first):
        return args
    return args if np.ndim(first) == 0 else (_asarray(ctx, first), *args[1:])


def _is_ordinary(kind: Any) -> bool:
    """Say whether objects of a class are arrays of which NumPy's functions do what they do of others."""
    return issubclass(kind, np.ndarray) and kind.__array_function__ is np.ndarray.__array_function__


def _one_or_several(given: tuple[Any, ...]) -> Any:
    """Return what a method was given, either as one argument or as several. Collective if it is a container."""
    return whole(given[0]) if len(given) == 1 else given


_permute_dims = late(".algorithms.manipulation", "permute_dims")
_matrix_transpose = late(".algorithms.manipulation", "matrix_transpose")
_reshape = late(".algorithms.manipulation", "reshape")
_ravel = late(".algorithms.manipulation", "ravel")
_squeeze = late(".algorithms.manipulation", "squeeze")
_take = late(".algorithms.taking", "take")
_take_by_mode = late(".algorithms.numpy_functions", "take")
_clip = late(".algorithms.elementwise", "clip")
_round = late(".algorithms.elementwise", "round")
_nonzero = late(".algorithms.elementwise", "nonzero")
_written = late(".algorithms.output", "written")
_asarray = late(".algorithms.creation", "asarray")


def _name(func: Callable[..., Any]) -> str:
    """Return how programs name a function of NumPy."""
    home = getattr(func, "__module__", None) or "numpy"
    return f"{'np' + home[5:] if home.startswith('numpy') else home}.{getattr(func, '__name__', func)}"


def _no_meaning(func: Callable[..., Any]) -> InvalidTypeError:
    """Return the error of a function of NumPy that containers are not given to: the same on every number of ranks."""
    name = _name(func)
    instead = _INSTEAD.get(name[3:])
    advice = f"use {instead}, or " if instead else ""
    error = InvalidTypeError(
        f"{name}: takes no containers, on any number of ranks, because their elements are divided among the ranks; "
        f"{advice}give it this rank's part, local_view(), or the whole on one rank, gather_to(root)"
    )
    error.op = name
    return error


def _called(c: Any, function: Any, *args: Any, into: Any = None, **kwargs: Any) -> Any:
    """Return what one of NumPy's functions returns of a container, or its future, as its method does."""
    f = FUNCTIONS[function]
    if into is not None:
        return _written(_name(function), f(c, *args, **kwargs), into)
    if c.execution_policy is _ASYNC:
        return defer(f, (c, *args), kwargs, depth=3)
    return f(c, *args, **kwargs)
