"""Each keyword of NumPy's functions, with a value other than its default: NumPy's result, or a refusal by its name.

Which functions and keywords there are is what NumPy's signatures say, so that none is accepted here and dropped.
"""

from __future__ import annotations

import inspect
import types
import warnings
from typing import Any, Callable, NamedTuple

import numpy as np
import pytest
from divisions import part
from numpy_calls import ARRAYS, CASES, LINALG_CASES, Case, Given
from older_numpy import VERSION

import dtl
from dtl.protocol.array_function import FUNCTIONS

pytestmark = pytest.mark.skipif(VERSION < "2.1.0", reason="the values below are for the keywords of NumPy from 2.1 on")


class Recorder(np.ndarray):  # type: ignore[type-arg]
    """An array that notes the first call of one function of NumPy's."""

    wanted: Any = None
    calls: list[Any] = []  # noqa: RUF012 - of the class

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is Recorder.wanted and not Recorder.calls:
            Recorder.calls.append((args, kwargs))
        return super().__array_function__(func, types, args, kwargs)


def recorded(func: Any, case: Case) -> Any:
    """Return the arguments with which a case calls a function, in which recorders stand for containers."""
    Recorder.wanted, Recorder.calls = func, []
    case(Given(*(array.view(Recorder) for array in ARRAYS)))
    return Recorder.calls[0] if Recorder.calls else None


def replaced(value: Any, by: Callable[[Any], Any]) -> Any:
    """Return arguments with something else in the place of each recorder."""
    if isinstance(value, Recorder):
        return by(np.asarray(value))
    if isinstance(value, (tuple, list)):
        return type(value)(replaced(each, by) for each in value)
    return {key: replaced(each, by) for key, each in value.items()} if isinstance(value, dict) else value


class Of(NamedTuple):
    """A value that is made of the first array of a call, and of what the call returns without the keyword."""

    make: Callable[[Any, Any], Any]


def _third(a: Any) -> Any:
    return np.arange(a.size).reshape(a.shape) % 3


_WEIGHTS = Of(lambda a, _: (_third(a) + 1.0).view(Recorder))
_OUT = Of(lambda _, result: np.zeros_like(np.asarray(result)).view(Recorder))

#: The values of each keyword. A keyword that is not here fails the test of its function.
VALUES: dict[str, list[Any]] = {
    "N": [3],
    "UPLO": ["U"],
    "a_max": [2.0],
    "a_min": [0.0],
    "allow_pickle": [False],
    "append": [0],
    "assume_unique": [False],
    "atol": [0.5],
    "aweights": [Of(lambda a, _: np.arange(a.shape[-1]) % 3 + 1.0)],
    "axes": [(0,)],
    "axis": [0, -1, None],
    "axis1": [-1],
    "axis2": [-1],
    "axisa": [0],
    "axisb": [0],
    "axisc": [0],
    "base": [2.0],
    "bias": [True],
    "bins": [3, [0.0, 1.0, 5.0]],
    "bitorder": ["little"],
    "busdaycal": [np.busdaycalendar("1111000")],
    "casting": ["no", "unsafe", "safe"],
    "compute_uv": [False],
    "copy": [False],
    "correction": [0.5],
    "count": [3],
    "cov": [True],
    "ddof": [0.5],
    "decimals": [1],
    "default": [7],
    "deg": [True],
    "density": [True],
    "device": ["cpu"],
    "descending": [True, False],
    "discont": [6.0],
    "dtype": [np.float32, np.int32, np.complex128],
    "dx": [0.5],
    "edge_order": [2],
    "endpoint": [False],
    "equal_nan": [True, False],
    "full": [True],
    "full_matrices": [False],
    "fweights": [Of(lambda a, _: np.arange(a.shape[-1]) % 3 + 1)],
    "hermitian": [True],
    "holidays": [[np.datetime64("2024-01-02")]],
    "include_initial": [True],
    "increasing": [True],
    "ind": [1],
    "indexing": ["ij"],
    "initial": [3],
    "invert": [True],
    "k": [1, -1],
    "keepdims": [True],
    "kind": ["stable", "introselect"],
    "left": [-7.0],
    "m": [2],
    "max": [2.0],
    "mean": [Of(lambda a, _: 1.5)],
    "method": ["lower", "inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "averaged_inverted_cdf"],
    "min": [0.0],
    "minlength": [12],
    "mode": ["wrap", "clip", "full", "same", "edge", "linear_ramp", "maximum", "mean", "median", "minimum"],
    "n": [2],
    "nan": [7.0],
    "neginf": [2.0],
    "norm": ["ortho", "forward"],
    "num": [3],
    "offset": [1, -1],
    "optimize": [True, "greedy"],
    "ord": [1],
    "order": ["F", "K", "A"],
    "out": [_OUT],
    "overwrite_input": [True],
    "p": [1],
    "period": [3.0],
    "posinf": [1.0],
    "prepend": [0],
    "range": [(0.0, 3.0)],
    "rcond": [0.5],
    "retstep": [True],
    "return_counts": [True],
    "return_index": [True],
    "return_indices": [True],
    "return_inverse": [True],
    "returned": [True],
    "right": [True],
    "roll": ["backward"],
    "rowvar": [False],
    "rtol": [0.5],
    "s": [(3, 3)],
    "shape": [(2, 3), 5],
    "side": ["right"],
    "size": [None],
    "sorted": [True],
    "sorter": [Of(lambda a, _: np.argsort(a))],
    "source": [0],
    "sparse": [True],
    "stable": [True, False],
    "start": [1],
    "subok": [True],
    "to_begin": [5],
    "to_end": [5],
    "tol": [1e9],
    "trim": ["b"],
    "upper": [True],
    "w": [_WEIGHTS],
    "weekmask": ["1111100"],
    "weights": [_WEIGHTS],
    "where": [Of(lambda a, _: (_third(a) > 0).view(Recorder))],
    "wrap": [True],
    "x": [Of(lambda a, _: np.arange(a.shape[-1]) ** 2.0)],
    "y": [None],
}

#: What is refused by name, because containers have no meaning for it.
REFUSED = {("reshape", "copy")}

#: What is taken here and not by NumPy, which has one of two keywords only, or wants another dtype.
TAKEN = {("concatenate", "out"), ("concatenate", "dtype"), ("stack", "out"), ("multi_dot", "out"), ("cross", "axis")}

#: Signatures with a keyword that no program gives.
INTERNAL = {"like", "einsum_call"}

_WRITING = {"put", "place", "putmask", "copyto", "put_along_axis", "fill_diagonal"}


def _positive(g: Given) -> Any:
    return g.t[1:] @ g.t[1:].T + 9 * np.eye(4)


def _of_a_matrix(module: types.ModuleType, name: str) -> list[Case]:
    return [lambda g: getattr(module, name)(_positive(g))]


_ALGEBRA = "cholesky cond det eigvals eigvalsh inv matrix_norm matrix_rank norm pinv slogdet svdvals vector_norm"
_TRANSFORMS = "fft fft2 fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftn"
CALLS: list[Any] = [
    *((np, name, cases) for name, cases in CASES.items() if name not in ("empty_like", "histogram_bin_edges")),
    *((np.linalg, name, cases) for name, cases in LINALG_CASES.items()),
    *((np.linalg, name, _of_a_matrix(np.linalg, name)) for name in _ALGEBRA.split()),
    *((np.fft, name, _of_a_matrix(np.fft, name)) for name in _TRANSFORMS.split()),
]


def agree(got: Any, want: Any) -> None:
    if isinstance(want, (tuple, list)):
        assert isinstance(got, (tuple, list))
        assert len(got) == len(want)
        for one, other in zip(got, want):
            agree(one, other)
        return
    mine, other = np.asarray(want), want
    if isinstance(got, dtl.DistributedContainer):
        assert got.shape == mine.shape
        mine, other = part(got, mine), got.local_view()
    else:
        other = np.asarray(got)
        assert other.shape == mine.shape
    if mine.dtype.kind in "fc":
        assert other.dtype == mine.dtype
        near = 1e-12 if mine.dtype.itemsize // (1 + (mine.dtype.kind == "c")) == 8 else 1e-5
        np.testing.assert_allclose(other, mine, rtol=near, atol=near)
    else:
        assert other.dtype.kind == mine.dtype.kind  # NumPy's rank of a matrix is of 32 bits
        np.testing.assert_array_equal(other, mine)


def attempted(name: str, func: Any, args: Any, kwargs: Any) -> Any:
    """Return what a call makes, or writes to, or the error that it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = func(*args, **kwargs)
    except (TypeError, ValueError, IndexError, RuntimeError) as error:
        return error
    return args[0] if name in _WRITING else result


@pytest.mark.parametrize(("module", "name", "cases"), CALLS, ids=[f"{m.__name__}.{name}" for m, name, _ in CALLS])
def test_keywords(ctx: dtl.Context, module: types.ModuleType, name: str, cases: list[Case]) -> None:
    func = getattr(module, name)
    if func not in FUNCTIONS:
        return  # what computes in itself, as atleast_1d of one array
    try:
        parameters = inspect.signature(func).parameters
    except ValueError:  # a function of C that does not say its parameters
        parameters = types.MappingProxyType({})
    variadic = any(each.kind is each.VAR_POSITIONAL for each in parameters.values())
    for args, kwargs in filter(None, (recorded(func, case) for case in cases[:2])):
        arrays: list[Any] = []
        replaced(args, arrays.append)
        for position, (word, parameter) in enumerate(parameters.items()):
            given = word in kwargs or (position < len(args) and not variadic)
            if given or parameter.default is parameter.empty or word in INTERNAL:
                continue
            for value in VALUES[word]:
                check(ctx, name, func, args, kwargs, word, value, arrays[0])


def check(ctx: dtl.Context, name: str, func: Any, args: Any, kwargs: Any, word: str, value: Any, first: Any) -> None:
    if isinstance(value, Of):
        value = value.make(first, attempted(name, func, replaced(args, np.array), replaced(kwargs, np.array)))
    more = {**kwargs, word: value}
    want = attempted(name, func, replaced(args, np.array), replaced(more, np.array))

    def convert(a: Any) -> Any:
        return dtl.asarray(ctx, a) if a.ndim else a

    if word == "out" and not isinstance(
        attempted(name, func, replaced(args, convert), replaced(kwargs, convert)), dtl.DistributedContainer
    ):
        more[word] = np.array(value)  # where the result is an array, the same on every rank
    got = attempted(name, func, replaced(args, convert), replaced(more, convert))
    call = f"{name}({word}={value!r})"
    if (name, word) in REFUSED:
        assert isinstance(got, TypeError)
        assert f"{word}= is not taken" in str(got), call
    elif isinstance(want, Exception):
        assert isinstance(got, Exception) or (name, word) in TAKEN, f"{call}: NumPy raises {want!r}"
    else:
        assert not isinstance(got, Exception), f"{call}: {got!r}"
        try:
            agree(got, want)
        except AssertionError as error:
            raise AssertionError(f"{call}: {error}") from None
