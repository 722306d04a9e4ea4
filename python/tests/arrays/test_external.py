"""Algorithms on containers on disk of which only a few rows are in memory at a time, beside NumPy."""

import numpy as np
import pytest
from older_numpy import unique

import dtl
from dtl.algorithms import external
from dtl.runtime import spill

SIZE = 701


@pytest.fixture
def disk(disk, monkeypatch):
    """A context whose ranks have memory for some sixty rows."""
    monkeypatch.setattr(external, "free_memory", lambda: 1)
    monkeypatch.setattr(external, "_LEAST", external._SHARE * 1000)  # bytes
    return disk


@pytest.fixture
def written(monkeypatch):
    """What has been written to files, piece by piece."""
    pieces = []
    add = spill.Spill.add
    monkeypatch.setattr(spill.Spill, "add", lambda self, *given: pieces.append(1) or add(self, *given))
    return pieces


def elements(dtype):
    """Return elements of which many are alike, and one occurs more often than there is memory for."""
    chance = np.random.default_rng(7)
    made = np.abs(chance.normal(size=SIZE) * 300).astype(np.int64)
    made[::4] = 7
    made = made % 2 if dtype == "?" else made % 251 if dtype == "u1" else made
    made = made.astype(dtype)
    if dtype in ("f4", "f8"):
        made[::9] = np.nan
        made[5::7] += 0.25
    if dtype[0] == "M":
        made[::9] = "NaT"
    return made


def on_disk(ctx, values, partition="block"):
    made = dtl.DistributedVector(ctx, len(values), dtype=values.dtype, placement="disk", partition=partition)
    made[:] = values
    return made


def same(got, want):
    found = got.gather_to(0)
    if found is not None:
        np.testing.assert_array_equal(found, want)


def ordered(values, reverse):
    """Return the stable order of values, what is missing last."""
    missing = np.isnat(values) if values.dtype.kind in "mM" else np.isnan(values)
    _, ranks = np.unique(values, return_inverse=True)
    keys = np.where(missing, len(values), -ranks.reshape(-1) if reverse else ranks.reshape(-1))
    return np.argsort(keys, kind="stable")


@pytest.mark.parametrize(
    ("dtype", "reverse"), [("f8", True), ("u1", False), ("f4", False), ("?", True), ("M8[s]", True)]
)
def test_orders(disk, written, dtype, reverse):
    values = elements(dtype)
    order = ordered(values, reverse)
    x, places = on_disk(disk, values), on_disk(disk, np.arange(SIZE))
    same(dtl.argsort(x, reverse), order)
    y = on_disk(disk, values)
    dtl.sort(y, reverse)
    same(y, values[order])
    dtl.sort_by_key(x, places, reverse=reverse)
    same(x, values[order])
    same(places, order)
    assert len(written) > 3


FIELDS = {
    "text": "U5",
    "bytes": "S3",
    "half": "f2",
    "record": [("k", "i1"), ("x", "f4"), ("s", "S2")],
    "record in a record": [("k", "i1"), ("in", [("d", "M8[s]"), ("c", "c8")])],
    "record of an array": [("k", "i1"), ("a", "i2", 2)],
}


def elements_of(dtype):
    """Return elements of a dtype that is no number, of which many are alike."""
    numbers, made = elements("i8"), np.zeros(SIZE, dtype)
    if made.dtype.names is None:
        made[:] = numbers % 1009 if made.dtype.kind == "f" else np.char.mod("%d", numbers).astype(dtype)
        made[3::11] = 0 if made.dtype.kind == "f" else ""
        return made
    made["k"] = numbers % 3 - 1
    for name in made.dtype.names[1:]:
        of = made.dtype[name]
        if name == "in":
            made["in"]["d"], made["in"]["c"] = (numbers % 5).astype("M8[s]"), numbers % 7 - 2j
        elif name == "a":
            made["a"] = np.stack([numbers % 11 - 5, numbers % 13], 1)
        else:
            made[name] = np.char.mod("%d", numbers % 100) if of.kind == "S" else numbers % 17 / 4
    return made


def places_of(values):
    """Return of each element how many distinct ones are before it, as Python compares them."""

    def comparable(value):
        if isinstance(value, (tuple, list, np.ndarray)):
            return tuple(map(comparable, value))
        return (value.real, value.imag) if isinstance(value, complex) else value

    keys = [comparable(value) for value in values.tolist()]
    before = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([before[key] for key in keys])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", FIELDS)
def test_orders_of_texts_and_records(disk, written, name, reverse):
    values = elements_of(FIELDS[name])
    keys = places_of(values)
    order = np.argsort(-keys if reverse else keys, kind="stable")
    x, y, places = on_disk(disk, values), on_disk(disk, values), on_disk(disk, np.arange(SIZE))
    same(dtl.argsort(x, reverse), order)
    dtl.sort(y, reverse)
    same(y, values[order])
    dtl.sort_by_key(x, places, reverse=reverse)
    same(places, order)
    in_ranges = not (name == "record of an array" or (reverse and values.dtype.names))
    assert len(written) > 3 or not in_ranges


@pytest.mark.parametrize("name", ["text", "bytes", "half", "record", "record in a record"])
def test_distinct_texts_and_records(disk, written, name):
    values = elements_of(FIELDS[name])
    keys = places_of(values)
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    found = dtl.unique(on_disk(disk, values), return_counts=True, return_inverse=True)
    same(found.values, values[first])
    same(found.counts, counts)
    same(found.inverse, inverse.reshape(-1))
    groups, sums = dtl.group_by(on_disk(disk, values)).agg(on_disk(disk, np.ones(SIZE)), "sum")
    same(groups, values[first])
    same(sums, counts)
    same(dtl.isin(on_disk(disk, values), on_disk(disk, values[5:90])), np.isin(keys, keys[5:90]))
    assert len(written) > 3


def test_zeros_stay_in_their_order(disk, written):
    values = np.resize([0.0, -0.0, 3.0, -0.0, -1.0], SIZE)
    x = on_disk(disk, values)
    dtl.sort(x)
    found = x.gather_to(0)
    if found is not None:
        np.testing.assert_array_equal(np.signbit(found), np.signbit(np.array(sorted(values.tolist()))))
    assert len(written) > 1 or disk.size == 1


@pytest.mark.parametrize(("dtype", "partition"), [("f8", "block"), ("i4", "cyclic"), ("M8[s]", "replicated")])
def test_unique(disk, written, dtype, partition):
    values = elements(dtype)
    missing = np.isnat(values) if dtype[0] == "M" else np.isnan(values)
    distinct, inverse, counts = np.unique(values[~missing], return_inverse=True, return_counts=True)
    if missing.any():
        distinct, counts = np.append(distinct, values[missing][:1]), np.append(counts, missing.sum())
    which = np.full(SIZE, len(distinct) - 1)
    which[~missing] = inverse.reshape(-1)
    x = on_disk(disk, values, partition)
    found = dtl.unique(x, return_counts=True, return_inverse=True)
    same(found.values, distinct)
    same(found.counts, counts)
    same(found.inverse, which)
    same(dtl.unique(x), distinct)
    assert len(written) > 3


@pytest.mark.parametrize("dtype", ["f8", "i4", "M8[s]"])
@pytest.mark.parametrize("axis", [0, 1])
def test_distinct_rows(disk, written, dtype, axis):
    rows = np.moveaxis(
        np.array([elements(dtype), elements(dtype)[::-1] % 3 if dtype == "i4" else elements(dtype)]), axis, 1
    )
    x = dtl.DistributedTensor(disk, rows.shape, rows.dtype, placement="disk")
    x[...] = rows
    made = np.unique(x, return_index=True, return_counts=True, axis=axis)
    wanted = np.unique(rows, return_index=True, return_counts=True, axis=axis)
    for got, want in zip(made, wanted):
        same(got, want)
    assert written


@pytest.mark.parametrize("partition", ["block", "cyclic", "replicated"])
@pytest.mark.parametrize("of", ["both", "true", "false"])
def test_distinct_bools_are_counted(disk, written, of, partition):
    values = {"both": np.arange(40_000) % 3 == 0, "true": np.ones(40_000, bool), "false": np.zeros(40_000, bool)}[of]
    x = on_disk(disk, values, partition)
    made = dtl.unique(x, return_counts=True, return_inverse=True)
    distinct, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    same(made.values, distinct)
    same(made.counts, counts)
    assert (made.inverse.local_view() == inverse[made.inverse.local_indices()]).all()
    same(np.unique(x), distinct)
    assert not written


@pytest.mark.parametrize(("dtype", "partition"), [("f8", "block"), ("i8", "block"), ("f4", "block")])
def test_where_elements_are_first(disk, written, dtype, partition):
    values = elements(dtype)
    distinct, counts = unique(values, return_counts=True)
    kept = values[~np.isnan(values)]
    firsts = [int(np.argmax(values == each)) for each in np.unique(kept)] + [0] * (len(kept) < SIZE)
    found = np.unique(on_disk(disk, values, partition), return_index=True, return_counts=True)
    for got, want in zip(found, (distinct, firsts, counts)):
        same(got, want)
    assert len(written) > 3


@pytest.mark.parametrize("partition", ["block", "cyclic"])
def test_groups(disk, partition):
    keys, values = elements("i8") * 1000, np.random.default_rng(1).normal(size=SIZE)
    distinct = np.unique(keys)
    of_groups = {
        "count": len,
        "first": lambda group: group[0],
        "last": lambda group: group[-1],
        "nunique": lambda group: len(np.unique(group)),
        **{name: getattr(np, name) for name in ("sum", "mean", "var", "min", "max", "median")},
    }
    v = on_disk(disk, values, partition)
    with dtl.group_by(on_disk(disk, keys, partition)) as groups:
        for op, of_group in of_groups.items():
            found, made = groups.agg(v, op)
            same(found, distinct)
            got = made.gather_to(0)
            if got is not None:
                np.testing.assert_allclose(got, [of_group(values[keys == key]) for key in distinct], rtol=1e-9)


def test_groups_of_two_keys_and_by_a_function(disk):
    first, second, values = elements("f8"), np.arange(SIZE) % 3, np.arange(SIZE, dtype=np.float64)
    a, b, v = (on_disk(disk, each) for each in (first, second, values))
    with dtl.group_by([a, b]) as groups:
        (one, other), made = groups.agg(v, "sum")
        spread = groups.agg(v, np.ptp)[1].gather_to(0)
    rows = [each.gather_to(0) for each in (one, other, made)]
    if rows[0] is not None:
        for key, number, total, width in zip(*rows, spread):
            group = values[((first == key) | (np.isnan(first) & np.isnan(key))) & (second == number)]
            assert (total, width) == (group.sum(), np.ptp(group))
        assert rows[2].sum() == values.sum()


@pytest.mark.parametrize("how", ["inner", "outer", "semi", "anti"])
def test_join(disk, how):
    left, right = elements("f8"), np.append(np.arange(0, 900, 3), [7.0, 7.25, np.nan])
    found = dtl.join(on_disk(disk, left), on_disk(disk, right), how)
    pairs = [(key, i, j) for i, key in enumerate(left) for j in np.flatnonzero(right == key)]
    pairs.sort()
    inside, others = {i for _, i, _ in pairs}, {j for _, _, j in pairs}
    lefts = [i for i in ordered(left, False) if i not in inside]
    rights = [j for j in ordered(right, False) if j not in others]
    if how in ("semi", "anti"):
        same(found, [i for i in ordered(left, False) if i in inside] if how == "semi" else lefts)
        return
    lefts, rights = lefts if how in ("left", "outer") else [], rights if how in ("right", "outer") else []
    same(found[0], [i for _, i, _ in pairs] + lefts + [-1] * len(rights))
    same(found[1], [j for _, _, j in pairs] + [-1] * len(lefts) + rights)


def test_lookups(disk, monkeypatch):
    monkeypatch.setattr(external, "_LEAST", 1 << 14)
    monkeypatch.setattr(external.library, "memory_limit", lambda: 1 << 30)
    values, others = elements("f8"), np.arange(0.0, 900.0, 3.0)
    x, y = on_disk(disk, values), on_disk(disk, others)
    for invert in (False, True):
        same(dtl.isin(x, y, invert=invert), np.isin(values, others, invert=invert))
        same(dtl.isin(x, others, invert=invert), np.isin(values, others, invert=invert))
    for side in ("left", "right"):
        same(dtl.searchsorted(y, x, side), np.searchsorted(others, values, side))


def test_no_room_is_a_memory_error_on_every_rank(disk, monkeypatch):
    x = on_disk(disk, elements("f8"))

    def full(*_):
        raise OSError(28, "No space left on device")

    if disk.rank == disk.size - 1:
        monkeypatch.setattr(spill.os, "pwrite", full)
    with pytest.raises(dtl.MemoryError, match="have no room in the scratch folder"):
        dtl.argsort(x)
    assert dtl.allreduce(disk, np.ones(1)).tolist() == [disk.size]


def test_value_counts(disk, written):
    values = elements("i8")
    distinct, counts = np.unique(values, return_counts=True)
    order = np.lexsort((distinct, -counts))
    found = dtl.value_counts(on_disk(disk, values))
    same(found.values, distinct[order])
    same(found.counts, counts[order])
    assert len(written) > 3


@pytest.mark.parametrize("dtype", ["f8", "i4", "M8[s]"])
@pytest.mark.parametrize("name", ["union1d", "intersect1d", "setxor1d", "setdiff1d"])
def test_set_operations(disk, written, name, dtype):
    one, other = elements(dtype), elements(dtype)[: SIZE // 2]
    other[20:] = (other[20:].view(f"i{other.itemsize}") + 2).view(dtype)
    if name == "union1d":
        wanted = unique(np.concatenate([one, other]))
    else:
        wanted = getattr(np, name)(unique(one), unique(other), assume_unique=True)
    same(getattr(dtl, name)(on_disk(disk, one), on_disk(disk, other)), wanted)
    assert len(written) > 3 or name == "union1d"  # of so few elements one after the other, there is no file


@pytest.mark.parametrize("dtype", ["f8", "i4", "M8[s]"])
def test_where_common_elements_are(disk, written, dtype):
    one, other = elements(dtype), elements("i8")[: SIZE // 2].astype(dtype)[::-1].copy()
    found = dtl.intersect1d(on_disk(disk, one), on_disk(disk, other), return_indices=True)
    for mine, theirs in zip(found, np.intersect1d(one, other, return_indices=True)):
        same(mine, theirs)
    assert len(written) > 3


@pytest.mark.parametrize("dtypes", [("f8", "i4"), ("i8", "f4", "?"), ("i8", "?", "M8[s]")])
def test_orders_by_several_keys(disk, written, dtypes):
    keys = [np.roll(elements(dtype), 5 * number) for number, dtype in enumerate(dtypes)]
    same(dtl.lexsort([on_disk(disk, key) for key in keys]), np.lexsort(keys))
    assert len(written) > 3
