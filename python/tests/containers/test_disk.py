"""Containers of PLACEMENT_DISK: files without a name, mapped into memory."""

import contextlib
import errno
import math
import os
import resource
import tempfile

import numpy as np
import pytest

import dtl
from dtl.io import file_copies
from dtl.linalg import tiles
from dtl.runtime.scratch import resident

#: A container that is worth files on up to four ranks.
SIZE = 1 << 20


def test_elements_are_in_a_file_without_a_name(disk):
    x = dtl.DistributedVector(disk, SIZE, placement="disk", fill=3)
    assert x.placement_policy is dtl.PLACEMENT_DISK
    assert x.local_view().flags.writeable
    assert os.listdir(disk.scratch) == []
    with open("/proc/self/maps") as maps:
        assert any(disk.scratch in line and "(deleted)" in line for line in maps)
    x.close()
    with open("/proc/self/maps") as maps:
        assert not any(disk.scratch in line for line in maps)


@pytest.mark.parametrize("partition", ["block", "cyclic", "hash", "replicated"])
def test_computes_as_on_the_host(disk, partition):
    size = {"hash": 40_000, "block": SIZE}.get(partition, SIZE // 8)
    x, y = (dtl.DistributedVector(disk, size, partition=partition, placement=p) for p in ("disk", "host"))
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


def test_results_of_many_elements_are_on_disk(disk):
    x = dtl.DistributedVector(disk, SIZE, placement="disk", fill=1)
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
def test_results_of_memory_and_disk_are_on_disk(disk, name):
    whole = np.arange(4 * SIZE, dtype="f4") % 11
    in_memory = dtl.DistributedVector.from_numpy(disk, whole)
    on_disk = dtl.DistributedVector(disk, len(whole), "f4", placement="disk")
    on_disk[:] = in_memory
    for a, b in ((in_memory, on_disk), (on_disk, in_memory)):
        made, wanted = BOTH[name](a, b), BOTH[name](whole, whole)
        own = np.ix_(*[made.local_indices(d) for d in range(made.ndim)])
        np.testing.assert_array_equal(made.local_view(), wanted[own])
        assert (name in ("append", "vstack") and b is in_memory) or made.placement_policy is dtl.PLACEMENT_DISK


def test_copies_go_both_ways(disk):
    x = dtl.DistributedVector(disk, SIZE, placement="disk")
    y = dtl.DistributedVector(disk, SIZE)
    y.local_view()[:] = y.local_indices()
    dtl.copy(y, x)
    assert (x == y).all()
    x += y
    dtl.copy(x, y)
    assert y[SIZE - 1] == 2 * (SIZE - 1)


def test_tensors_and_arrays(disk):
    t = dtl.DistributedTensor(disk, (2000, 700), placement="disk", fill=2.0)
    assert t.sum(axis=0)[3] == 4000
    assert (t.T @ dtl.DistributedTensor(disk, (2000, 1), fill=1.0))[5, 0] == 4000
    assert dtl.zeros(disk, SIZE, placement=dtl.PLACEMENT_DISK).placement_policy is dtl.PLACEMENT_DISK


@pytest.mark.parametrize("shape", [(SIZE + 3,), (3000, 100), (4, 1, (9 << 20) // 8)])
def test_expressions_are_computed_for_a_file_alone(disk, shape):
    x = dtl.zeros(disk, shape, placement="disk")
    x.local_view()[:] = np.arange(x.local_size).reshape(x.local_shape) % 1000 + disk.rank
    own, path = x.local_view().copy(), os.path.join(disk.scratch, "made.npy")
    spread = np.arange(1.0, 1 + math.prod(shape[1:])).reshape(shape[1:]) if x.ndim > 1 else 3.0
    for y, want in ((2 / (x + 1), 2 / (own + 1)), (x * spread, own * spread)):
        dtl.save(y, path)
        np.testing.assert_array_equal(np.load(path)[x.local_offset :][: len(want)], want)
        np.testing.assert_array_equal(y.local_view(), want)
        disk.barrier()  # before a rank writes another file
    x += 1
    dtl.checkpoint(path[:-4], {"x": x, "y": x * 2})  # of which the first is written where it is read
    np.testing.assert_array_equal(x.local_view(), own + 1)
    again = dtl.restore(disk, path[:-4])
    np.testing.assert_array_equal(again["x"].local_view(), own + 1)
    np.testing.assert_array_equal(again["y"].local_view(), own * 2 + 2)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        dtl.save(np.log(x * 0), path)
    assert np.load(path).flat[-1] == -np.inf
    disk.barrier()


def test_a_derived_context_has_the_folder(disk):
    with disk.dup() as other:
        assert other.scratch == disk.scratch
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


def test_maps_are_in_memory(disk):
    with pytest.raises(dtl.InvalidArgumentError, match="maps are in memory"):
        dtl.DistributedMap(disk, np.int64, np.float64, placement="disk")


def test_a_file_too_large_is_a_memory_error_on_every_rank(disk):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.raises(dtl.MemoryError, match="cannot be allocated in the scratch folder"):
        dtl.DistributedVector(disk, 1 << 50, placement="disk")
    x = dtl.DistributedVector(disk, SIZE, placement="disk", fill=1)
    if disk.rank == disk.size - 1:  # on one rank alone
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(dtl.MemoryError, match="RLIMIT_FSIZE"):
            dtl.DistributedVector(disk, SIZE, placement="disk")
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
def test_a_disk_that_is_full_for_one_rank_is_told_to_all(disk, call):
    x = dtl.DistributedVector(disk, SIZE, placement="disk", fill=2)
    words = "cannot be allocated in the scratch folder"

    def called():
        call(x)
        disk.barrier()

    with full_for_one(disk), pytest.raises(dtl.MemoryError, match=words):
        called()
    assert x.sum() == 2 * SIZE


def test_an_operand_may_go_while_the_disk_is_full(disk):
    x = dtl.DistributedVector(disk, SIZE, placement="disk", fill=2)
    with full_for_one(disk):
        y = x + 1
        del x
        disk.barrier()

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
def test_products_of_what_fits_in_a_tile_go_by_none(disk, monkeypatch, sides, tiled):
    rows, inner, columns = sides
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns))
    x, y = (dtl.DistributedTensor(disk, c.shape, placement="disk") for c in (a, b))
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


def test_limits_that_differ_between_ranks_are_told(disk, stored):
    path, _ = stored
    mine = (8 << 30) + disk.rank * (1 << 20)
    before = dtl.DistributedVector(disk, SIZE, placement="disk", fill=1)
    try:
        dtl.set_memory_limit(mine)
        makers = [
            lambda: dtl.DistributedVector(disk, SIZE, placement="disk"),
            lambda: dtl.load(disk, path, mapped=True),
        ]
        for make in makers:
            if disk.size == 1:
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
def test_results_of_what_was_put_together_keep_to_the_limit(disk, make):
    limit = int(dtl.allgather(disk, resident()).max()) + (128 << 20)
    size = disk.size * (limit // 256 + 4096)  # twice as many floats are more than a 16th of the limit on each rank
    dtl.set_memory_limit(limit)
    try:
        with dtl.DistributedVector(disk, size, placement="disk", fill=1) as x, make(x) as made, made > 0 as truths:
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
def test_a_checkpoint_is_copied_by_the_system(disk, tmp_path_factory, monkeypatch, number, after):
    def call(*args):
        return dtl.checkpoint(*args) if number in (None, errno.EINVAL) else dtl.async_checkpoint(*args).get()

    folder = dtl.broadcast_object(disk, str(tmp_path_factory.mktemp("kept")) if disk.is_root else None)
    x = dtl.DistributedVector(disk, SIZE, placement="disk")
    x.local_view()[:] = x.local_indices()
    t = dtl.DistributedTensor(disk, (3_011, 9), np.int32, placement="disk", fill=7)
    if number is not None:
        monkeypatch.setattr(file_copies, "_copy_file_range", refusing(number, after))
    before = passed_by_system()
    name = call(folder, {"x": x, "t": t})
    moved = passed_by_system() - before
    if number is None:
        assert moved >= x.local_view().nbytes + t.local_view().nbytes
    elif after == 0:
        assert moved < SIZE // 2
    if disk.is_root:
        np.testing.assert_array_equal(np.load(os.path.join(name, "0.npy")), np.arange(SIZE, dtype=np.float64))
    again = dtl.restore(disk, folder)
    assert again["x"].placement_policy is dtl.PLACEMENT_DISK
    assert (again["x"] == x).all()
    assert (again["t"] == 7).all()
    assert os.listdir(disk.scratch) == []


def test_a_checkpoint_of_a_mapped_file_has_what_was_written_to_it(ctx, stored, tmp_path_factory):
    path, elements = stored
    folder = dtl.broadcast_object(ctx, str(tmp_path_factory.mktemp("kept")) if ctx.is_root else None)
    x = dtl.load(ctx, path, mapped=True)
    x += 1
    dtl.checkpoint(folder, {"x": x})
    again = dtl.restore(ctx, folder, placement="host")["x"]
    assert again.sum() == elements.sum() + elements.size
