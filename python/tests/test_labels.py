"""Labels of xarray on containers, and libraries that make arrays of whatever they get."""

from __future__ import annotations

import numpy as np
import pytest

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
