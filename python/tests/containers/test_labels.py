"""Labels of xarray on containers, and libraries that make arrays of whatever they get."""

from __future__ import annotations

import numpy as np
import pytest
from divisions import part

import dtl


def test_pandas_takes_no_container_for_an_array(ctx: dtl.Context) -> None:
    pd = pytest.importorskip("pandas", reason="needs pandas, which the extra test brings")
    for make in (pd.Series, lambda c: pd.DataFrame({"x": c})):
        with pytest.raises(TypeError, match="gather_to"):
            make(dtl.ones(ctx, 3))


def test_xarray_holds_containers(ctx: dtl.Context) -> None:
    xr = pytest.importorskip("xarray", reason="needs xarray, which the extra test brings from Python 3.10 on")
    array = np.arange(12.0).reshape(3, 4)
    t = dtl.asarray(ctx, array)
    labelled = xr.DataArray(t, dims=("y", "x"), coords={"y": [10, 20, 30]})
    assert labelled.data is t
    known = xr.DataArray(array, dims=("y", "x"), coords={"y": [10, 20, 30]})
    for f in (lambda a: a + 1, np.sqrt, lambda a: a.T, lambda a: a.sel(y=20), lambda a: a.isel(x=slice(1, 3))):
        got, expected = f(labelled), f(known)
        assert isinstance(got.data, dtl.DistributedContainer)
        assert got.dims == expected.dims
        whole = got.data.gather_to()
        assert whole is None or np.array_equal(whole, expected.data)
    assert "DistributedTensor of 3 x 4" in repr(labelled)
    with pytest.raises(TypeError, match="gather_to"):
        labelled.to_numpy()


#: Methods of a DataArray that give another of a container, or a number.
LABELLED = {
    "std": lambda d: d.std("x"),
    "var": lambda d: d.var(ddof=1),
    "mean without NaN": lambda d: d.where(d > 2).mean("x"),
    "cumsum": lambda d: d.cumsum("x"),
    "cumprod": lambda d: d.cumprod("y"),
    "quantile": lambda d: d.quantile([0.2, 0.5], "x"),
    "median": lambda d: d.median("y"),
    "pad": lambda d: d.pad(y=(1, 2), x=1),
    "pad by a constant": lambda d: d.pad(y=1, constant_values=0),
    "shift": lambda d: d.shift(y=1),
    "dot": lambda d: d.dot(d.isel(x=0)),
    "weighted": lambda d: d.weighted(d.isel(x=0)).mean("y"),
    "differentiate": lambda d: d.differentiate("y"),
    "integrate": lambda d: d.integrate("y"),
    "groupby": lambda d: d.groupby(d.y % 20).mean(),
    "coarsen": lambda d: d.coarsen(x=2).mean(),
    "sortby": lambda d: d.sortby("y", ascending=False),
}


@pytest.mark.parametrize("name", LABELLED)
def test_methods_of_xarray(ctx: dtl.Context, name: str) -> None:
    xr = pytest.importorskip("xarray", reason="needs xarray, which the extra test brings from Python 3.10 on")
    if not hasattr(np, "unstack"):
        pytest.skip("xarray of NumPy before 2.1 asks for other functions")
    array = np.arange(12.0).reshape(3, 4) % 5
    coords = {"y": [10, 20, 30]}
    for partition in ("block", "cyclic"):
        labelled = xr.DataArray(dtl.asarray(ctx, array, partition=partition), dims=("y", "x"), coords=coords)
        got, want = LABELLED[name](labelled), LABELLED[name](xr.DataArray(array, dims=("y", "x"), coords=coords))
        assert got.dims == want.dims
        if got.ndim:
            assert isinstance(got.data, dtl.DistributedContainer)
            np.testing.assert_allclose(got.data.local_view(), part(got.data, want.data), rtol=1e-12)
        else:
            np.testing.assert_allclose(got.data, want.data, rtol=1e-12)
