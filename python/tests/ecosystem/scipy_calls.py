"""Calls of SciPy's functions that its documentation says to work with arrays of other libraries."""

from __future__ import annotations

from typing import Any, Callable

import calls
import numpy as np
from scipy import (
    cluster,
    differentiate,
    fft,
    integrate,
    interpolate,
    linalg,
    ndimage,
    optimize,
    signal,
    spatial,
    special,
    stats,
)

_random = np.random.RandomState(0)
_V = _random.rand(24) + 0.1
_W = _random.rand(24) + 0.2
_M = _random.rand(6, 5)
_S = _M.T @ _M + np.eye(5)
_IMAGE = _random.rand(8, 9)


def _of(
    function: Callable[..., Any], *arrays: Any, take: Callable[[Any], Any] = lambda made: made, **options: Any
) -> calls.Call:
    """Call a function with some arrays, and return what another takes of the result."""

    def call(make: calls.Make) -> Any:
        return take(function(*(make(a) if isinstance(a, np.ndarray) else a for a in arrays), **options))

    return call


def _statistic(made: Any) -> Any:
    return made.statistic, made.pvalue


CALLS: dict[str, calls.Call] = {
    **{
        f"special.{name}": _of(getattr(special, name), _V)
        for name in (
            "entr",
            "erf",
            "erfc",
            "expit",
            "gamma",
            "gammaln",
            "i0",
            "i1",
            "logit",
            "log_ndtr",
            "ndtr",
            "ndtri",
            "psi",
        )
        if name != "ndtri"
    },
    "special.ndtri": _of(special.ndtri, _V / 2),
    "special.gammainc": _of(special.gammainc, _V, _W),
    "special.xlogy": _of(special.xlogy, _V, _W),
    "special.rel_entr": _of(special.rel_entr, _V, _W),
    "special.betainc": _of(special.betainc, _V, _W, _V / 2),
    "special.logsumexp": _of(special.logsumexp, _M),
    "special.logsumexp, axis": _of(special.logsumexp, _M, axis=1),
    "special.softmax": _of(special.softmax, _M, axis=0),
    "special.log_softmax": _of(special.log_softmax, _M, axis=1),
    **{
        f"stats.{name}": _of(getattr(stats, name), _V)
        for name in (
            "zscore",
            "gmean",
            "hmean",
            "skew",
            "kurtosis",
            "sem",
            "variation",
            "moment",
            "rankdata",
            "circmean",
            "entropy",
            "gstd",
        )
    },
    "stats.pmean": _of(stats.pmean, _V, 2),
    "stats.zscore, axis": _of(stats.zscore, _M, axis=1),
    "stats.describe": _of(stats.describe, _V, take=lambda d: (d.mean, d.variance, d.skewness, d.kurtosis)),
    "stats.mode": _of(stats.mode, np.arange(24) % 5, take=lambda m: (m.mode, m.count)),
    "stats.quantile": _of(stats.quantile, _V, 0.3),
    "stats.trim_mean": _of(stats.trim_mean, _V, 0.1),
    "stats.iqr": _of(stats.iqr, _V),
    "stats.tmean": _of(stats.tmean, _V),
    "stats.pearsonr": _of(stats.pearsonr, _V, _W, take=_statistic),
    "stats.spearmanr": _of(stats.spearmanr, _V, _W, take=_statistic),
    "stats.ttest_1samp": _of(stats.ttest_1samp, _V, 0.5, take=_statistic),
    "stats.ttest_ind": _of(stats.ttest_ind, _V, _W, take=_statistic),
    "stats.ttest_rel": _of(stats.ttest_rel, _V, _W, take=_statistic),
    "stats.mannwhitneyu": _of(stats.mannwhitneyu, _V, _W, take=_statistic),
    "stats.wilcoxon": _of(stats.wilcoxon, _V, _W, take=_statistic),
    "stats.kruskal": _of(stats.kruskal, _V, _W, take=_statistic),
    "stats.f_oneway": _of(stats.f_oneway, _V, _W, take=_statistic),
    "stats.bartlett": _of(stats.bartlett, _V, _W, take=_statistic),
    "stats.levene": _of(stats.levene, _V, _W, take=_statistic),
    "stats.chisquare": _of(stats.chisquare, np.array([16.0, 18.0, 16.0, 14.0, 12.0, 12.0]), take=_statistic),
    "stats.normaltest": _of(stats.normaltest, _V, take=_statistic),
    "stats.jarque_bera": _of(stats.jarque_bera, _V, take=_statistic),
    "stats.combine_pvalues": _of(stats.combine_pvalues, _V / 2, take=_statistic),
    "stats.false_discovery_control": _of(stats.false_discovery_control, _V / 2),
    "signal.hilbert": _of(signal.hilbert, _V),
    "signal.detrend": _of(signal.detrend, _V),
    "signal.fftconvolve": _of(signal.fftconvolve, _V, _W),
    "signal.convolve": _of(signal.convolve, _V, _W),
    "signal.correlate": _of(signal.correlate, _V, _W),
    "signal.oaconvolve": _of(signal.oaconvolve, _V, _W[:5]),
    "signal.lfilter": _of(signal.lfilter, np.array([1.0, 0.5]), np.array([1.0, -0.3]), _V),
    "signal.filtfilt": _of(signal.filtfilt, np.array([1.0, 0.5]), np.array([1.0, -0.3]), _V),
    "signal.sosfilt": lambda make: signal.sosfilt(make(signal.butter(2, 0.3, output="sos")), make(_V)),
    "signal.savgol_filter": _of(signal.savgol_filter, _V, 5, 2),
    "signal.welch": _of(signal.welch, _V, nperseg=8),
    "signal.resample": _of(signal.resample, _V, 12),
    "signal.medfilt": _of(signal.medfilt, _V, 3),
    "signal.periodogram": _of(signal.periodogram, _V),
    "ndimage.gaussian_filter": _of(ndimage.gaussian_filter, _IMAGE, 1.0),
    "ndimage.uniform_filter": _of(ndimage.uniform_filter, _IMAGE, 3),
    "ndimage.sobel": _of(ndimage.sobel, _IMAGE),
    "ndimage.convolve": _of(ndimage.convolve, _IMAGE, _M[:3, :3]),
    "ndimage.shift": _of(ndimage.shift, _IMAGE, 1.5),
    "ndimage.center_of_mass": _of(ndimage.center_of_mass, _IMAGE),
    "ndimage.label": _of(ndimage.label, (_IMAGE > 0.5).astype(np.int32), take=lambda made: made[0]),
    "fft.fft": _of(fft.fft, _V),
    "fft.rfft": _of(fft.rfft, _V),
    "fft.irfft": _of(fft.irfft, _V + 0j),
    "fft.fft2": _of(fft.fft2, _M),
    "fft.fftn": _of(fft.fftn, _M),
    "fft.dct": _of(fft.dct, _V),
    "fft.fftshift": _of(fft.fftshift, _V),
    "linalg.det": _of(linalg.det, _S),
    "linalg.inv": _of(linalg.inv, _S),
    "linalg.solve": _of(linalg.solve, _S, _M[0]),
    "linalg.svdvals": _of(linalg.svdvals, _M),
    "linalg.block_diag": _of(linalg.block_diag, _M, _S),
    "integrate.trapezoid": _of(integrate.trapezoid, _V),
    "integrate.cumulative_trapezoid": _of(integrate.cumulative_trapezoid, _V),
    "integrate.simpson": _of(integrate.simpson, _V[:23]),
    "spatial.distance.cdist": _of(spatial.distance.cdist, _M, _M),
    "spatial.Rotation": lambda make: spatial.transform.Rotation.from_rotvec(make(_M[:, :3])).as_matrix(),
    "cluster.vq.whiten": _of(cluster.vq.whiten, _M),
    "cluster.vq.vq": _of(cluster.vq.vq, _M, _M[:2]),
    "cluster.hierarchy.linkage": _of(cluster.hierarchy.linkage, _M),
    "optimize.rosen": _of(optimize.rosen, _V),
    "optimize.elementwise.find_root": lambda make: (
        optimize.elementwise.find_root(
            lambda x, c: x**2 - c, (make(np.zeros(3)), make(np.full(3, 4.0))), args=(make(_V[:3]),)
        ).x
    ),
    "differentiate.derivative": lambda make: differentiate.derivative(lambda x: x**3, make(_V[:4])).df,
    "interpolate.CubicSpline": lambda make: interpolate.CubicSpline(make(np.arange(24.0)), make(_V))(make(_W)),
    "interpolate.RegularGridInterpolator": lambda make: interpolate.RegularGridInterpolator(
        (make(np.arange(6.0)), make(np.arange(5.0))), make(_M)
    )(make(_M[:4, :2])),
}
