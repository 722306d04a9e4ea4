"""Every public function of NumPy, called with containers or arrays: for the tests, and for the documentation."""

from __future__ import annotations

import types
import warnings
from typing import Any, Callable, NamedTuple

import numpy as np
from divisions import division, part
from older_numpy import VERSION

import dtl

#: NumPy has other periods than that of angles from 1.21 on.
_PERIODS = VERSION >= "1.21.0"


#: The methods of quantiles that return an element itself, or the mean of two, of which NumPy before 1.22 has none.
_METHODS = (
    ("inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "averaged_inverted_cdf")
    if VERSION >= "1.22.0"
    else ()
)


class Given(NamedTuple):
    """What functions are called with: containers, or the arrays that these hold."""

    v: Any  # floats, of one dimension
    w: Any  # likewise
    i: Any  # integers with repetitions
    n: Any  # floats with NaN
    b: Any  # bool
    z: Any  # complex
    t: Any  # two dimensions
    u: Any  # three dimensions, one of them of extent 1


ARRAYS = Given(
    v=np.array([3.5, -1.0, 4.25, 1.5, -5.0, 9.0, 2.0]),
    w=np.array([1.0, 2.0, 0.5, 1.5, 7.0, -9.0, 2.0]),
    i=np.array([3, 1, 4, 1, 5, 1, 2]),
    n=np.array([3.0, np.nan, 4.0, 1.0, np.nan, 9.0, 2.0]),
    b=np.array([True, False, True, True, False, False, True]),
    z=np.array([1 + 2j, -1j, 3, 0, 1, 2 - 2j, -1]),
    t=np.arange(20.0).reshape(5, 4)[::-1] % 7,
    u=np.arange(24).reshape(4, 1, 6) * 5 % 11,
)

Case = Callable[[Given], Any]


def days(numbers: Any) -> Any:
    """Return days of January 2024."""
    return numbers.astype("m8[D]") + np.datetime64("2024-01-01")


def _fixed(numbers: Any) -> Any:
    """Return numpy.fix of numbers, which NumPy warns of from 2.5 on."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "numpy.fix is deprecated", DeprecationWarning)
        return np.fix(numbers)


def changed(f: Callable[..., Any], to: Any, *args: Any, **options: Any) -> Any:
    """Return a copy of one after a function has written to it."""
    result = to.copy()
    f(result, *args, **options)
    return result


def copied(to: Any, of: Any, **options: Any) -> Any:
    """Return a copy of one after another was copied to it."""
    result = to.copy()
    np.copyto(result, of, **options)
    return result


CASES: dict[str, list[Case]] = {
    "all": [lambda g: np.all(g.b), lambda g: np.all(g.t, axis=1)],
    "allclose": [
        lambda g: np.allclose(g.v, g.v),
        lambda g: np.allclose(g.v, g.w),
        lambda g: np.allclose(g.n, g.n),
        lambda g: np.allclose(g.n, g.n, equal_nan=True),
    ],
    "amax": [lambda g: np.amax(g.v)],
    "amin": [lambda g: np.amin(g.t, 0)],
    "angle": [lambda g: np.angle(g.z)],
    "any": [lambda g: np.any(g.b), lambda g: np.any(g.t > 5, axis=0, keepdims=True)],
    "append": [
        lambda g: np.append(g.v, g.w),
        lambda g: np.append(g.t, g.t, axis=1),
        lambda g: np.append(g.v, 5),
        lambda g: np.append(g.t, np.ones((1, 4)), axis=0),
        lambda g: np.append([1, 2], g.t),
    ],
    "apply_along_axis": [
        lambda g: np.apply_along_axis(np.sort, 0, g.t),
        lambda g: np.apply_along_axis(lambda line: line.max() - line[0], 1, g.t),
        lambda g: np.apply_along_axis(lambda line: np.outer(line, line[:2]), 2, g.u),
    ],
    "apply_over_axes": [
        lambda g: np.apply_over_axes(np.sum, g.u, [0, 2]),
        lambda g: np.apply_over_axes(np.sum, g.t, 1),
        lambda g: np.apply_over_axes(np.max, g.t, (0, 1)),
    ],
    "argpartition": [lambda g: g.v[np.argpartition(g.v, 2)][2]],
    "argmax": [lambda g: np.argmax(g.v), lambda g: np.argmax(g.t, 1)],
    "argmin": [lambda g: np.argmin(g.v), lambda g: np.argmin(g.t, axis=0)],
    "argsort": [lambda g: np.argsort(g.v)],
    "argwhere": [lambda g: np.argwhere(g.t > 3), lambda g: np.argwhere(g.b)],
    "around": [lambda g: np.around(g.v)],
    "array_equal": [
        lambda g: np.array_equal(g.v, g.v),
        lambda g: np.array_equal(g.v, g.t),
        lambda g: np.array_equal(g.n, g.n),
        lambda g: np.array_equal(g.n, g.n, equal_nan=True),
    ],
    "array_split": [lambda g: np.array_split(g.v, 3), lambda g: np.array_split(g.t, [1, 3], axis=1)],
    "atleast_1d": [lambda g: np.atleast_1d(g.v)],
    "atleast_2d": [lambda g: np.atleast_2d(g.v), lambda g: np.atleast_2d(g.v, g.t)],
    "atleast_3d": [lambda g: np.atleast_3d(g.v), lambda g: np.atleast_3d(g.t)],
    "average": [
        lambda g: np.average(g.v),
        lambda g: np.average(g.v, weights=g.i),
        lambda g: np.average(g.t, axis=0),
        lambda g: np.average(g.t, axis=0, weights=[1, 2, 0, 4, 5]),
        lambda g: np.average(g.t, axis=1, weights=g.t[0], returned=True),
        lambda g: np.average(g.t, axis=0, weights=g.t * 2, returned=True),
        lambda g: np.average(g.i, weights=g.i.astype(np.uint8), returned=True),
        *(
            [lambda g: np.average(g.u, axis=(2, 0), weights=np.arange(24.0).reshape(6, 4))]
            if VERSION >= "2.1.0"
            else []
        ),
        lambda g: np.average(g.t, axis=1, returned=True),
        lambda g: np.average(g.i.astype(np.uint8) * 50, weights=g.i.astype(np.uint8)),
        lambda g: np.average(np.where(g.b, g.v, np.inf), weights=g.i),
    ],
    "block": [
        lambda g: np.block([g.v, g.w]),
        lambda g: np.block([[g.t, g.t], [g.t[::-1], g.t * 2]]),
        lambda g: np.block([[g.v], [g.w]]),
    ],
    "busday_count": [lambda g: np.busday_count(days(g.i), np.datetime64("2024-03-01"))],
    "busday_offset": [lambda g: np.busday_offset(days(g.i), 1, roll="forward") == np.datetime64("2024-01-05")],
    "is_busday": [lambda g: np.is_busday(days(g.i))],
    "bincount": [lambda g: np.bincount(g.i)],
    "broadcast_arrays": [lambda g: np.broadcast_arrays(g.t, g.t[:1], g.t[0])],
    "broadcast_to": [lambda g: np.broadcast_to(g.v, (2, 7)), lambda g: np.broadcast_to(g.u, (3, 4, 2, 6))],
    "can_cast": [lambda g: np.can_cast(g.i, np.float64) if hasattr(g.i, "gather_to") else True],
    "choose": [
        lambda g: np.choose(g.i % 2, [g.v, g.w]),
        lambda g: np.choose(g.i, [g.v, 1, g.w], mode="wrap"),
        lambda g: np.choose(g.i, [g.v, 1, g.w], mode="clip"),
        lambda g: np.choose(g.i % 2, [g.v, g.w], out=np.zeros_like(g.v)),
    ],
    "compress": [
        lambda g: np.compress(g.b, g.v),
        lambda g: np.compress([True, False, True], g.t, axis=1),
        lambda g: np.compress(g.b[:5], g.t, axis=0),
        lambda g: np.compress([False, True, True], g.t),
        lambda g: np.compress([True, False, True], g.t, axis=1, out=np.zeros_like(g.t[:, :2])),
    ],
    "convolve": [
        lambda g: np.convolve(g.v, [1.0, 2.0, -1.0]),
        lambda g: np.convolve(g.v, g.w, "same"),
        lambda g: np.convolve(g.i, [1, 2], "same"),
        lambda g: np.convolve([1, 0.5], g.v, "valid"),
        lambda g: np.convolve(g.v, np.arange(9.0), "same"),
        lambda g: np.convolve(g.v, np.arange(10.0), "full"),
        lambda g: np.convolve(g.z, g.v[:3], "valid"),
        lambda g: np.convolve(np.where(g.b, g.v, np.inf), [1.0, 2.0]),
        lambda g: np.convolve([1.0, np.inf], g.v, "same"),
    ],
    "correlate": [
        lambda g: np.correlate(g.v, [1.0, 2.0, -1.0]),
        lambda g: np.correlate(g.v, g.w, "full"),
        lambda g: np.correlate(g.z, g.z[:2], "same"),
        lambda g: np.correlate(g.z[:2], g.z, "same"),
        lambda g: np.correlate(g.v[:3], g.z, "full"),
        lambda g: np.correlate(g.v[:4], g.w, "valid"),
        lambda g: np.correlate(g.v, [np.inf, 1.0, 2.0], "full"),
    ],
    "clip": [
        lambda g: np.clip(g.v, 1, 3),
        lambda g: np.clip(g.v, None, 2),
        lambda g: np.clip(g.v, g.w, 9),
        *([lambda g: np.clip(g.i.astype(np.uint8), -1, 300)] if VERSION >= "2.0.0" else []),
        *([lambda g: np.clip(g.i.astype(np.uint8), 2, 300)] if VERSION >= "2.0.0" else []),
    ],
    "column_stack": [lambda g: np.column_stack([g.v, g.w])],
    "common_type": [lambda g: np.common_type(g.v, g.i), lambda g: np.common_type(g.z)],
    "concatenate": [
        lambda g: np.concatenate([g.v, g.i]),
        lambda g: np.concatenate([g.t, g.t], axis=1),
        lambda g: np.concatenate((g.t, g.t)),
        lambda g: np.concatenate((g.t, g.u), axis=None),
        lambda g: np.concatenate((g.i, [1, 2]), dtype=np.float32),
        lambda g: np.concatenate((g.v, g.w), 0, dtype=np.int32, casting="unsafe"),
        lambda g: np.concatenate((g.v, g.t[0]), out=np.zeros_like(np.tile(g.v, 2)[:11])),
    ],
    "copy": [lambda g: np.copy(g.v)],
    "count_nonzero": [lambda g: np.count_nonzero(g.b), lambda g: np.count_nonzero(g.t, axis=1)],
    "cross": [lambda g: np.cross(g.t[:, :3], g.t[:, 1:])],
    "cumprod": [lambda g: np.cumprod(g.v)],
    "cumsum": [
        lambda g: np.cumsum(g.i),
        lambda g: np.cumsum(g.t, axis=0),
        lambda g: np.cumsum(g.t, 1, None, np.zeros_like(g.t)),
    ],
    "delete": [
        lambda g: np.delete(g.v, [1, 2]),
        lambda g: np.delete(g.t, 1, axis=0),
        lambda g: np.delete(g.t, [-1, 0, 3, 3]),
        lambda g: np.delete(g.t, slice(None, None, 2), axis=1),
        lambda g: np.delete(g.v, [True, False, True, True, False, False, False]),
    ],
    "diag": [lambda g: np.diag(g.v), lambda g: np.diag(g.i, -2), lambda g: np.diag(g.i, 1), lambda g: np.diag(g.t, 1)],
    "diag_indices_from": [lambda g: np.diag_indices_from(g.t[:4])],
    "diagflat": [lambda g: np.diagflat(g.t[:2], 1)],
    "diagonal": [
        lambda g: np.diagonal(g.t),
        lambda g: np.diagonal(g.t, -2),
        lambda g: np.diagonal(g.t.astype("S3")) == b"6.0",
        lambda g: np.diagonal(g.u, 1, 2, 0),
        lambda g: np.diagonal(g.t, 1, axis1=1, axis2=0),
    ],
    "diff": [
        lambda g: np.diff(g.v, prepend=0, append=g.w),
        lambda g: np.diff(g.t, axis=1, prepend=1.5),
        lambda g: np.diff(g.v.astype(np.float32), prepend=0),
        lambda g: np.diff(g.v),
        lambda g: np.diff(g.t, 2, axis=0),
        lambda g: np.diff(g.b),
    ],
    "digitize": [lambda g: np.digitize(g.v, [0, 2, 4])],
    "dot": [lambda g: np.dot(g.v, g.w)],
    "dsplit": [lambda g: np.dsplit(g.u, 2)],
    "dstack": [lambda g: np.dstack([g.v, g.w]), lambda g: np.dstack([g.t, g.t])],
    "ediff1d": [
        lambda g: np.ediff1d(g.v),
        lambda g: np.ediff1d(g.t, to_end=[5.0, 6.0]),
        lambda g: np.ediff1d(g.i, to_begin=7, to_end=9),
    ],
    "einsum_path": [lambda g: np.einsum_path("ij,ik->jk", g.t, g.t)[0]],
    "extract": [lambda g: np.extract(g.t > 3, g.t), lambda g: np.extract([True, False, True], g.v)],
    "fill_diagonal": [
        lambda g: changed(np.fill_diagonal, g.t, 9),
        lambda g: changed(np.fill_diagonal, g.t[:, :2], [1, 2, 3], wrap=True),
        lambda g: changed(np.fill_diagonal, g.t, g.v),
    ],
    "gradient": [
        lambda g: np.gradient(g.v),
        lambda g: np.gradient(g.i, 0.5, edge_order=2),
        lambda g: np.gradient(g.t),
        lambda g: np.gradient(g.t, 2.0, [0.0, 1.0, 3.0, 4.0]),
        lambda g: np.gradient(g.t, axis=1),
        lambda g: np.gradient(g.v, np.arange(7) ** 1.5, edge_order=2),
        lambda g: np.gradient(g.w, np.cumsum(g.i)),
        lambda g: np.gradient(g.u, axis=(0, 2)),
    ],
    "einsum": [lambda g: np.einsum("ij,ik->jk", g.t, g.t), lambda g: np.einsum("i,i", g.v, g.w)],
    "empty_like": [lambda g: np.empty_like(g.i) * 0],
    "expand_dims": [lambda g: np.expand_dims(g.v, 0), lambda g: np.expand_dims(g.t, (1, 3))],
    "fix": [lambda g: _fixed(g.v)],
    "flatnonzero": [lambda g: np.flatnonzero(g.t > 3)],
    "flip": [lambda g: np.flip(g.v), lambda g: np.flip(g.t), lambda g: np.flip(g.t, 1)],
    "fliplr": [lambda g: np.fliplr(g.t)],
    "flipud": [lambda g: np.flipud(g.t)],
    "full_like": [
        lambda g: np.full_like(g.v, 3),
        lambda g: np.full_like(g.t, 3, dtype=np.int32),
        lambda g: np.full_like(g.t, 3, shape=(3, 2, 2)),
    ],
    "histogram": [lambda g: np.histogram(g.v, 4)],
    "histogram2d": [
        lambda g: np.histogram2d(g.v, g.w, 3),
        lambda g: np.histogram2d(g.v, g.w, [2, [-9, 0, 9]], density=True),
        lambda g: np.histogram2d(g.v, g.w, 2, range=[[0, 5], [0, 3]], weights=g.i),
    ],
    "histogram_bin_edges": [lambda g: np.histogram_bin_edges(g.v, 4)],
    "histogramdd": [lambda g: np.histogramdd(g.t, 2), lambda g: np.histogramdd((g.v, g.w, g.i), (2, 3, 2))],
    "hsplit": [lambda g: np.hsplit(g.t, 2), lambda g: np.hsplit(g.v, [3])],
    "hstack": [lambda g: np.hstack([g.v, g.w]), lambda g: np.hstack([g.t, g.t])],
    "i0": [lambda g: np.i0(g.v)],
    "imag": [lambda g: np.imag(g.z)],
    "inner": [lambda g: np.inner(g.v, g.w), lambda g: np.inner(g.t, g.t[:2])],
    "insert": [
        lambda g: np.insert(g.v, 2, 5),
        lambda g: np.insert(g.v, [1, 7, 1], [5, 6, 7]),
        lambda g: np.insert(g.t, -1, 5, axis=0),
        lambda g: np.insert(g.t, [1, 4], g.t[:, :2], axis=1),
        lambda g: np.insert(g.t, 3, 1.5),
        lambda g: np.insert(g.t, 1, [1, 2, 3, 4], axis=0),
        lambda g: np.insert(g.t, 1, [1, 2, 3, 4, 5], axis=1),
        lambda g: np.insert(g.v, slice(0, 6, 2), 0),
    ],
    "ix_": [lambda g: np.ix_(g.i, g.i), lambda g: np.ix_(g.b, [1, 0])],
    "kron": [
        lambda g: np.kron(g.v, g.w),
        lambda g: np.kron(g.t, [[1, 2], [0, 1]]),
        lambda g: np.kron(np.array([[1, 2], [0, 1]]), g.t),
        lambda g: np.kron(g.v, g.t),
    ],
    "linspace": [
        lambda g: np.linspace(g.v, 5),
        lambda g: np.linspace(1, g.t, 4, axis=1),
        lambda g: np.linspace(g.v, g.w, 3, endpoint=False, dtype=np.float32),
        lambda g: np.linspace(g.i, g.i + 5, 3, dtype=int),
        lambda g: np.linspace(g.v, g.v, 3, retstep=True),
        lambda g: np.linspace(g.v, [[1.0], [2.0]], 1),
    ],
    "logspace": [lambda g: np.logspace(g.v, 2), lambda g: np.logspace(0, g.t, 3, base=2.0, axis=-1)],
    "geomspace": [
        lambda g: np.geomspace(np.abs(g.v), 100.0),
        lambda g: np.geomspace(3.0, np.abs(g.w), 4, endpoint=False),
        # NumPy before 2 has no negative arrays beside a number there.
        *([lambda g: np.geomspace(-np.abs(g.t) - 1, -8, 3, axis=1)] if VERSION >= "2.0.0" else []),
    ],
    "lexsort": [lambda g: np.lexsort((g.v, g.i))],
    "interp": [lambda g: np.interp(g.v, [0.0, 5.0], [1.0, 2.0])],
    "intersect1d": [
        lambda g: np.intersect1d(g.v, g.w),
        lambda g: np.intersect1d(g.i, g.t, return_indices=True),
    ],
    "isclose": [lambda g: np.isclose(g.v, g.w), lambda g: np.isclose(g.n, g.n, equal_nan=True)],
    "iscomplex": [lambda g: np.iscomplex(g.z)],
    "iscomplexobj": [lambda g: np.iscomplexobj(g.z), lambda g: np.iscomplexobj(g.v)],
    "isin": [lambda g: np.isin(g.i, [1, 5]), lambda g: np.isin(g.v, g.w), lambda g: np.isin(g.i, [1], invert=True)],
    "isneginf": [lambda g: np.isneginf(g.v)],
    "isposinf": [lambda g: np.isposinf(g.v)],
    "isreal": [lambda g: np.isreal(g.z)],
    "isrealobj": [lambda g: np.isrealobj(g.z)],
    "max": [lambda g: np.max(g.v), lambda g: np.max(g.t, 0), lambda g: np.max(g.v, initial=99.0)],
    "mean": [
        lambda g: np.mean(g.v),
        lambda g: np.mean(g.t, 1, keepdims=True),
        lambda g: np.mean(g.v, where=g.b),
        lambda g: np.mean(g.i, dtype=np.int64),
        lambda g: np.mean(g.u, axis=0, dtype=np.int32),
        lambda g: np.mean(g.i.astype(np.uint8) * 50, dtype=np.uint8),
    ],
    "median": [
        lambda g: np.median(g.v),
        lambda g: np.median(g.t, axis=0),
        lambda g: np.median(g.b),
        lambda g: np.median(g.t, 0, np.zeros_like(g.t[0])),
        lambda g: np.median(a=g.t + 0, axis=1, overwrite_input=True),
    ],
    "meshgrid": [lambda g: np.meshgrid(g.v, g.i), lambda g: np.meshgrid(g.v, g.i, indexing="ij", sparse=True)],
    "min": [lambda g: np.min(g.v), lambda g: np.min(g.v, initial=0.0, where=g.b)],
    "min_scalar_type": [lambda g: np.min_scalar_type(g.i)],
    "moveaxis": [lambda g: np.moveaxis(g.u, 0, 2)],
    "nan_to_num": [lambda g: np.nan_to_num(g.n, nan=7.0)],
    "nanargmax": [lambda g: np.nanargmax(g.n)],
    "nanargmin": [lambda g: np.nanargmin(g.n)],
    "nancumprod": [lambda g: np.nancumprod(g.n)],
    "nancumsum": [lambda g: np.nancumsum(g.n)],
    "nanmax": [
        lambda g: np.nanmax(g.n),
        *([lambda g: np.nanmax(g.n, initial=2.5, where=~g.b)] if VERSION >= "1.22.0" else []),
    ],
    "nanmean": [
        lambda g: np.nanmean(g.n),
        *(
            [lambda g: np.nanmean(np.where(g.t > 0, g.t, np.nan), axis=0, where=g.t != 4)]
            if VERSION >= "1.22.0"
            else []
        ),
    ],
    "nanmedian": [lambda g: np.nanmedian(g.n), lambda g: np.nanmedian(g.t, axis=0)],
    "nanpercentile": [lambda g: np.nanpercentile(g.n, 20)],
    "nanquantile": [
        lambda g: np.nanquantile(g.n, 0.3),
        lambda g: np.nanquantile(np.where(g.t > 3, np.nan, g.t), 0.4, axis=0, keepdims=True),
        *(
            [
                lambda g: np.nanquantile(g.n, 0.6, weights=g.i, method="inverted_cdf"),
                lambda g: np.nanquantile(
                    np.where(g.t > 0, g.t, np.nan), 0.4, 1, weights=g.t + 1, method="inverted_cdf"
                ),
            ]
            if VERSION >= "2.1.0"
            else []
        ),
    ],
    "nanmin": [lambda g: np.nanmin(g.n), lambda g: np.nanmin(g.t, axis=1)],
    "nanprod": [lambda g: np.nanprod(g.n)],
    "nanstd": [lambda g: np.nanstd(g.n)],
    "nansum": [lambda g: np.nansum(g.n), lambda g: np.nansum(g.t, axis=0)],
    "nanvar": [lambda g: np.nanvar(g.n), lambda g: np.nanvar(g.n, ddof=1)],
    "ndim": [lambda g: np.ndim(g.t)],
    "nonzero": [lambda g: np.nonzero(g.t > 3), lambda g: np.nonzero(g.b)],
    "ones_like": [lambda g: np.ones_like(g.t, order="F"), lambda g: np.ones_like(g.t, shape=5)],
    "outer": [lambda g: np.outer(g.v, g.w), lambda g: np.outer(g.t, [[1, 2], [3, 4]])],
    "packbits": [
        lambda g: np.packbits(g.b),
        lambda g: np.packbits(g.t > 2, bitorder="little"),
        lambda g: np.packbits(g.u % 3, 0),
        lambda g: np.packbits(g.t > 3, axis=-1),
        lambda g: np.packbits(np.concatenate([g.i, g.i, g.i, g.i - 1]), axis=0),
    ],
    "partition": [lambda g: np.partition(g.v, 3)[3], lambda g: np.partition(g.t, 1, axis=0)[1]],
    "piecewise": [
        lambda g: np.piecewise(g.v, [g.v < 0, g.v > 3], [-1, np.sqrt, 0.5]),
        lambda g: np.piecewise(g.t, [g.t > 3], [lambda x: x * 2, lambda x: -x]),
    ],
    "place": [
        lambda g: changed(np.place, g.v, g.b, [1, 2]),
        lambda g: changed(np.place, g.t, g.t > 2, g.w),
        lambda g: changed(np.place, g.t, np.arange(20) % 3 == 0, [7, 8, 9]),
    ],
    "polyadd": [lambda g: np.polyadd(g.v, [1, 2]), lambda g: np.polyadd(g.v[:3], g.w)],
    "polyder": [lambda g: np.polyder(g.v), lambda g: np.polyder(g.i, 2)],
    "polyfit": [
        lambda g: np.polyfit(g.v, g.w, 2),
        lambda g: np.polyfit(g.v, g.w, 1, w=g.i, full=True)[:3],
        lambda g: np.polyfit(g.v[:5], g.t, 1),
        lambda g: np.polyfit(g.v, g.w, 2, cov=True),
    ],
    "polydiv": [
        lambda g: np.polydiv(g.v, [1, 0, 2]),
        lambda g: np.polydiv(g.i, g.v[:3]),
        lambda g: np.polydiv(2.0, g.z),
    ],
    "polyint": [lambda g: np.polyint(g.v), lambda g: np.polyint(g.i, 2, [3, 4])],
    "polymul": [
        lambda g: np.polymul(g.v, [1, 0, 2]),
        lambda g: np.polymul(g.v[:3], g.w),
        lambda g: np.polymul(g.v, []),
    ],
    "polysub": [lambda g: np.polysub([1, 2], g.v)],
    "unpackbits": [
        lambda g: np.unpackbits(g.i.astype(np.uint8)),
        lambda g: np.unpackbits(g.t.astype(np.uint8), axis=0, bitorder="little"),
        lambda g: np.unpackbits(g.t.astype(np.uint8), axis=1, count=5),
        lambda g: np.unpackbits(g.i.astype(np.uint8), count=-3),
        lambda g: np.unpackbits(g.i.astype(np.uint8), count=70),
        lambda g: np.unpackbits(g.i[:1].astype(np.uint8), count=23),
        lambda g: np.unpackbits(g.t.astype(np.uint8), axis=1, count=40),
    ],
    "put": [
        lambda g: changed(np.put, g.v, [0, -1, 0], [1, 2, 3]),
        lambda g: changed(np.put, g.t, [17, 3, 30], g.v, mode="wrap"),
        lambda g: changed(np.put, g.t, np.argsort(g.v), g.w),
        lambda g: changed(np.put, g.v, [2, 99], 5.0, mode="clip"),
    ],
    "put_along_axis": [
        lambda g: changed(np.put_along_axis, g.t, np.expand_dims(np.argmax(g.t, axis=1), 1), 99, axis=1),
        lambda g: changed(np.put_along_axis, g.t, np.expand_dims(np.argmin(g.t, axis=0), 0), g.t[:1], axis=0),
    ],
    "putmask": [
        lambda g: changed(np.putmask, g.v, g.b, -g.w),
        lambda g: changed(np.putmask, g.t, g.t > 2, [7, 8, 9]),
    ],
    "percentile": [lambda g: np.percentile(g.v, 30), lambda g: np.percentile(g.t, [10, 50], axis=0)],
    "polyval": [lambda g: np.polyval([1.0, 2.0, 3.0], g.v)],
    "prod": [lambda g: np.prod(g.i), lambda g: np.prod(g.t, axis=1)],
    "ptp": [lambda g: np.ptp(g.v), lambda g: np.ptp(g.t, axis=0)],
    "quantile": [
        lambda g: np.quantile(g.v, 0.3),
        lambda g: np.quantile(g.t, 0.5, axis=1, keepdims=True),
        lambda g: np.quantile(g.t, 0.5, axis=1, out=np.zeros_like(g.t[:, 0])),
        *(lambda g, of=of: [np.quantile(g.v, q, method=of) for q in (0.0, 0.25, 0.5, 6 / 7, 1.0)] for of in _METHODS),  # type: ignore[misc]
        *(
            [
                lambda g: np.quantile(g.t, 0.3, weights=g.t % 3, method="inverted_cdf"),
                lambda g: np.quantile(g.t, [0.3, 0.9], axis=0, weights=[1, 2, 0, 4, 5], method="inverted_cdf"),
                lambda g: np.quantile(g.u, 0.4, axis=(2, 0), weights=(g.u + 1).T[:, 0], method="inverted_cdf"),
            ]
            if VERSION >= "2.1.0"
            else []
        ),
    ],
    "ravel": [
        lambda g: np.ravel(g.t),
        lambda g: np.ravel(g.v),
        lambda g: np.ravel(g.u, "F"),
        lambda g: g.t.flatten("F"),
        lambda g: g.t.ravel(order="K"),
    ],
    "ravel_multi_index": [
        lambda g: np.ravel_multi_index((g.i, g.i % 4), (6, 5)),
        lambda g: np.ravel_multi_index((g.i, 1), (3, 4), mode="clip", order="F"),
    ],
    "real_if_close": [lambda g: np.real_if_close(g.z), lambda g: np.real_if_close(g.v + 1e-20j)],
    "real": [lambda g: np.real(g.z)],
    "repeat": [
        lambda g: np.repeat(g.v, 2),
        lambda g: np.repeat(g.t, [1, 0, 2, 1], axis=1),
        lambda g: np.repeat(g.t, 2),
    ],
    "reshape": [
        lambda g: np.reshape(g.t, (2, 10)),
        lambda g: np.reshape(g.t, (5, -1, 2)),
        lambda g: np.reshape(g.t, -1),
        lambda g: np.reshape(g.t, (2, -1), order="F"),
        lambda g: g.u.reshape(3, 8, order="F"),
        lambda g: g.t.reshape((4, 5), order="A"),
    ],
    "resize": [lambda g: np.resize(g.v, (3, 5)), lambda g: np.resize(g.t, 7)],
    "result_type": [lambda g: np.result_type(g.i, g.v)],
    "roll": [
        lambda g: np.roll(g.v, 3),
        lambda g: np.roll(g.t, -1),
        lambda g: np.roll(g.v, (1, 2)),
        lambda g: np.roll(g.t, (1, 2), axis=(0, 1)),
    ],
    "rollaxis": [lambda g: np.rollaxis(g.u, 2), lambda g: np.rollaxis(g.u, 0, 3)],
    "rot90": [lambda g: np.rot90(g.t), lambda g: np.rot90(g.t, 2), lambda g: np.rot90(g.t, 3)],
    "round": [lambda g: np.round(g.v, 1), lambda g: np.round(g.t / 3, 1, np.zeros_like(g.t))],
    "searchsorted": [
        lambda g: np.searchsorted(np.sort(g.v), [0.0, 2.0, 99.0]),
        lambda g: np.searchsorted(g.v, [0.0, 2.0, 99.0], sorter=np.argsort(g.v)),
        lambda g: np.searchsorted(np.sort(g.i), [-1e300, 0.5, 1.0, 1.5, 5.0, np.inf, np.nan]),
        lambda g: np.searchsorted(np.sort(g.i).astype(np.uint8), [-0.5, 1.0, 1.5, 4.5, 5.0, 300.0], "right"),
    ],
    "select": [
        lambda g: np.select([g.v > 3, g.v < 0], [g.v, g.w], 7.0),
        lambda g: np.select([g.v > 3, g.v < 0], ["high", "low"], "between") == "low",
    ],
    "setdiff1d": [lambda g: np.setdiff1d(g.v, g.w), lambda g: np.setdiff1d(g.v, g.w, assume_unique=True)],
    "setxor1d": [lambda g: np.setxor1d(g.v, g.w)],
    "shape": [lambda g: np.shape(g.t)],
    "sinc": [lambda g: np.sinc(g.v)],
    "size": [lambda g: np.size(g.t), lambda g: np.size(g.t, 1)],
    "sort": [lambda g: np.sort(g.v), lambda g: np.sort(g.t, axis=0), lambda g: np.sort(g.t, axis=None)],
    "sort_complex": [lambda g: np.sort_complex(g.z), lambda g: np.sort_complex(g.v)],
    "split": [lambda g: np.split(g.t, 2, axis=1), lambda g: np.split(g.v, [2, 5])],
    "squeeze": [lambda g: np.squeeze(g.u), lambda g: np.squeeze(g.u, 1)],
    "stack": [
        lambda g: np.stack([g.v, g.w]),
        lambda g: np.stack([g.v, g.w], axis=1),
        lambda g: np.stack((g.t, g.t), 1),
        *([lambda g: np.stack([g.v, g.w], 1, dtype=np.float32)] if VERSION >= "1.24.0" else []),
    ],
    "std": [
        lambda g: np.std(g.v),
        lambda g: np.std(g.t, axis=0, ddof=1),
        *([lambda g: np.std(g.t, axis=0, correction=1)] if VERSION >= "2.0.0" else []),
    ],
    "sum": [
        lambda g: np.sum(g.v),
        lambda g: np.sum(g.t, 0, None, None, True),
        lambda g: np.sum(g.i, initial=5),
        lambda g: np.sum(g.t, axis=0, where=g.t > 2),
    ],
    "swapaxes": [lambda g: np.swapaxes(g.u, 0, 2)],
    "take": [
        lambda g: np.take(g.v, [6, 0, -1]),
        lambda g: np.take(g.t, [3, 0], axis=1),
        lambda g: np.take(g.t, [4], 0),
        lambda g: np.take(g.t, [7, -9], 1, mode="wrap"),
        lambda g: np.take(g.v, [7, -9], mode="clip"),
        lambda g: np.take(g.v, [1, 2], out=np.zeros_like(g.v[:2])),
    ],
    "take_along_axis": [
        lambda g: np.take_along_axis(g.t, np.expand_dims(np.argmax(g.t, axis=1), 1), axis=1),
        lambda g: np.take_along_axis(g.t, np.expand_dims(g.i[:3] % 5, 1), axis=0),
    ],
    "tensordot": [lambda g: np.tensordot(g.t, g.t, (0, 0)), lambda g: np.tensordot(g.v, g.w, axes=1)],
    "tile": [lambda g: np.tile(g.v, 2), lambda g: np.tile(g.t, (2, 1, 3))],
    "trace": [
        lambda g: np.trace(g.t),
        lambda g: np.trace(g.t, offset=1),
        lambda g: np.trace(g.u, 1, 2, 0, dtype=np.float64),
    ],
    "transpose": [lambda g: np.transpose(g.t), lambda g: np.transpose(g.u, (1, 2, 0))],
    "tril": [lambda g: np.tril(g.t)],
    "tril_indices_from": [lambda g: np.tril_indices_from(g.t, -1)],
    "trim_zeros": [
        lambda g: np.trim_zeros(np.where(np.abs(g.v) > 3.8, g.v, 0)),
        lambda g: np.trim_zeros(g.v * 0, "f"),
        lambda g: np.trim_zeros(g.i - 3, "b"),
    ],
    "triu_indices_from": [lambda g: np.triu_indices_from(g.t, 1)],
    "unravel_index": [lambda g: np.unravel_index(g.i, (2, 3)), lambda g: np.unravel_index(g.i, (3, 4), "F")],
    "unwrap": [
        lambda g: np.unwrap(g.v),
        *([lambda g: np.unwrap(g.t, axis=0, period=4), lambda g: np.unwrap(g.i * 3, period=5)] if _PERIODS else []),
    ],
    "vander": [lambda g: np.vander(g.v, 3), lambda g: np.vander(g.i, increasing=True)],
    "triu": [lambda g: np.triu(g.t, 1)],
    "unique": [
        lambda g: np.unique(g.i),
        lambda g: np.unique(g.t, return_counts=True),
        lambda g: np.unique(g.i, return_inverse=True),
        lambda g: np.unique(g.t, return_index=True, return_counts=True),
        lambda g: np.unique(g.t % 3, axis=0),
        lambda g: np.unique(g.t % 2, axis=1, return_index=True, return_inverse=True, return_counts=True),
        lambda g: np.unique(g.u % 2, axis=2, return_counts=True),
        *(
            [lambda g: np.unique(g.n, return_index=True, return_inverse=True, return_counts=True)]
            if VERSION >= "1.21.0"
            else []
        ),
        *([lambda g: np.unique(g.n, return_counts=True, equal_nan=False)] if VERSION >= "1.24.0" else []),
    ],
    "union1d": [lambda g: np.union1d(g.v, g.w)],
    "array_equiv": [lambda g: np.array_equiv(g.t, g.t[:1]), lambda g: np.array_equiv(g.v, g.v)],
    "copyto": [lambda g: copied(g.v, g.i), lambda g: copied(g.t, g.t[0], where=g.t > 3), lambda g: copied(g.v, 7)],
    "corrcoef": [
        lambda g: np.corrcoef(g.t),
        lambda g: np.corrcoef(g.t, rowvar=False),
        lambda g: np.corrcoef(g.v, g.w),
    ],
    "cov": [
        lambda g: np.cov(g.t),
        lambda g: np.cov(g.t, rowvar=False, bias=True),
        lambda g: np.cov(g.v, g.w),
        lambda g: np.cov(g.v),
        lambda g: np.cov(g.t, g.t[0], ddof=0),
        lambda g: np.cov(g.t, fweights=[1, 2, 3, 4]),
        lambda g: np.cov(g.t, aweights=np.array([1.0, 0.5, 2.0, 0.25])),
        lambda g: np.cov(g.t, rowvar=False, fweights=[1, 0, 2, 1, 3], aweights=[1.0, 0.5, 2.0, 0.25, 1.0]),
        lambda g: np.cov(g.v, g.w, aweights=np.abs(g.w), ddof=0),
        lambda g: np.cov(g.v, fweights=g.i),
        lambda g: np.cov(g.z, aweights=g.i),
    ],
    "pad": [
        lambda g: np.pad(g.v, 2),
        lambda g: np.pad(g.t, ((1, 0), (0, 2)), constant_values=5),
        lambda g: np.pad(g.t, 1, constant_values=((5, 6), (7, 8))),
        lambda g: np.pad(g.v, (3, 9), "edge"),
        lambda g: np.pad(g.t, ((1, 6 if VERSION >= "1.25.0" else 5), (2, 0)), "wrap"),  # before, wrong beyond an extent
        lambda g: np.pad(g.t, 4, mode="reflect"),
        lambda g: np.pad(g.v, 9, mode="symmetric"),
        lambda g: np.pad(g.t, ((3, 2), (1, 4)), "linear_ramp", end_values=((5, -4), (-3, 7))),
        lambda g: np.pad(g.i, (3, 4), "linear_ramp", end_values=9),
        lambda g: np.pad(g.t, 2, "maximum"),
        lambda g: np.pad(g.t, ((2, 1), (0, 3)), "minimum", stat_length=2),
        lambda g: np.pad(g.u, 1, "mean", stat_length=((1, 2), (1, 1), (2, 3))),
        lambda g: np.pad(g.v, (2, 0), "median", stat_length=4),
        lambda g: np.pad(g.t, ((3, 2), (0, 3)), "reflect", reflect_type="odd"),
        lambda g: np.pad(g.v, (17, 9), "symmetric", reflect_type="odd"),
    ],
    "var": [
        lambda g: np.var(g.v),
        lambda g: np.var(g.t, axis=1, where=g.t > 1),
        lambda g: np.var(g.i, dtype=int),
        lambda g: np.var(g.t.astype(int), axis=0, dtype=np.int16),
        lambda g: np.var(g.z, dtype=complex),
        *(
            [
                lambda g: np.var(g.t, 1, mean=np.mean(g.t, 1, keepdims=True), ddof=1),
                lambda g: np.var(g.i, mean=2.5, where=g.b),
            ]
            if VERSION >= "2.0.0"
            else []
        ),
    ],
    "vdot": [lambda g: np.vdot(g.v, g.w)],
    "vsplit": [lambda g: np.vsplit(g.t, [2])],
    "vstack": [lambda g: np.vstack([g.v, g.w])],
    "where": [
        lambda g: np.where(g.b, g.v, g.w),
        lambda g: np.where(g.v > 1, g.i, 0),
        lambda g: np.where(g.b),
        lambda g: np.where(g.b, "yes", "no") == "yes",
        lambda g: np.where(g.b, np.datetime64("2024-01-01"), np.datetime64("2024-02-01")).astype(np.int64),
    ],
    "zeros_like": [lambda g: np.zeros_like(g.v)],
}
if hasattr(np, "trapezoid"):
    CASES["trapezoid"] = [
        lambda g: np.trapezoid(g.v),
        lambda g: np.trapezoid(g.t, axis=0, dx=0.5),
        lambda g: np.trapezoid(g.v, g.w),
        lambda g: np.trapezoid(g.i.astype(np.uint8), g.i.astype(np.uint8) * 30),
    ]
else:
    CASES["trapz"] = [lambda g: np.trapz(g.v)]  # type: ignore[attr-defined]
if hasattr(np, "matrix_transpose"):
    CASES["astype"] = [lambda g: np.astype(g.v, np.int32)]
    CASES["unique_all"] = [lambda g: tuple(np.unique_all(g.i))]
    CASES["unique_inverse"] = [lambda g: tuple(np.unique_inverse(g.t))]
    CASES["concat"] = [lambda g: np.concat([g.v, g.w])]
    CASES["matrix_transpose"] = [lambda g: np.matrix_transpose(g.u)]
    CASES["permute_dims"] = [lambda g: np.permute_dims(g.u, (2, 0, 1))]
    CASES["unique_values"] = [lambda g: np.sort(np.unique_values(g.v))]
    CASES["unique_counts"] = [lambda g: np.unique_counts(g.i)]
if hasattr(np, "cumulative_sum"):
    CASES["cumulative_prod"] = [lambda g: np.cumulative_prod(g.v)]
    CASES["cumulative_sum"] = [
        lambda g: np.cumulative_sum(g.i),
        lambda g: np.cumulative_sum(g.t, axis=1, include_initial=True),
    ]
if hasattr(np, "unstack"):
    CASES["unstack"] = [lambda g: np.unstack(g.t), lambda g: np.unstack(g.u, axis=2)]

#: Functions of numpy.linalg that take more than a matrix.
LINALG_CASES: dict[str, list[Case]] = {
    "cond": [
        lambda g: np.linalg.cond(g.t),
        lambda g: np.linalg.cond(g.t[1:], 1),
        lambda g: np.linalg.cond(g.t[1:] * 0, "fro"),
        lambda g: np.linalg.cond(g.t[1:] + np.eye(4), -2),
    ],
    "pinv": [lambda g: np.linalg.pinv(g.t), lambda g: np.linalg.pinv(g.t, 0.5)],
    "matrix_power": [lambda g: np.linalg.matrix_power(g.t[:4], 3), lambda g: np.linalg.matrix_power(g.t[1:], -1)],
    "multi_dot": [lambda g: np.linalg.multi_dot([g.t[:, 0], g.t, g.t[:4]])],
    "tensorinv": [lambda g: np.linalg.tensorinv((g.t[1:] + 9 * np.eye(4)).reshape((2, 2, 4)))],
    "tensorsolve": [lambda g: np.linalg.tensorsolve(g.t[1:].reshape((2, 2, 4)), g.t[:2, :2])],
}
if hasattr(np, "unstack"):  # as the array API standard has them
    LINALG_CASES["cross"] = [lambda g: np.linalg.cross(g.t[:, :3], g.t[:, 1:])]
    LINALG_CASES["outer"] = [lambda g: np.linalg.outer(g.v, g.w)]
    LINALG_CASES["diagonal"] = [lambda g: np.linalg.diagonal(g.t, offset=1), lambda g: np.linalg.diagonal(g.u)]
    LINALG_CASES["trace"] = [lambda g: np.linalg.trace(g.t), lambda g: np.linalg.trace(g.u, offset=2)]

#: Functions that other tests call, because files, or other elements, belong to their calls.
ELSEWHERE = {"save", "savez", "datetime_as_string"}

#: Their results are NumPy arrays, the same on every rank.
EVERYWHERE = {
    "bincount", "histogram", "histogram2d", "histogramdd", "histogram_bin_edges", "polyfit", "searchsorted",
}  # fmt: skip


NOT_OF_ARRAYS = {"printoptions", "errstate"}


def dispatched(module: types.ModuleType) -> dict[str, Callable[..., Any]]:
    """Return the public functions of a module that ask their arguments what they do."""
    found = {}
    for name in dir(module):
        function = getattr(module, name)
        asks = hasattr(function, "_implementation") or hasattr(function, "__wrapped__")
        if (
            asks
            and name not in NOT_OF_ARRAYS
            and not name.startswith("_")
            and not isinstance(function, (type, np.ufunc))
        ):
            found[name] = function
    return found


def held(ctx: dtl.Context, name: str) -> Given:
    return Given(*(dtl.asarray(ctx, array, **division(name, len(array), ctx.size)) for array in ARRAYS))


def same(got: Any, want: Any, everywhere: bool = False) -> None:
    """Check type, shape, dtype and elements of what a function returned, against what it returns of arrays."""
    if isinstance(want, (tuple, list)):
        assert isinstance(got, (tuple, list))
        assert len(got) == len(want)
        for one, other in zip(got, want):
            same(one, other, everywhere)
    elif isinstance(want, np.ndarray) and want.ndim:
        assert isinstance(got, np.ndarray if everywhere else dtl.DistributedContainer)
        assert got.shape == want.shape
        assert got.dtype == want.dtype
        mine = (got, want) if everywhere else (got.local_view(), part(got, want))
        np.testing.assert_allclose(*mine, rtol=1e-12, atol=1e-12)
    elif isinstance(want, (np.generic, np.ndarray, float, int)):
        assert np.ndim(got) == 0
        assert not isinstance(got, dtl.DistributedContainer)
        np.testing.assert_allclose(got, want, rtol=1e-12)
    else:
        assert got == want


CALLS: list[Callable[[Any, Any], Any]] = [
    lambda f, c: f(c),
    lambda f, c: f(c, c),
    lambda f, c: f([c, c]),
    lambda f, c: f(c, 0),
    lambda f, c: f(c, c, c),
    lambda f, c: f(c, 0, c),
    lambda f, c: f(c, [0], [1], c),
    lambda f, c: f(c, [True], c),
    lambda f, c: f(len, c, c),
    lambda f, c: f(len, 0, c),
    lambda f, c: f("i,i->", c, c),
    lambda f, c: f(3, c),
    lambda f, c: f((2, 2), c),
    lambda f, c: f("nowhere", c),
    lambda f, c: f("nowhere", c, c),
    lambda f, c: f((c, c), (2, 2)),
    lambda f, c: f(*[c] * 4),
    lambda f, c: f(*[c] * 5),
]


def outcome(function: Any, container: Any) -> Any:
    """Call a function with a container in one way after the other, until one is not a call with wrong parameters."""
    for call in CALLS:
        try:
            return call(function, container)
        except dtl.DTLError as error:
            return error
        except (TypeError, ValueError):
            continue
    return None
