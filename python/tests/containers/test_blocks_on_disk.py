"""Containers on disk of which calls have some rows, or bands of lines, in memory at a time, beside NumPy."""

import warnings

import numpy as np
import pytest

import dtl
from dtl.algorithms import reduced_parts
from dtl.containers import broadcasting, interior
from dtl.containers.indexing import by_rows
from dtl.random import permutations

#: A container that is worth files on up to four ranks.
SIZE = 1 << 20


@pytest.fixture
def limited(monkeypatch):
    """A limit of memory of which bands of lines, and blocks of rows, take little."""
    monkeypatch.setattr(interior.library, "memory_limit", lambda: 16 << 13)
    for module, name in ((interior, "BLOCK"), (by_rows, "BLOCK"), (reduced_parts, "BLOCK"), (reduced_parts, "_FOLDED")):
        monkeypatch.setattr(module, name, 1 << 13)
    monkeypatch.setattr(broadcasting, "_SMALL", 0)
    monkeypatch.setattr(interior.in_blocks, "__defaults__", (1 << 13,))


def own(c, whole):
    """Return this rank's elements of an array that is as a container."""
    return whole[np.ix_(*[c.local_indices(d) for d in range(c.ndim)])]


LINES = {
    "median": lambda xp, a, axis: xp.median(a, axis=axis),
    "nanmedian": lambda xp, a, axis: xp.nanmedian(a, axis=axis),
    "quantiles": lambda xp, a, axis: xp.quantile(a, [0.1, 0.5], axis=axis),
    "kept": lambda xp, a, axis: xp.percentile(a, 30, axis=axis, keepdims=True),
    "argmax": lambda xp, a, axis: xp.argmax(a, axis=axis[0] if isinstance(axis, tuple) else axis),
    "sum": lambda xp, a, axis: xp.sum(a, axis=axis),
    "max": lambda xp, a, axis: xp.max(a, axis=axis, keepdims=True),
    "mean": lambda xp, a, axis: xp.mean(a, axis=axis),
    "std": lambda xp, a, axis: xp.std(a, axis=axis),
    "nanstd": lambda xp, a, axis: xp.nanstd(a, axis=axis),
    "prod": lambda xp, a, axis: xp.prod(a, axis=axis),
    "any": lambda xp, a, axis: xp.any(a > 1, axis=axis),
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("partition", ["block", "cyclic", "replicated"])
@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (0, 2), (1, 2)])
def test_lines_in_bands_and_blocks(disk, limited, name, partition, axis):
    whole = np.random.default_rng(5).normal(size=(67, 24, 33)) if "arg" not in name else None
    if whole is None:  # with equal ones
        whole = np.random.default_rng(5).integers(0, 9, (67, 24, 33)).astype("f4")
    if name.startswith("nan"):
        whole[3, 4, 5] = whole[60, 1] = np.nan
    x = dtl.DistributedTensor(disk, whole.shape, whole.dtype, placement="disk", partition=partition)
    x.local_view()[...] = own(x, whole)
    assert interior.is_limited(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of lines of NaN alone
        made, wanted = LINES[name](np, x, axis), LINES[name](np, whole, axis)
    assert (made.shape, made.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(made.local_view(), own(made, wanted), rtol=1e-12)


MOVED = {"dates": "M8[D]", "spans": "m8[s]", "half": "f2", "text": "U3", "records": [("k", "i2"), ("s", "S3")]}


def moved(name, shape):
    """Return elements that the core does not compute with, of which some are alike, and some are missing."""
    numbers = np.random.default_rng(9).integers(0, 99, shape)
    made = np.zeros(shape, MOVED[name])
    if name == "records":
        made["k"], made["s"] = numbers % 5, np.char.mod("%d", numbers)
    else:
        made[...] = np.char.mod("%d", numbers) if name == "text" else numbers.astype(MOVED[name])
    if name in ("dates", "spans"):
        made.flat[::50] = "NaT"
    return made


@pytest.mark.parametrize("name", MOVED)
@pytest.mark.parametrize("partition", ["block", "cyclic", "replicated"])
@pytest.mark.parametrize("axis", [1, -1])
def test_lines_sorted_in_bands(disk, limited, name, partition, axis):
    whole = moved(name, (67, 24, 33))
    x = dtl.DistributedTensor(disk, whole.shape, whole.dtype, placement="disk", partition=partition)
    x.local_view()[...] = own(x, whole)
    order = np.argsort(whole, axis=axis, kind="stable")
    assert (dtl.argsort(x, axis=axis).local_view() == own(x, order)).all()
    dtl.sort(x, axis=axis)
    np.testing.assert_array_equal(x.local_view(), own(x, np.take_along_axis(whole, order, axis)))
    if name not in ("records", "dates", "spans"):  # of which NumPy has no descending order
        dtl.sort(x, reverse=True, axis=axis)
        np.testing.assert_array_equal(x.local_view(), own(x, np.flip(np.sort(whole, axis=axis), axis)))


OF_MOVED = {
    "argmax": (MOVED, np.argmax),
    "argmin": (MOVED, np.argmin),
    "max": (("dates", "spans"), np.max),
    "sum": (("spans",), np.sum),
    "mean": (("spans",), np.mean),
    "median": (("spans",), np.median),
    "cumsum": (("spans",), lambda a: np.cumsum(a, axis=a.ndim - 1)),
    "isnat": (("dates", "spans"), np.isnat),
    "days": (("dates", "spans"), lambda a: a + np.timedelta64(3, "D")),
    "difference": (("dates", "spans"), lambda a: a - a[..., :1]),
    "sums": (("half", "spans"), lambda a: a + a),
    "where": (("half", "spans"), lambda a: np.add(a, a, where=~np.isnan(a), out=a)),
    "two": (("half",), lambda a: np.stack(np.divmod(a, np.float16(7)))),
}


@pytest.mark.parametrize("name", OF_MOVED)
@pytest.mark.parametrize("shape", [(5000,), (301, 40), (40, 30, 20)])
@pytest.mark.parametrize("missing", [True, False])
def test_what_the_core_does_not_know_in_blocks(disk, limited, name, shape, missing):
    kinds, call = OF_MOVED[name]
    for kind in kinds:
        if kind == "records":
            continue
        whole = moved(kind, shape)
        if not missing and kind in ("dates", "spans"):
            whole[np.isnat(whole)] = whole.flat[1]
        x = dtl.DistributedVector if len(shape) == 1 else dtl.DistributedTensor
        x = x(disk, *shape if len(shape) == 1 else (shape,), whole.dtype, placement="disk")
        x.local_view()[...] = own(x, whole)
        made, wanted = call(x), call(whole)
        if np.ndim(wanted):
            made, wanted = made.local_view(), own(made, wanted)
        np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("shape", [(5000,), (301, 40)])
@pytest.mark.parametrize("axis", [0, -1])
def test_sums_of_spans_before_each_in_blocks(disk, limited, shape, axis):
    whole = np.random.default_rng(9).integers(0, 99, shape).astype("m8[s]")
    whole[shape[0] // 2] = whole[-1, ...] = "NaT"
    x = dtl.DistributedVector if len(shape) == 1 else dtl.DistributedTensor
    x = x(disk, *shape if len(shape) == 1 else (shape,), whole.dtype, placement="disk")
    x.local_view()[...] = own(x, whole)
    made = dtl.cumsum(x, axis, exclusive=True)
    sums = np.cumsum(whole, axis=axis)
    wanted = np.zeros_like(whole)
    np.moveaxis(wanted, axis, 0)[1:] = np.moveaxis(sums, axis, 0)[:-1]
    np.testing.assert_array_equal(made.local_view(), own(made, wanted))


@pytest.mark.parametrize("shape", [(3001, 3), (301, 40), (40, 300), (40, 30, 20)])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["f8", "i1", "c8"])
def test_scans_along_a_dimension_in_blocks(disk, limited, shape, axis, dtype):
    whole = (np.random.default_rng(9).random(shape) * 50 - 20).astype(dtype)
    x = dtl.DistributedTensor(disk, shape, whole.dtype, placement="disk")
    x.local_view()[...] = own(x, whole)
    close = 0 if disk.size == 1 else 1e-4 if dtype == "c8" else 1e-11  # the ranks add up their totals
    for scan, ufunc in ((dtl.cumsum, np.add), (np.maximum.accumulate, np.maximum)):
        wanted = ufunc.accumulate(whole, axis=axis)
        made = scan(x, axis=axis)
        assert made.dtype == wanted.dtype
        np.testing.assert_allclose(made.local_view(), own(made, wanted), close)
    before = dtl.cumsum(x, axis, exclusive=True).local_view()
    wanted = np.zeros(shape, np.cumsum(whole, axis).dtype)
    np.moveaxis(wanted, axis, 0)[1:] = np.moveaxis(np.cumsum(whole, axis), axis, 0)[:-1]
    np.testing.assert_allclose(before, own(x, wanted), close)


@pytest.mark.parametrize("shape", [(5000,), (301, 40), (40, 30, 20)])
@pytest.mark.parametrize("partition", ["block", "cyclic"])
def test_indices_of_what_is_true_in_blocks(disk, limited, shape, partition):
    whole = np.random.default_rng(6).integers(0, 4, shape)
    x = dtl.DistributedVector if len(shape) == 1 else dtl.DistributedTensor
    x = x(disk, *shape if len(shape) == 1 else (shape,), whole.dtype, placement="disk", partition=partition)
    x.local_view()[...] = own(x, whole)
    for made, wanted in zip((np.flatnonzero(x), *np.nonzero(x)), (np.flatnonzero(whole), *np.nonzero(whole))):
        np.testing.assert_array_equal(made.local_view(), own(made, wanted))
    np.testing.assert_array_equal((made := np.argwhere(x)).local_view(), own(made, np.argwhere(whole)))


ROWS = {
    "rows": lambda a, at: a[at],
    "some rows": lambda a, at: a[at[:5]],
    "no rows": lambda a, at: a[at[:0]],
    "rows and columns": lambda a, at: a[at, 3],
    "behind": lambda a, at: a[:, at % 24],
    "both": lambda a, at: a[at[:24], :, at[:24] % 33],
    "take": lambda a, at: np.take(a, at, axis=0),
    "take in two dimensions": lambda a, at: np.take(a, at[:60].reshape(4, 15), axis=0),
    "take one": lambda a, at: np.take(a, 2, axis=0),
    "take behind": lambda a, at: np.take(a, at % 24, axis=1),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("partition", ["block", "cyclic"])
def test_rows_at_indices_in_blocks(disk, limited, name, partition):
    whole = np.random.default_rng(7).normal(size=(67, 24, 33))
    at = np.random.default_rng(8).integers(-67, 67, 90) if "behind" not in name else np.arange(90)
    x = dtl.DistributedTensor(disk, whole.shape, whole.dtype, placement="disk", partition=partition)
    x.local_view()[...] = own(x, whole)
    made, wanted = ROWS[name](x, at), ROWS[name](whole, at)
    assert made.shape == wanted.shape
    np.testing.assert_array_equal(made.local_view(), own(made, wanted))


@pytest.mark.parametrize("kind", ["f8", "U3", "M8[s]", "u1"])
@pytest.mark.parametrize("partition", ["block", "cyclic"])
def test_short_rows_in_any_order_in_blocks(disk, limited, monkeypatch, kind, partition):
    """They are divided by ranges row by row, and not element by element."""
    runs, by_ranges = [], by_rows._gather_by_ranges
    monkeypatch.setattr(by_rows, "_gather_by_ranges", lambda *a: runs.append(a[-1]) or by_ranges(*a))
    draw = np.random.default_rng(7)
    whole = draw.integers(0, 200, (2001, 5)).astype(kind)
    x = dtl.DistributedTensor(disk, whole.shape, whole.dtype, placement="disk", partition=partition)
    x.local_view()[...] = own(x, whole)
    at = draw.permutation(np.append(np.arange(2001), draw.integers(-2001, 0, 90)))
    held = dtl.DistributedVector(disk, len(at), np.int64, placement="disk")
    held.local_view()[...] = own(held, at)
    for made in (x[at], x[held], np.take(x, at, axis=0)):
        assert made.shape == (len(at), 5)
        np.testing.assert_array_equal(made.local_view(), own(made, whole[at]))
    assert set(runs) == {5}
    with pytest.raises(IndexError, match="2001"):
        x[np.append(at, 2001)]


WRITES = {
    "a number": lambda a, b: a.__setitem__((slice(None), [0, 3]), 5.0),
    "values": lambda a, b: a.__setitem__((slice(None), [2, 0]), np.arange(6002.0).reshape(3001, 2)),
    "a row": lambda a, b: a.__setitem__((slice(None), [2, 0]), [7.0, 8.0]),
    "steps": lambda a, b: a.__setitem__((slice(1, None, 3), [1, 4]), 6.0),
    "rows": lambda a, b: a.__setitem__(([2990, 3, 7, 3],), [[1.0], [2.0], [3.0], [4.0]]),
    "a container": lambda a, b: a.__setitem__((slice(None), [1, 3]), b[:, [0, 1]]),
    "itself": lambda a, b: a.__setitem__((slice(None), [1, 2, 3]), a[:, :3]),
    "twice": lambda a, b: a.__setitem__((slice(None), [1, 2, 1]), b[:, :3]),
    "rows twice": lambda a, b: a.__setitem__((np.arange(3001) // 2,), b),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("partition", ["block", "cyclic"])
def test_columns_at_indices_are_written_in_blocks(disk, limited, name, partition):
    one, two = np.random.default_rng(9).normal(size=(2, 3001, 5))
    x, y = (dtl.DistributedTensor(disk, one.shape, "f8", placement="disk", partition=partition) for _ in range(2))
    x.local_view()[...], y.local_view()[...] = own(x, one), own(y, two)
    WRITES[name](x, y)
    wanted = one.copy()
    WRITES[name](wanted, two)
    np.testing.assert_array_equal(x.local_view(), own(x, wanted))


@pytest.mark.parametrize("shape", [(3001,), (3001, 5)])
@pytest.mark.parametrize("partition", ["block", "cyclic"])
@pytest.mark.parametrize("packed", [True, False])
def test_random_orders_of_rows_in_blocks(disk, limited, monkeypatch, shape, partition, packed):
    if not packed:
        monkeypatch.setattr(permutations, "_PACKED", 1000)
    whole = np.arange(np.prod(shape)).reshape(shape)
    kind = dtl.DistributedVector if len(shape) == 1 else dtl.DistributedTensor
    x, host = (
        kind(disk, *(shape if len(shape) == 1 else (shape,)), np.int64, placement=where, partition=partition)
        for where in ("disk", "host")
    )
    x.local_view()[...], host.local_view()[...] = own(x, whole), own(x, whole)
    wanted = dtl.random.Generator(disk, 5).permutation(host)
    made = dtl.random.Generator(disk, 5).permutation(x)
    np.testing.assert_array_equal(made.local_view(), wanted.local_view())
    dtl.random.Generator(disk, 5).shuffle(x)
    dtl.random.Generator(disk, 5).shuffle(host)
    np.testing.assert_array_equal(x.local_view(), host.local_view())
    assert (np.sort(x.gather_to(0), axis=0) == whole).all() if disk.is_root else x.gather_to(0) is None


#: Draws from rows of containers.
DRAWS = {
    "with replacement": lambda g, x: g.choice(x, 4000),
    "of a shape": lambda g, x: g.choice(x, (20, 101)),
    "all in any order": lambda g, x: g.choice(x, len(x), replace=False),
    "a third": lambda g, x: g.choice(x, len(x) // 3, replace=False),
    "few": lambda g, x: g.choice(x, 7, replace=False),
    "none": lambda g, x: g.choice(x, 0),
    "weighted": lambda g, x: g.choice(x, 2000, p=weights(len(x))),
    "weighted, each once": lambda g, x: g.choice(x, 1000, replace=False, p=weights(len(x))),
    "cyclic": lambda g, x: g.choice(x, 2000, partition="cyclic"),
    "replicated": lambda g, x: g.choice(x, (3, 100), replace=False, partition="replicated"),
    "along the last": lambda g, x: g.choice(x, 11, axis=-1),
    "the last permuted": lambda g, x: g.permutation(x, axis=x.ndim - 1),
    "permuted": lambda g, x: g.permuted(x),
    "permuted along the last": lambda g, x: g.permuted(x, axis=-1),
}


def weights(n):
    return np.arange(n) / (n * (n - 1) / 2)


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("partition", ["block", "cyclic", "replicated"])
@pytest.mark.parametrize("shape", [(3001,), (1501, 5)])
def test_draws_in_blocks(disk, limited, monkeypatch, name, partition, shape):
    monkeypatch.setattr(permutations.streams, "BLOCK", 1 << 8)
    monkeypatch.setattr(permutations, "_FEW", 20)
    whole = np.arange(np.prod(shape)).reshape(shape)
    kind = dtl.DistributedVector if len(shape) == 1 else dtl.DistributedTensor
    x, host = (
        kind(disk, *(shape if len(shape) == 1 else (shape,)), np.int64, placement=where, partition=partition)
        for where in ("disk", "host")
    )
    x.local_view()[...], host.local_view()[...] = own(x, whole), own(x, whole)
    made, wanted = (DRAWS[name](dtl.random.Generator(disk, 5), of) for of in (x, host))
    assert (made.shape, made.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(made.gather_to(0), wanted.gather_to(0))


SPREADS = {
    "a column": lambda a, s: a - a.max(axis=(1, 2), keepdims=True),
    "a plane": lambda a, s: np.divide(a, a.max(axis=0)),
    "two results": lambda a, s: np.divmod(a, s[:, :1])[1],
    "where": lambda a, s: np.subtract(a, s[:, :1], out=a + 1, where=a > 0),
    "in place": lambda a, s: np.subtract(a, s[:, :1], out=a),
    "a function": lambda a, s: np.where(a > 0, a, s[:, :1]),
    "turned": lambda a, s: np.flip(a, (1, 2)),
    "one place": lambda a, s: a[:, 3, ::-2],
}


@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.parametrize("partition", ["block", "cyclic"])
def test_what_spreads_in_blocks(disk, limited, name, partition):
    whole = np.random.default_rng(9).normal(size=(67, 24, 33))
    x, y = (dtl.DistributedTensor(disk, whole.shape, "f8", placement="disk", partition=partition) for _ in range(2))
    x.local_view()[...] = y.local_view()[...] = own(x, whole)
    made, wanted = SPREADS[name](x, y), SPREADS[name](whole.copy(), whole)
    assert made.shape == wanted.shape
    np.testing.assert_allclose(made.local_view(), own(made, wanted), rtol=1e-12, atol=1e-12)


def test_what_spreads_over_itself_is_read_before(disk, limited):
    whole = np.random.default_rng(9).normal(size=9000)
    x = dtl.DistributedVector(disk, whole.size, placement="disk")
    x.local_view()[...] = own(x, whole)
    np.subtract(x, dtl.DistributedSpan(x).subspan(0, 1), out=x, where=x < 9)
    np.testing.assert_array_equal(x.local_view(), own(x, whole - whole[0]))


@pytest.mark.parametrize("value", [(33,), (1, 33), (24, 1), (67, 1, 1), (67, 24, 33), (1,)], ids=str)
@pytest.mark.parametrize("kind", ["array", "container"])
@pytest.mark.parametrize(
    "key", [(..., slice(None)), (slice(None, None, -1), slice(None), slice(None))], ids=["all", "turned"]
)
def test_values_spread_over_what_is_assigned_to(disk, limited, value, kind, key):
    whole, values = np.zeros((67, 24, 33)), np.random.default_rng(9).normal(size=value)
    x = dtl.DistributedTensor(disk, whole.shape, placement="disk")
    x[key] = values if kind == "array" else dtl.asarray(disk, values)
    whole[key] = values
    np.testing.assert_array_equal(x.local_view(), own(x, whole))


FEW_TO_MANY = {
    "outer": np.outer,
    "outer by a ufunc": np.subtract.outer,
    "meshgrid": lambda a, b: np.meshgrid(a, b)[1],
    "diag": lambda a, b: np.diag(a),
    "spread": lambda a, b: a[:, None] * b,
    "where": lambda a, b: np.where(a[:, None] > 0, b, 0.0),
    "sums of few": lambda a, b: np.outer(np.cumsum(a + b), np.sort(b)),
    "tile": lambda a, b: np.tile(a, 2000),
    "repeat": lambda a, b: np.repeat(a, 2000),
    "product": lambda a, b: a.reshape(-1, 1) @ b.reshape(1, -1),
    "joined": lambda a, b: np.concatenate([a] * 2000),
}


@pytest.mark.parametrize("name", FEW_TO_MANY)
@pytest.mark.parametrize("is_limited", [False, True])
def test_many_elements_computed_of_few_of_a_disk_are_on_it(disk, request, name, is_limited):
    few = 400 * disk.size
    whole = np.random.default_rng(9).normal(size=2 * few)
    x = dtl.DistributedVector(disk, whole.size, placement="disk")
    x.local_view()[...] = own(x, whole)
    a, b = x[:few], x[few:]
    assert a.placement_policy is b.placement_policy is dtl.PLACEMENT_HOST
    if is_limited:
        request.getfixturevalue("limited")
    made, wanted = FEW_TO_MANY[name](a, b), FEW_TO_MANY[name](whole[:few], whole[few:])
    assert made.placement_policy is dtl.PLACEMENT_DISK
    np.testing.assert_allclose(made.local_view(), own(made, wanted), rtol=1e-12, atol=1e-12)


def test_many_elements_computed_of_few_on_the_host_stay_there(disk):
    with dtl.DistributedVector(disk, SIZE, placement="disk"):
        few = dtl.ones(disk, 1200)
        assert np.outer(few, few).placement_policy is dtl.PLACEMENT_HOST
        assert few[:1100].reshape(-1, 1).placement_policy is dtl.PLACEMENT_HOST


@pytest.mark.parametrize("shape", [(9000,), (301, 40), (40, 30, 20)])
@pytest.mark.parametrize("indices", ["few", "many", "in any order"])
@pytest.mark.parametrize("axis", [0, -1])
def test_segments_in_blocks(disk, limited, shape, indices, axis):
    whole = np.random.default_rng(9).integers(-99, 99, shape)
    n = shape[axis]
    at = {"few": [0, 3, 3, n - 1], "many": np.arange(0, n, 2), "in any order": [n - 1, 2, n // 2, 0, 7]}[indices]
    kind = dtl.DistributedVector if len(shape) == 1 else dtl.DistributedTensor
    x = kind(disk, *shape if len(shape) == 1 else (shape,), whole.dtype, placement="disk")
    x.local_view()[...] = own(x, whole)
    for ufunc in (np.add, np.maximum, np.logical_or):
        made, wanted = ufunc.reduceat(x, at, axis=axis), ufunc.reduceat(whole, at, axis=axis)
        assert made.dtype == wanted.dtype
        np.testing.assert_array_equal(made.local_view(), own(made, wanted))
