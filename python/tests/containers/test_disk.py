"""Containers of PLACEMENT_DISK: files without a name, mapped into memory."""

import contextlib
import errno
import math
import os
import resource
import tempfile
import warnings

import numpy as np
import pytest

import dtl
from dtl.algorithms import reduced_parts
from dtl.containers import broadcasting, interior
from dtl.containers.indexing import by_rows
from dtl.io import file_copies
from dtl.linalg import tiles
from dtl.runtime.scratch import resident

#: A container that is worth files on up to four ranks.
SIZE = 1 << 20


@pytest.fixture
def scratch(ctx, tmp_path_factory):
    """A folder for files, and a context that has it."""
    folder = dtl.broadcast_object(ctx, str(tmp_path_factory.mktemp("scratch")) if ctx.is_root else None)
    with dtl.Context(scratch=folder) as on:
        yield on


def test_elements_are_in_a_file_without_a_name(scratch):
    x = dtl.DistributedVector(scratch, SIZE, placement="disk", fill=3)
    assert x.placement_policy is dtl.PLACEMENT_DISK
    assert x.local_view().flags.writeable
    assert os.listdir(scratch.scratch) == []
    with open("/proc/self/maps") as maps:
        assert any(scratch.scratch in line and "(deleted)" in line for line in maps)
    x.close()
    with open("/proc/self/maps") as maps:
        assert not any(scratch.scratch in line for line in maps)


@pytest.mark.parametrize("partition", ["block", "cyclic", "hash", "replicated"])
def test_computes_as_on_the_host(scratch, partition):
    size = {"hash": 40_000, "block": SIZE}.get(partition, SIZE // 8)
    x, y = (dtl.DistributedVector(scratch, size, partition=partition, placement=p) for p in ("disk", "host"))
    for c in (x, y):
        c.local_view()[:] = np.sin(c.local_indices() * 0.37)
    for f in (
        np.mean,
        np.std,
        np.max,
        np.argmin,
        lambda c: np.sqrt(c * c + 1).sum(),
        lambda c: c @ c,
        lambda c: np.quantile(c, 0.3),
    ):
        assert f(x) == f(y)  # to the bit, although those on disk are read in blocks
    for f in (lambda c: 2 * c + np.cos(c), np.sort, np.cumsum, lambda c: c[10:-7], lambda c: c[c > 0], np.unique):
        got, want = f(x), f(y)
        np.testing.assert_array_equal(got.gather_to(0), want.gather_to(0))


def test_results_of_many_elements_are_on_disk(scratch):
    x = dtl.DistributedVector(scratch, SIZE, placement="disk", fill=1)
    assert (x + 1).placement_policy is dtl.PLACEMENT_DISK
    assert x[: SIZE // 2].placement_policy is dtl.PLACEMENT_DISK
    assert x[:100].placement_policy is dtl.PLACEMENT_HOST
    assert (x.astype(np.uint8) + x.astype(np.uint8)).placement_policy is x.astype(np.uint8).placement_policy


BOTH = {
    "concatenate": lambda a, b: np.concatenate([a, b]),
    "stack": lambda a, b: np.stack([a, b], axis=1),
    "append": lambda a, b: np.append(a[:3], b),
    "vstack": lambda a, b: np.vstack([a.reshape(-1, 8)[:2], b.reshape(-1, 8)]),
    "where": lambda a, b: np.where(a > 5, b, np.float32(1)),
}


@pytest.mark.parametrize("name", BOTH)
def test_results_of_memory_and_disk_are_on_disk(scratch, name):
    whole = np.arange(4 * SIZE, dtype="f4") % 11
    in_memory = dtl.DistributedVector.from_numpy(scratch, whole)
    on_disk = dtl.DistributedVector(scratch, len(whole), "f4", placement="disk")
    on_disk[:] = in_memory
    for a, b in ((in_memory, on_disk), (on_disk, in_memory)):
        made, wanted = BOTH[name](a, b), BOTH[name](whole, whole)
        np.testing.assert_array_equal(made.local_view(), own(made, wanted))
        assert (name in ("append", "vstack") and b is in_memory) or made.placement_policy is dtl.PLACEMENT_DISK


def test_copies_go_both_ways(scratch):
    x = dtl.DistributedVector(scratch, SIZE, placement="disk")
    y = dtl.DistributedVector(scratch, SIZE)
    y.local_view()[:] = y.local_indices()
    dtl.copy(y, x)
    assert (x == y).all()
    x += y
    dtl.copy(x, y)
    assert y[SIZE - 1] == 2 * (SIZE - 1)


def test_tensors_and_arrays(scratch):
    t = dtl.DistributedTensor(scratch, (2000, 700), placement="disk", fill=2.0)
    assert t.sum(axis=0)[3] == 4000
    assert (t.T @ dtl.DistributedTensor(scratch, (2000, 1), fill=1.0))[5, 0] == 4000
    assert dtl.zeros(scratch, SIZE, placement=dtl.PLACEMENT_DISK).placement_policy is dtl.PLACEMENT_DISK


@pytest.mark.parametrize("shape", [(SIZE + 3,), (3000, 100), (4, 1, (9 << 20) // 8)])
def test_expressions_are_computed_for_a_file_alone(scratch, shape):
    x = dtl.zeros(scratch, shape, placement="disk")
    x.local_view()[:] = np.arange(x.local_size).reshape(x.local_shape) % 1000 + scratch.rank
    own, path = x.local_view().copy(), os.path.join(scratch.scratch, "made.npy")
    spread = np.arange(1.0, 1 + math.prod(shape[1:])).reshape(shape[1:]) if x.ndim > 1 else 3.0
    for y, want in ((2 / (x + 1), 2 / (own + 1)), (x * spread, own * spread)):
        dtl.save(y, path)
        np.testing.assert_array_equal(np.load(path)[x.local_offset :][: len(want)], want)
        np.testing.assert_array_equal(y.local_view(), want)
        scratch.barrier()  # before a rank writes another file
    x += 1
    dtl.checkpoint(path[:-4], {"x": x, "y": x * 2})  # of which the first is written where it is read
    np.testing.assert_array_equal(x.local_view(), own + 1)
    again = dtl.restore(scratch, path[:-4])
    np.testing.assert_array_equal(again["x"].local_view(), own + 1)
    np.testing.assert_array_equal(again["y"].local_view(), own * 2 + 2)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        dtl.save(np.log(x * 0), path)
    assert np.load(path).flat[-1] == -np.inf
    scratch.barrier()


def test_a_derived_context_has_the_folder(scratch):
    with scratch.dup() as other:
        assert other.scratch == scratch.scratch
        assert dtl.DistributedVector(other, 10, placement="disk").sum() == 0


@pytest.mark.parametrize(("where", "error"), [("absent", FileNotFoundError), ("file", OSError)])
def test_a_folder_without_files_is_refused_on_every_rank(ctx, tmp_path, where, error):
    (tmp_path / "file").write_text("")
    folder = tmp_path / where if ctx.rank == ctx.size - 1 else tmp_path  # on one rank alone
    with pytest.raises(error, match="scratch folder"):
        dtl.Context(scratch=folder)
    assert dtl.allreduce(ctx, np.ones(1)).tolist() == [ctx.size]


@pytest.mark.parametrize(
    ("wrong", "error"), [(5, dtl.InvalidTypeError), (b"/tmp", dtl.InvalidTypeError), ("", ValueError)]
)
def test_what_is_no_folder_is_refused(wrong, error):
    with pytest.raises(error, match="scratch"):
        dtl.Context(scratch=wrong)


def test_a_container_is_refused_on_every_rank_where_the_folder_has_gone(ctx, tmp_path):
    folder = tempfile.mkdtemp(dir=tmp_path)
    with dtl.Context(scratch=folder) as on:
        if on.rank == on.size - 1:
            os.rmdir(folder)
        with pytest.raises(dtl.FileError, match="does not exist"):
            dtl.DistributedVector(on, SIZE, placement="disk")


def test_maps_are_in_memory(scratch):
    with pytest.raises(dtl.InvalidArgumentError, match="maps are in memory"):
        dtl.DistributedMap(scratch, np.int64, np.float64, placement="disk")


def test_a_file_too_large_is_a_memory_error_on_every_rank(scratch):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.raises(dtl.MemoryError, match="cannot be allocated in the scratch folder"):
        dtl.DistributedVector(scratch, 1 << 50, placement="disk")
    x = dtl.DistributedVector(scratch, SIZE, placement="disk", fill=1)
    if scratch.rank == scratch.size - 1:  # on one rank alone
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(dtl.MemoryError, match="RLIMIT_FSIZE"):
            dtl.DistributedVector(scratch, SIZE, placement="disk")
        y = x + 1
        with pytest.raises(dtl.MemoryError, match="RLIMIT_FSIZE"):
            y[5]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (x + 1).sum() == 2 * SIZE


@contextlib.contextmanager
def full_for_one(ctx):
    """Let the last rank alone write no more than 64 KiB to a file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    if ctx.rank == ctx.size - 1:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


#: Calls that make a container on disk, of which the first ones are not collective: the other ranks hear of it later.
GROWING = [
    lambda x: x.copy(),
    lambda x: x.astype(np.complex128),
    lambda x: (x + 1).local_view(),
    lambda x: np.divmod(x, 3.0),
    np.zeros_like,
    lambda x: x[3:],
    lambda x: x[x > 0],
    lambda x: np.append(x, x),
    np.sort,
    np.cumsum,
    lambda x: dtl.lexsort((x, x)),
    dtl.fft.rfft,
    lambda x: x.reshape(1024, -1).T,
    lambda x: np.roll(x, 3),
]


@pytest.mark.parametrize("call", GROWING)
def test_a_disk_that_is_full_for_one_rank_is_told_to_all(scratch, call):
    x = dtl.DistributedVector(scratch, SIZE, placement="disk", fill=2)
    words = "cannot be allocated in the scratch folder"

    def called():
        call(x)
        scratch.barrier()

    with full_for_one(scratch), pytest.raises(dtl.MemoryError, match=words):
        called()
    assert x.sum() == 2 * SIZE


def test_an_operand_may_go_while_the_disk_is_full(scratch):
    x = dtl.DistributedVector(scratch, SIZE, placement="disk", fill=2)
    with full_for_one(scratch):
        y = x + 1
        del x
        scratch.barrier()

        def called():
            y.sum()
            y[5]

        with pytest.raises(dtl.MemoryError, match="cannot be allocated in the scratch folder"):
            called()
    assert y.sum() == 3 * SIZE


def test_a_limit_that_cannot_be_held_is_refused():
    for wrong in (0, -1, 4096):
        with pytest.raises(dtl.InvalidArgumentError, match="this process has"):
            dtl.set_memory_limit(wrong)
    with pytest.raises(dtl.InvalidTypeError):
        dtl.set_memory_limit("1GiB")


@pytest.mark.parametrize(("sides", "tiled"), [((300, 200, 100), False), ((2000, 300, 20), True), ((20, 900, 30), True)])
def test_products_of_what_fits_in_a_tile_go_by_none(scratch, monkeypatch, sides, tiled):
    rows, inner, columns = sides
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns))
    x, y = (dtl.DistributedTensor(scratch, c.shape, placement="disk") for c in (a, b))
    for c, whole in ((x, a), (y, b)):
        c.local_view()[...] = whole[np.ix_(*[c.local_indices(d) for d in range(2)])]
    called = []
    multiply = tiles.multiply
    monkeypatch.setattr(tiles, "multiply", lambda *given: called.append(given) or multiply(*given))
    monkeypatch.setattr(tiles.library, "memory_limit", lambda: 32 * 8 * 300**2)
    monkeypatch.setattr(tiles, "_LEAST", 0)
    made = x @ y
    np.testing.assert_allclose(made.local_view(), (a @ b)[np.ix_(*[made.local_indices(d) for d in range(2)])])
    assert bool(called) is tiled


def test_limits_that_differ_between_ranks_are_told(scratch, stored):
    path, _ = stored
    mine = (8 << 30) + scratch.rank * (1 << 20)
    before = dtl.DistributedVector(scratch, SIZE, placement="disk", fill=1)
    try:
        dtl.set_memory_limit(mine)
        makers = [
            lambda: dtl.DistributedVector(scratch, SIZE, placement="disk"),
            lambda: dtl.load(scratch, path, mapped=True),
        ]
        for make in makers:
            if scratch.size == 1:
                make().close()
                continue
            with pytest.raises(dtl.InvalidArgumentError, match=f"limit of memory is {8 << 30} bytes on rank 0 and"):
                make()
        y = before + 1  # the limit on which all agreed when the operand was made
        assert y.placement_policy is dtl.PLACEMENT_DISK
        assert y.sum() == 2 * SIZE
    finally:
        dtl.set_memory_limit(None)


@pytest.mark.parametrize("make", [lambda x: np.concatenate([x, x]), lambda x: dtl.repeat(x, 2)])
def test_results_of_what_was_put_together_keep_to_the_limit(scratch, make):
    limit = int(dtl.allgather(scratch, resident()).max()) + (128 << 20)
    size = scratch.size * (limit // 256 + 4096)  # twice as many floats are more than a 16th of the limit on each rank
    dtl.set_memory_limit(limit)
    try:
        with dtl.DistributedVector(scratch, size, placement="disk", fill=1) as x, make(x) as made, made > 0 as truths:
            assert made.placement_policy is dtl.PLACEMENT_DISK
            assert truths.placement_policy is dtl.PLACEMENT_HOST  # without a limit, files would be worth it
    finally:
        dtl.set_memory_limit(None)


@pytest.fixture
def stored(ctx, tmp_path_factory):
    """A file of NumPy's, and its elements."""
    folder = dtl.broadcast_object(ctx, str(tmp_path_factory.mktemp("stored")) if ctx.is_root else None)
    path, elements = os.path.join(folder, "x.npy"), np.arange(SIZE, dtype=np.float64).reshape(-1, 64)
    if ctx.is_root:
        np.save(path, elements)
    ctx.barrier()
    return path, elements


def test_a_file_is_the_memory(ctx, stored):
    path, elements = stored
    x = dtl.load(ctx, path, mapped=True)
    assert x.placement_policy is dtl.PLACEMENT_DISK
    assert x.sum() == elements.sum()
    np.testing.assert_array_equal(x.local_view(), elements[x.local_offset :][: len(x.local_view())])
    x += 1
    x[3, 4] = -5
    assert (x[3, 4], x[3, 5]) == (-5, elements[3, 5] + 1)
    ctx.barrier()
    np.testing.assert_array_equal(np.load(path), elements)  # which is not written to


def test_raw_elements_are_mapped_from_a_byte_on(ctx, stored):
    path, elements = stored
    offset = os.path.getsize(path) - elements.nbytes + 8
    x = dtl.load(ctx, path, format="raw", dtype=np.float64, offset=offset, mapped=True)
    assert x.sum() == elements.ravel()[1:].sum()
    for dtype in (np.float64, np.complex128, np.int16, "M8[s]", "U3"):
        with pytest.raises(dtl.InvalidArgumentError, match="begins at byte"):
            dtl.load(ctx, path, format="raw", dtype=dtype, offset=offset + 1, shape=(5,), mapped=True)


@pytest.mark.parametrize("dtype", ["S3", "U2", "V5", [("a", "i4"), ("b", "f8")], "f2", "M8[s]", "?", "c16", "f8"])
def test_elements_of_any_size_are_mapped_on_any_number_of_ranks(ctx, tmp_path_factory, dtype):
    folder = dtl.broadcast_object(ctx, str(tmp_path_factory.mktemp("sizes")) if ctx.is_root else None)
    path, count = os.path.join(folder, "x.npy"), 7
    size = np.dtype(dtype).itemsize
    elements = (np.arange(count * size) % 2 + (65 if "S" in str(dtype) else 0)).astype(np.uint8).view(dtype)
    if ctx.is_root:
        np.save(path, elements)
    ctx.barrier()
    x = dtl.load(ctx, path, mapped=True)
    assert x.local_view().tobytes() == elements[x.local_offset :][: len(x.local_view())].tobytes()
    got = x[1:6].gather_to(0)
    assert got is None or got.tobytes() == elements[1:6].tobytes()


def test_what_is_not_mapped_is_refused_on_every_rank(ctx, stored):
    path, elements = stored
    apart = {"partition": "cyclic"} if ctx.size > 1 else {"dtype": np.complex64}
    for how in ({"dtype": np.float32}, {"placement": "device"}, apart):
        with pytest.raises(dtl.InvalidArgumentError):
            dtl.load(ctx, path, mapped=True, **how)
    if ctx.is_root:
        np.save(path, elements.T.copy(order="C").T)
    ctx.barrier()
    with pytest.raises(dtl.InvalidArgumentError, match="C order"):
        dtl.load(ctx, path, mapped=True)


def test_a_file_system_that_maps_no_files_is_named(ctx):
    with pytest.raises(dtl.FileError, match="the file is on sysfs at /sys, which does not map it"):
        dtl.load(ctx, "/sys/devices/system/cpu/online", format="raw", dtype=np.uint8, shape=(1,), mapped=True)


def test_a_file_that_is_replaced_or_removed_stays_what_it_was(ctx, stored):
    path, elements = stored
    x = dtl.load(ctx, path, mapped=True)
    if ctx.is_root:
        np.save(path + ".new.npy", elements[:5])
        os.replace(path + ".new.npy", path)
    ctx.barrier()
    assert x.sum() == elements.sum()
    if ctx.is_root:
        os.remove(path)
    ctx.barrier()
    assert x.sum() == elements.sum()


def test_a_file_that_shrinks_is_an_error_on_every_rank(ctx, stored):
    path, elements = stored
    x, other = (dtl.load(ctx, path, mapped=True) for _ in range(2))
    view = x.local_view()
    queued = other + 1
    ctx.barrier()
    if ctx.is_root:
        os.truncate(path, os.path.getsize(path) - elements.nbytes)
    ctx.barrier()
    for call in (queued.sum, x.sum, lambda: x[0, 0], lambda: np.sort(x, axis=None)):
        with pytest.raises(dtl.FileError, match="shorter"):
            call()
    assert view.sum() == 0  # no signal ends the process


def passed_by_system():
    """Return how many bytes the kernel has read from files for this process: what it copies between files counts."""
    with open("/proc/self/io") as counts:
        return int(counts.readline().split()[1])


def refusing(number, after):
    """Return a copy between files which the system refuses after so many calls."""
    calls = iter(range(after))

    def copy(*args):
        if next(calls, None) is None:
            raise OSError(number, os.strerror(number))
        return os.copy_file_range(*args)

    return copy


@pytest.mark.parametrize(
    ("number", "after"),
    [(None, 0), (errno.EXDEV, 0), (errno.ENOSYS, 1), (errno.EOPNOTSUPP, 0), (errno.EINVAL, 0)],
)
def test_a_checkpoint_is_copied_by_the_system(scratch, tmp_path_factory, monkeypatch, number, after):
    def call(*args):
        return dtl.checkpoint(*args) if number in (None, errno.EINVAL) else dtl.async_checkpoint(*args).get()

    folder = dtl.broadcast_object(scratch, str(tmp_path_factory.mktemp("kept")) if scratch.is_root else None)
    x = dtl.DistributedVector(scratch, SIZE, placement="disk")
    x.local_view()[:] = x.local_indices()
    t = dtl.DistributedTensor(scratch, (3_011, 9), np.int32, placement="disk", fill=7)
    if number is not None:
        monkeypatch.setattr(file_copies, "_copy_file_range", refusing(number, after))
    before = passed_by_system()
    name = call(folder, {"x": x, "t": t})
    moved = passed_by_system() - before
    if number is None:
        assert moved >= x.local_view().nbytes + t.local_view().nbytes
    elif after == 0:
        assert moved < SIZE // 2
    if scratch.is_root:
        np.testing.assert_array_equal(np.load(os.path.join(name, "0.npy")), np.arange(SIZE, dtype=np.float64))
    again = dtl.restore(scratch, folder)
    assert again["x"].placement_policy is dtl.PLACEMENT_DISK
    assert (again["x"] == x).all()
    assert (again["t"] == 7).all()
    assert os.listdir(scratch.scratch) == []


def test_a_checkpoint_of_a_mapped_file_has_what_was_written_to_it(ctx, stored, tmp_path_factory):
    path, elements = stored
    folder = dtl.broadcast_object(ctx, str(tmp_path_factory.mktemp("kept")) if ctx.is_root else None)
    x = dtl.load(ctx, path, mapped=True)
    x += 1
    dtl.checkpoint(folder, {"x": x})
    again = dtl.restore(ctx, folder, placement="host")["x"]
    assert again.sum() == elements.sum() + elements.size


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
def test_lines_in_bands_and_blocks(scratch, limited, name, partition, axis):
    whole = np.random.default_rng(5).normal(size=(67, 24, 33)) if "arg" not in name else None
    if whole is None:  # with equal ones
        whole = np.random.default_rng(5).integers(0, 9, (67, 24, 33)).astype("f4")
    if name.startswith("nan"):
        whole[3, 4, 5] = whole[60, 1] = np.nan
    x = dtl.DistributedTensor(scratch, whole.shape, whole.dtype, placement="disk", partition=partition)
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
def test_lines_sorted_in_bands(scratch, limited, name, partition, axis):
    whole = moved(name, (67, 24, 33))
    x = dtl.DistributedTensor(scratch, whole.shape, whole.dtype, placement="disk", partition=partition)
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
def test_what_the_core_does_not_know_in_blocks(scratch, limited, name, shape, missing):
    kinds, call = OF_MOVED[name]
    for kind in kinds:
        if kind == "records":
            continue
        whole = moved(kind, shape)
        if not missing and kind in ("dates", "spans"):
            whole[np.isnat(whole)] = whole.flat[1]
        x = dtl.DistributedVector if len(shape) == 1 else dtl.DistributedTensor
        x = x(scratch, *shape if len(shape) == 1 else (shape,), whole.dtype, placement="disk")
        x.local_view()[...] = own(x, whole)
        made, wanted = call(x), call(whole)
        if np.ndim(wanted):
            made, wanted = made.local_view(), own(made, wanted)
        np.testing.assert_array_equal(made, wanted)


@pytest.mark.parametrize("shape", [(5000,), (301, 40)])
@pytest.mark.parametrize("axis", [0, -1])
def test_sums_of_spans_before_each_in_blocks(scratch, limited, shape, axis):
    whole = np.random.default_rng(9).integers(0, 99, shape).astype("m8[s]")
    whole[shape[0] // 2] = whole[-1, ...] = "NaT"
    x = dtl.DistributedVector if len(shape) == 1 else dtl.DistributedTensor
    x = x(scratch, *shape if len(shape) == 1 else (shape,), whole.dtype, placement="disk")
    x.local_view()[...] = own(x, whole)
    made = dtl.cumsum(x, axis, exclusive=True)
    sums = np.cumsum(whole, axis=axis)
    wanted = np.zeros_like(whole)
    np.moveaxis(wanted, axis, 0)[1:] = np.moveaxis(sums, axis, 0)[:-1]
    np.testing.assert_array_equal(made.local_view(), own(made, wanted))


@pytest.mark.parametrize("shape", [(3001, 3), (301, 40), (40, 300), (40, 30, 20)])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["f8", "i1", "c8"])
def test_scans_along_a_dimension_in_blocks(scratch, limited, shape, axis, dtype):
    whole = (np.random.default_rng(9).random(shape) * 50 - 20).astype(dtype)
    x = dtl.DistributedTensor(scratch, shape, whole.dtype, placement="disk")
    x.local_view()[...] = own(x, whole)
    close = 0 if scratch.size == 1 else 1e-4 if dtype == "c8" else 1e-11  # the ranks add up their totals
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
def test_indices_of_what_is_true_in_blocks(scratch, limited, shape, partition):
    whole = np.random.default_rng(6).integers(0, 4, shape)
    x = dtl.DistributedVector if len(shape) == 1 else dtl.DistributedTensor
    x = x(scratch, *shape if len(shape) == 1 else (shape,), whole.dtype, placement="disk", partition=partition)
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
def test_rows_at_indices_in_blocks(scratch, limited, name, partition):
    whole = np.random.default_rng(7).normal(size=(67, 24, 33))
    at = np.random.default_rng(8).integers(-67, 67, 90) if "behind" not in name else np.arange(90)
    x = dtl.DistributedTensor(scratch, whole.shape, whole.dtype, placement="disk", partition=partition)
    x.local_view()[...] = own(x, whole)
    made, wanted = ROWS[name](x, at), ROWS[name](whole, at)
    assert made.shape == wanted.shape
    np.testing.assert_array_equal(made.local_view(), own(made, wanted))


@pytest.mark.parametrize("kind", ["f8", "U3", "M8[s]", "u1"])
@pytest.mark.parametrize("partition", ["block", "cyclic"])
def test_short_rows_in_any_order_in_blocks(scratch, limited, monkeypatch, kind, partition):
    """They are divided by ranges row by row, and not element by element."""
    runs, by_ranges = [], by_rows._gather_by_ranges
    monkeypatch.setattr(by_rows, "_gather_by_ranges", lambda *a: runs.append(a[-1]) or by_ranges(*a))
    draw = np.random.default_rng(7)
    whole = draw.integers(0, 200, (2001, 5)).astype(kind)
    x = dtl.DistributedTensor(scratch, whole.shape, whole.dtype, placement="disk", partition=partition)
    x.local_view()[...] = own(x, whole)
    at = draw.permutation(np.append(np.arange(2001), draw.integers(-2001, 0, 90)))
    held = dtl.DistributedVector(scratch, len(at), np.int64, placement="disk")
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
def test_columns_at_indices_are_written_in_blocks(scratch, limited, name, partition):
    one, two = np.random.default_rng(9).normal(size=(2, 3001, 5))
    x, y = (dtl.DistributedTensor(scratch, one.shape, "f8", placement="disk", partition=partition) for _ in range(2))
    x.local_view()[...], y.local_view()[...] = own(x, one), own(y, two)
    WRITES[name](x, y)
    wanted = one.copy()
    WRITES[name](wanted, two)
    np.testing.assert_array_equal(x.local_view(), own(x, wanted))


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
def test_what_spreads_in_blocks(scratch, limited, name, partition):
    whole = np.random.default_rng(9).normal(size=(67, 24, 33))
    x, y = (dtl.DistributedTensor(scratch, whole.shape, "f8", placement="disk", partition=partition) for _ in range(2))
    x.local_view()[...] = y.local_view()[...] = own(x, whole)
    made, wanted = SPREADS[name](x, y), SPREADS[name](whole.copy(), whole)
    assert made.shape == wanted.shape
    np.testing.assert_allclose(made.local_view(), own(made, wanted), rtol=1e-12, atol=1e-12)


def test_what_spreads_over_itself_is_read_before(scratch, limited):
    whole = np.random.default_rng(9).normal(size=9000)
    x = dtl.DistributedVector(scratch, whole.size, placement="disk")
    x.local_view()[...] = own(x, whole)
    np.subtract(x, dtl.DistributedSpan(x).subspan(0, 1), out=x, where=x < 9)
    np.testing.assert_array_equal(x.local_view(), own(x, whole - whole[0]))


@pytest.mark.parametrize("value", [(33,), (1, 33), (24, 1), (67, 1, 1), (67, 24, 33), (1,)], ids=str)
@pytest.mark.parametrize("kind", ["array", "container"])
@pytest.mark.parametrize(
    "key", [(..., slice(None)), (slice(None, None, -1), slice(None), slice(None))], ids=["all", "turned"]
)
def test_values_spread_over_what_is_assigned_to(scratch, limited, value, kind, key):
    whole, values = np.zeros((67, 24, 33)), np.random.default_rng(9).normal(size=value)
    x = dtl.DistributedTensor(scratch, whole.shape, placement="disk")
    x[key] = values if kind == "array" else dtl.asarray(scratch, values)
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
def test_many_elements_computed_of_few_of_a_disk_are_on_it(scratch, request, name, is_limited):
    few = 400 * scratch.size
    whole = np.random.default_rng(9).normal(size=2 * few)
    x = dtl.DistributedVector(scratch, whole.size, placement="disk")
    x.local_view()[...] = own(x, whole)
    a, b = x[:few], x[few:]
    assert a.placement_policy is b.placement_policy is dtl.PLACEMENT_HOST
    if is_limited:
        request.getfixturevalue("limited")
    made, wanted = FEW_TO_MANY[name](a, b), FEW_TO_MANY[name](whole[:few], whole[few:])
    assert made.placement_policy is dtl.PLACEMENT_DISK
    np.testing.assert_allclose(made.local_view(), own(made, wanted), rtol=1e-12, atol=1e-12)


def test_many_elements_computed_of_few_on_the_host_stay_there(scratch):
    with dtl.DistributedVector(scratch, SIZE, placement="disk"):
        few = dtl.ones(scratch, 1200)
        assert np.outer(few, few).placement_policy is dtl.PLACEMENT_HOST
        assert few[:1100].reshape(-1, 1).placement_policy is dtl.PLACEMENT_HOST


@pytest.mark.parametrize("shape", [(9000,), (301, 40), (40, 30, 20)])
@pytest.mark.parametrize("indices", ["few", "many", "in any order"])
@pytest.mark.parametrize("axis", [0, -1])
def test_segments_in_blocks(scratch, limited, shape, indices, axis):
    whole = np.random.default_rng(9).integers(-99, 99, shape)
    n = shape[axis]
    at = {"few": [0, 3, 3, n - 1], "many": np.arange(0, n, 2), "in any order": [n - 1, 2, n // 2, 0, 7]}[indices]
    kind = dtl.DistributedVector if len(shape) == 1 else dtl.DistributedTensor
    x = kind(scratch, *shape if len(shape) == 1 else (shape,), whole.dtype, placement="disk")
    x.local_view()[...] = own(x, whole)
    for ufunc in (np.add, np.maximum, np.logical_or):
        made, wanted = ufunc.reduceat(x, at, axis=axis), ufunc.reduceat(whole, at, axis=axis)
        assert made.dtype == wanted.dtype
        np.testing.assert_array_equal(made.local_view(), own(made, wanted))
