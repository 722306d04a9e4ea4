"""Arrays and columns of pandas, polars and pyarrow become containers of the same values, or are refused by name."""

from __future__ import annotations

import array
import builtins
import datetime
from typing import Any

import numpy as np
import pytest
from divisions import assert_holds
from older_numpy import VERSION

import dtl

pd = pytest.importorskip("pandas", reason="needs pandas; runs where the extra test is")
pa = pytest.importorskip("pyarrow", reason="needs pyarrow; runs where the extra io is")

UTC = datetime.timezone.utc
WINTER = [datetime.datetime(2020, 1, day, 12, tzinfo=UTC) for day in (1, 2)]


def columns() -> dict[str, tuple[Any, Any]]:
    """Return columns, and the elements that they have."""
    zoned = pd.Series(pd.to_datetime(WINTER).tz_convert("Asia/Tokyo"))
    return {
        "text": (pd.Series(["a", "bcd"]), np.array(["a", "bcd"])),
        "text of objects": (pd.Series(["a", "bcd"], dtype=object), np.array(["a", "bcd"])),
        "categories": (pd.Series(["b", "a", "b"], dtype="category"), np.array(["b", "a", "b"])),
        "categories of numbers": (pd.Series([3, 1, 3], dtype="category"), np.array([3, 1, 3])),
        "boolean": (pd.Series([True, False], dtype="boolean"), np.array([True, False])),
        "Int64": (pd.Series([1, 2], dtype="Int64"), np.array([1, 2])),
        "missing floats": (pd.Series([1.5, None], dtype="Float64"), np.array([1.5, np.nan])),
        "times with a zone": (zoned, np.array(["2020-01-01T12", "2020-01-02T12"], zoned.to_numpy("M8[us]").dtype)),
        "a frame": (pd.DataFrame({"a": [1, 2], "b": [1.5, 2]}), np.array([[1, 1.5], [2, 2]])),
        "pyarrow": (pa.array([1, 2]), np.array([1, 2])),
        "pyarrow's text": (pa.array(["a", "bcd"]), np.array(["a", "bcd"])),
        "pyarrow's codes": (pa.array(["b", "a"]).dictionary_encode(), np.array(["b", "a"])),
        "chunks": (pa.chunked_array([[1], [2]]), np.array([1, 2])),
    }


def missing() -> dict[str, Any]:
    """Return columns with a missing value that no element of their type stands for."""
    return {
        "text": pd.Series(["a", None], dtype="string"),
        "boolean": pd.Series([True, None], dtype="boolean"),
        "Int64": pd.Series([1, None], dtype="Int64"),
        "an array of Int64": pd.array([1, None], dtype="Int64"),
        "a column of a frame": pd.DataFrame({"a": [1.0, 2], "b": pd.array([1, None], dtype="Int64")}),
        "pyarrow": pa.array([1, None]),
        "pyarrow's text": pa.array(["a", None]),
    }


@pytest.mark.parametrize("name", list(columns()))
def test_columns(ctx: dtl.Context, name: str) -> None:
    column, want = columns()[name]
    got = dtl.asarray(ctx, column)
    assert_holds(got, want.astype(got.dtype) if want.dtype.kind == "M" else want)
    assert got.dtype.kind == want.dtype.kind


@pytest.mark.parametrize("name", list(missing()))
def test_missing_values_are_refused(ctx: dtl.Context, name: str) -> None:
    """Integers would silently become floats."""
    for call in (dtl.asarray, dtl.broadcast):
        with pytest.raises(ValueError, match="1 missing value"):
            call(ctx, missing()[name])
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_floats_that_are_asked_for_have_nan(ctx: dtl.Context) -> None:
    for column in (missing()["Int64"], missing()["pyarrow"]):
        assert_holds(dtl.asarray(ctx, column, dtype=float), np.array([1, np.nan]))


def test_polars(ctx: dtl.Context) -> None:
    pl = pytest.importorskip("polars", reason="needs polars; runs where the extra test is, from Python 3.10 on")
    assert_holds(dtl.asarray(ctx, pl.Series(["b", "a"], dtype=pl.Categorical)), np.array(["b", "a"]))
    assert_holds(dtl.asarray(ctx, pl.Series([1.5, None])), np.array([1.5, np.nan]))
    for column in (pl.Series([1, None]), pl.Series([True, None]), pl.Series(["a", None])):
        with pytest.raises(ValueError, match="1 missing value"):
            dtl.asarray(ctx, column)


class Exported:
    """An array of which another library has no more than one protocol."""

    def __init__(self, array: Any, protocol: str) -> None:
        if protocol != "__dlpack__":
            setattr(self, protocol, getattr(array, protocol))
        self._array = array


class ByDLPack(Exported):
    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


@pytest.mark.parametrize("protocol", ["__array_interface__", "__array_struct__", "__dlpack__", "memoryview"])
@pytest.mark.parametrize("dtype", ["f8", ">i4", "f2", "M8[D]", "i4,f8", "S3"])
def test_protocols(ctx: dtl.Context, protocol: str, dtype: str) -> None:
    """Whatever the strides, and of all types that NumPy's arrays are taken of."""
    whole = np.arange(24).astype("i8").reshape(4, 6)
    array = np.rec.fromarrays([whole, whole], dtype) if "," in dtype else whole.astype(dtype)
    array = np.asarray(array)[::2, ::-2]
    without = {
        "memoryview": ["M8[D]"],
        "__array_struct__": ["M8[D]", "i4,f8"],
        "__dlpack__": [">i4", "M8[D]", "i4,f8", "S3"],
    }
    if dtype in without.get(protocol, []) or (protocol == "__dlpack__" and VERSION < "1.23.0"):
        pytest.skip("the protocol has no such type; runs with the other types, and with NumPy 1.23")
    if protocol == "memoryview":
        given: Any = memoryview(array)
    else:
        given = (ByDLPack if protocol == "__dlpack__" else Exported)(array, protocol)
    assert_holds(dtl.asarray(ctx, given), array.astype(array.dtype.newbyteorder("=")))


def test_protocols_that_are_broken(ctx: dtl.Context) -> None:
    class NoExport(ByDLPack):
        def __dlpack__(self, **_: Any) -> Any:
            raise builtins.BufferError("no export")

    without_shape = Exported(np.arange(3.0), "__array_interface__")
    del without_shape.__array_interface__["shape"]  # type: ignore[attr-defined]
    with pytest.raises(dtl.InvalidArgumentError, match="obj is no array"):
        dtl.asarray(ctx, without_shape)
    if VERSION >= "1.23.0":
        with pytest.raises(dtl.InvalidTypeError, match="no export"):
            dtl.asarray(ctx, NoExport(np.arange(3.0), "__dlpack__"))
    assert dtl.allreduce(ctx, 1) == ctx.size


@pytest.mark.skipif(VERSION < "2.0.0", reason="StringDType is of NumPy 2")
def test_text_of_any_length(ctx: dtl.Context) -> None:
    kind = np.dtypes.StringDType
    assert_holds(dtl.asarray(ctx, np.array(["a", "bcd"], kind())), np.array(["a", "bcd"]))
    with pytest.raises(ValueError, match="1 missing value"):
        dtl.asarray(ctx, np.array(["a", np.nan], kind(na_object=np.nan)))


@pytest.mark.parametrize("value", [pd.interval_range(0, 2), pd.period_range("2020", periods=2, freq="D")])
def test_what_has_no_elements_is_refused_by_its_type(ctx: dtl.Context, value: Any) -> None:
    with pytest.raises(dtl.InvalidTypeError, match=type(value).__name__):
        dtl.asarray(ctx, value)


class Lazy:
    """What becomes an array when NumPy asks for it, as those of other libraries do."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.arange(3)


@pytest.mark.parametrize(
    "value",
    [
        array.array("d", [1, 2]),
        memoryview(np.arange(3)),
        pd.DataFrame({"a": [1, 2]}),
        pa.array([1, 2]),
        Lazy(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_broadcast_has_one_type(ctx: dtl.Context, value: Any) -> None:
    """Root gets what it passed as an array, too."""
    for given in (value, value if ctx.is_root else None):
        got = dtl.broadcast(ctx, given)
        assert dtl.allgather_object(ctx, str(type(got))) == [str(np.ndarray)] * ctx.size
        np.testing.assert_array_equal(got, np.asarray(value))


class Tensor:
    """A tensor of elements that NumPy does not have, as bfloat16 of PyTorch are."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("Got unsupported ScalarType BFloat16")

    def __dlpack__(self) -> Any:
        return None


class GradientTensor(Tensor):
    """A tensor that NumPy is not given, as those of PyTorch that need gradients, on a device that DLPack has not."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad")

    def __dlpack_device__(self) -> Any:
        raise ValueError("Unknown device type meta for Dlpack")


def test_tensors(ctx: dtl.Context) -> None:
    for call in (dtl.asarray, dtl.allreduce):
        with pytest.raises(dtl.InvalidTypeError, match="Tensor is no array of NumPy's: Got unsupported"):
            call(ctx, Tensor())
    with pytest.raises(dtl.InvalidTypeError, match="out of type Tensor is no array of NumPy's: Got unsupported"):
        dtl.allreduce(ctx, np.ones(3), out=Tensor())
    for call in (dtl.asarray, dtl.allreduce, dtl.broadcast, lambda ctx, x: dtl.zeros(ctx, 3).__setitem__(..., x)):
        with pytest.raises(dtl.InvalidTypeError, match="requires grad"):
            call(ctx, GradientTensor())
    assert dtl.allreduce(ctx, 1) == ctx.size


class HostTensor:
    """A tensor whose memory NumPy sees, as those of PyTorch in the host's memory are."""

    def __init__(self, memory: Any, copied: bool = False) -> None:
        self.memory, self._copied = memory, copied

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.memory.copy() if self._copied else self.memory

    def __dlpack__(self) -> Any:
        return None


def receiving(ctx: dtl.Context, out: Any) -> dict[str, Any]:
    """Return calls that write 0, 1, ... to an output, some of them times the number of ranks."""
    mine = np.arange(3.0)
    after, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size

    def get() -> Any:
        with dtl.Window(ctx, base=mine.copy()) as window, window.epoch():
            return dtl.rma_rget(window, ctx.rank, 0, out=out).wait()

    return {
        "broadcast": lambda: dtl.broadcast(ctx, mine if ctx.is_root else None, out=out),
        "allreduce": lambda: dtl.allreduce(ctx, mine, out=out),
        "iallreduce": lambda: dtl.iallreduce(ctx, mine, "max", out=out).wait(),
        "sendrecv": lambda: dtl.sendrecv(ctx, mine, after, before, out=out),
        "rma_rget": get,
    }


@pytest.mark.parametrize("name", ["broadcast", "allreduce", "iallreduce", "sendrecv", "rma_rget"])
def test_tensors_receive(ctx: dtl.Context, name: str) -> None:
    """They get the elements, as out, whether they are contiguous or not, and are what the call returns."""
    for memory in (np.zeros(3), np.zeros((3, 2))[:, 1])[: 1 if name == "rma_rget" else 2]:
        out = HostTensor(memory)
        assert receiving(ctx, out)[name]() is out
        np.testing.assert_array_equal(memory, np.arange(3.0) * (ctx.size if name == "allreduce" else 1))


def test_dates_are_received_in_tensors(ctx: dtl.Context) -> None:
    out = HostTensor(np.zeros((2, 2), "M8[s]").T)
    assert dtl.broadcast(ctx, np.arange(4).astype("M8[s]").reshape(2, 2) if ctx.is_root else None, out=out) is out
    np.testing.assert_array_equal(out.memory, np.arange(4).astype("M8[s]").reshape(2, 2))


def test_outputs_that_cannot_be_written(ctx: dtl.Context) -> None:
    """On every rank, though only one rank has such an output."""
    fixed = np.zeros(3)
    fixed.setflags(write=False)
    for tensor, match in (
        (HostTensor(np.zeros(3), copied=True), "becomes a copy with NumPy"),
        (HostTensor(fixed), "out of type HostTensor and shape .3,. is read-only"),
        (HostTensor(np.zeros(3, object)), "dtype object"),
        (HostTensor(np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,))), "several elements in one place"),
    ):
        with pytest.raises(dtl.InvalidArgumentError, match=match):
            dtl.allreduce(ctx, np.ones(3), out=tensor if ctx.is_root else np.zeros(3))
    assert dtl.allreduce(ctx, 1) == ctx.size
