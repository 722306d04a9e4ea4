"""Calls of xarray's methods, each of a DataArray of the dimensions t, x and y."""

from __future__ import annotations

from typing import Any, Callable

import calls
import numpy as np
import xarray as xr

_DATA = np.random.RandomState(0).rand(6, 4, 5)
_HOLES = np.where(_DATA > 0.8, np.nan, _DATA)
_COORDS = {
    "t": np.arange("2026-01-01", "2026-01-07", dtype="datetime64[D]").astype("datetime64[ns]"),
    "x": [10.0, 20.0, 30.0, 40.0],
    "y": np.arange(5.0),
}


def _labelled(make: calls.Make, data: np.ndarray[Any, Any]) -> xr.DataArray:
    return xr.DataArray(make(data), dims=("t", "x", "y"), coords=_COORDS, name="d")


def _of(function: Callable[[xr.DataArray], Any], data: np.ndarray[Any, Any] = _DATA) -> calls.Call:
    return lambda make: function(_labelled(make, data))


def _of_holes(function: Callable[[xr.DataArray], Any]) -> calls.Call:
    return _of(function, _HOLES)


CALLS: dict[str, calls.Call] = {
    **{
        f"{name}": _of(lambda d, name=name: getattr(d, name)("x"))
        for name in ("sum", "mean", "min", "max", "std", "var", "prod", "median", "count", "all", "any")
    },
    "sum of all": _of_holes(lambda d: d.sum()),
    "mean of holes": _of_holes(lambda d: d.mean("t")),
    "std of holes": _of_holes(lambda d: d.std(("t", "y"), ddof=1)),
    "median of holes": _of_holes(lambda d: d.median("t")),
    "sum, skipna=False": _of_holes(lambda d: d.sum("t", skipna=False)),
    "sum, min_count": _of_holes(lambda d: d.sum("t", min_count=3)),
    "argmax": _of(lambda d: d.argmax("t")),
    "argmin": _of(lambda d: d.argmin("y")),
    "idxmax": _of(lambda d: d.idxmax("x")),
    "cumsum": _of_holes(lambda d: d.cumsum("t")),
    "cumprod": _of(lambda d: d.cumprod("y")),
    "cumsum, skipna=False": _of(lambda d: d.cumsum("t", skipna=False)),
    "quantile along t": _of(lambda d: d.quantile(0.3, "t")),
    "quantile of several q": _of(lambda d: d.quantile([0.1, 0.5], "y")),
    "quantile of all": _of(lambda d: d.quantile(0.5)),
    "quantile, skipna=False": _of(lambda d: d.quantile(0.5, "x", skipna=False)),
    "arithmetic": _of(lambda d: (d - d.mean("t")) / d.std("t") + 2 * d),
    "comparison": _of(lambda d: d > d.mean()),
    "ufunc": _of(np.sqrt),
    "astype": _of(lambda d: d.astype("float32")),
    "round": _of(lambda d: d.round()),
    "clip": _of(lambda d: d.clip(0.2, 0.7)),
    "where": _of(lambda d: d.where(d > 0.5)),
    "where with other": _of(lambda d: xr.where(d > 0.5, d, -1.0)),
    "fillna": _of_holes(lambda d: d.fillna(0.0)),
    "isnull": _of_holes(lambda d: d.isnull()),
    "isin": _of(lambda d: d.round().isin([0.0])),
    "ffill": _of_holes(lambda d: d.ffill("t")),
    "bfill": _of_holes(lambda d: d.bfill("t")),
    "interpolate_na": _of_holes(lambda d: d.interpolate_na("y")),
    "dropna": _of_holes(lambda d: d.dropna("t", how="all")),
    "isel": _of(lambda d: d.isel(t=slice(1, 4), x=2)),
    "isel with a list": _of(lambda d: d.isel(x=[3, 0])),
    "sel": _of(lambda d: d.sel(x=[20.0, 40.0])),
    "sel, nearest": _of(lambda d: d.sel(x=22.0, method="nearest")),
    "transpose": _of(lambda d: d.transpose("y", "t", "x")),
    "expand_dims": _of(lambda d: d.expand_dims("z")),
    "squeeze": _of(lambda d: d.isel(x=[1]).squeeze("x")),
    "stack": _of(lambda d: d.stack(s=("x", "y"))),
    "unstack": _of(lambda d: d.stack(s=("x", "y")).unstack("s")),
    "concat": _of(lambda d: xr.concat([d, d + 1], "t")),
    "broadcast": _of(lambda d: xr.broadcast(d.isel(x=0), d)[0]),
    "align": _of(lambda d: d + d.isel(t=slice(2, 6))),
    "combine_first": _of_holes(lambda d: d.combine_first(d.fillna(9.0))),
    "shift": _of(lambda d: d.shift(t=1)),
    "roll": _of(lambda d: d.roll(x=2)),
    "pad": _of(lambda d: d.pad(t=(1, 2))),
    "pad by edge": _of(lambda d: d.pad(y=1, mode="edge")),
    "diff": _of(lambda d: d.diff("t")),
    "differentiate": _of(lambda d: d.differentiate("y")),
    "integrate": _of(lambda d: d.integrate("y")),
    "cumulative_integrate": _of(lambda d: d.cumulative_integrate("y")),
    "sortby": _of(lambda d: d.sortby("x", ascending=False)),
    "rank": _of(lambda d: d.rank("t")),
    "reindex": _of(lambda d: d.reindex(x=[20.0, 25.0, 40.0])),
    "interp": _of(lambda d: d.interp(x=[12.0, 33.0])),
    "dot": _of(lambda d: xr.dot(d, d, dim="t")),
    "dot with a vector": _of(lambda d: d.dot(d.isel(t=0, x=0))),
    "weighted mean": _of(lambda d: d.weighted(d).mean("t")),
    "weighted sum by numbers": _of(lambda d: d.weighted(xr.DataArray(np.arange(1.0, 6.0), dims="y")).sum("y")),
    "weighted quantile": _of(lambda d: d.weighted(d.fillna(0.0)).quantile(0.5, dim="t")),
    "cov": _of(lambda d: xr.cov(d, d + 1, dim="t")),
    "corr": _of(lambda d: xr.corr(d, d * d, dim="t")),
    "groupby": _of(lambda d: d.groupby(d.x % 20).mean()),
    "groupby of dates": _of(lambda d: d.groupby("t.dayofweek").sum()),
    "groupby_bins": _of(lambda d: d.groupby_bins("y", [-1, 2, 5]).mean()),
    "resample": _of(lambda d: d.resample(t="2D").mean()),
    "coarsen": _of(lambda d: d.coarsen(x=2).mean()),
    "rolling mean": _of(lambda d: d.rolling(t=3).mean()),
    "rolling sum, min_periods": _of_holes(lambda d: d.rolling(t=3, min_periods=1).sum()),
    "rolling max": _of(lambda d: d.rolling(y=2).max()),
    "rolling construct": _of(lambda d: d.rolling(t=2).construct("w")),
    "apply_ufunc": _of(lambda d: xr.apply_ufunc(lambda v: v.mean(axis=-1), d, input_core_dims=[["t"]])),
    "map_blocks": _of(lambda d: xr.map_blocks(lambda v: v * 2, d)),
    "polyval": _of(lambda d: xr.polyval(d, xr.DataArray([1.0, 2.0], dims="degree", coords={"degree": [0, 1]}))),
    "dataset": _of(lambda d: xr.Dataset({"a": d, "b": d + 1}).mean("t").to_array()),
    "to_dataset": _of(lambda d: d.to_dataset("x")[20.0]),
    "equals": _of(lambda d: np.asarray(d.equals(d + 0))),
    "repr": _of(lambda d: np.asarray(len(repr(d)) > 10)),
    "float": _of(lambda d: np.asarray(float(d.mean()))),
}
