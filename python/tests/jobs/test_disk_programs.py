"""Programs with containers on disk: what they keep in memory, and what they leave behind."""

import os
import signal
import tempfile

import pytest
from programs import alone, ranks, succeeded

pytestmark = [
    pytest.mark.jobs("starts processes with limits of their own"),
    pytest.mark.usefixtures("without_mpi"),
]

#: Of one rank and two, ``make test`` has two.
COUNTS = pytest.mark.parametrize("count", [pytest.param(1, marks=pytest.mark.matrix("runs on two ranks")), 2])


@pytest.mark.parametrize(("text", "value"), [("8GiB", 8 << 30), ("4096M", 4 << 30), ("5368709120", 5 << 30)])
def test_the_limit_of_the_environment(text, value):
    program = "import dtl; dtl.Context().close(); print(dtl.get_memory_limit())"
    assert succeeded(alone(program, DTL_MEMORY_LIMIT=text)).split() == [str(value)]


def test_a_folder_in_memory_is_told(tmp_path):
    program = """
import dtl, warnings
with warnings.catch_warnings(record=True) as told, dtl.Context() as ctx:
    warnings.simplefilter("always")
    for _ in range(2):
        dtl.DistributedVector(ctx, 10, placement="disk")
print([str(w.message) for w in told])
"""
    for folder, count in (("/dev/shm", 1), (str(tmp_path), 0)):
        assert succeeded(alone(program, DTL_SCRATCH=folder)).count("is on a tmpfs, which is memory") == count


def test_a_full_disk_is_told_where_the_others_have_gone(tmp_path):
    program = """
import resource, dtl
ctx = dtl.Context()
x = dtl.DistributedVector(ctx, 4_000_000, placement="disk")
if ctx.rank == 1:
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, resource.RLIM_INFINITY))
    try:
        x.copy()
    except dtl.MemoryError:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("no room", flush=True)
ctx.close()
"""
    assert "no room" in succeeded(ranks(2, program, tmp_path, DTL_SCRATCH=str(tmp_path)))


#: Says, as a user who is not root, what calls raise that need a file in a folder that is not writable for some ranks.
SHUT = """
import os, sys, dtl

folder, some = os.environ["FOLDER"], int(os.environ["RANKS"])
path = os.path.join(folder, "a.csv")

def tried(name, call):
    try:
        call()
    except dtl.FileError as error:
        print(name, error, flush=True)
    else:
        print(name, "no error", flush=True)

with dtl.Context() as ctx:
    dtl.read_csv(ctx, path).group_by("a").size()  # imports what a user may read who is not root
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    scratch = os.path.join(folder, "shut" if ctx.rank < some else "open")
    tried("named", lambda: dtl.Context(scratch=scratch).close())
    os.environ["DTL_SCRATCH"] = scratch
    with dtl.Context() as other:
        x = dtl.arange(other, 1000)
        tried("made", lambda: dtl.DistributedVector(other, 1000, placement="disk"))
        tried("read", lambda: dtl.read_csv(other, path, placement="disk"))
        print("goes on" if x.sum() == 499500 else "wrong", flush=True)
"""


#: What SHUT tries.
CALLS = ("named", "made", "read")


@pytest.mark.parametrize(("count", "some"), [(1, 1), (2, 2), (3, 1)], ids=["one rank", "all ranks", "one of three"])
def test_a_scratch_folder_that_is_not_writable(tmp_path, count, some):
    with tempfile.TemporaryDirectory() as folder:
        for name, mode in ((".", 0o755), ("shut", 0o555), ("open", 0o777)):
            os.makedirs(f"{folder}/{name}", exist_ok=True)
            os.chmod(f"{folder}/{name}", mode)
        with open(f"{folder}/a.csv", "w") as file:
            file.write("a\n1\n2\n")
        variables = {"FOLDER": folder, "RANKS": str(some)}
        lines = succeeded(alone(SHUT, **variables) if count == 1 else ranks(count, SHUT, tmp_path, **variables))
        why = f"no file can be made in the scratch folder {folder}/shut: permission denied"
        assert {name: sum(line.startswith(name) and why in line for line in lines.split("\n")) for name in CALLS} == {
            name: count for name in CALLS
        }
        assert lines.count("goes on") == count
        assert [os.listdir(f"{folder}/{name}") for name in ("shut", "open")] == [[], []]


#: Says how much of the process was resident at most in a call, as the kernel counts it, beside the limit.
HELD = """
import re, numpy as np, dtl

def resident(name):
    with open("/proc/self/status") as status:
        return int(re.search(name + r":\\s+(\\d+) kB", status.read())[1]) << 10

with dtl.Context() as ctx:
    limit = int(dtl.allgather(ctx, resident("VmRSS")).max()) + (36 << 20)  # the same on all ranks
    dtl.set_memory_limit(limit)
    rows = (4 * 36 << 20) // 8 * ctx.size  # four times what there is beside the interpreter
    a, b = (dtl.DistributedVector(ctx, rows, placement="disk", fill=value) for value in (1.5, 2.5))
    c = dtl.DistributedVector(ctx, rows, placement="disk")
    mine = c.local_view()
    for at in range(0, len(mine), 1 << 17):  # as a program does that knows of the limit
        part = mine[at : at + (1 << 17)]
        part[:] = np.arange(at, at + len(part)) * 7919 % 97
    c.sum()  # gives back what the program itself has touched last
    CALLS = {
        "mean": lambda: a.mean() == 1.5,
        "std": lambda: a.std() == 0,
        "sum": lambda: (a + b).sum() == 4 * rows,
        "add": lambda: np.add(a, b, out=b)[rows - 1] == 4,
        "chain": lambda: np.sqrt(a * a + b)[7] == 2.5,
        "unique": lambda: dtl.unique(c).shape == (97,),
        "sort": lambda: dtl.sort(c) is None and (c[5], c[rows - 6]) == (0, 96),
    }
    for name, call in CALLS.items():
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")
        right = call()
        held = resident("VmHWM")
        fits = held <= limit + (name in ("unique", "sort") and 32 << 20)
        print(name, "holds" if right and fits else f"{right}: {held} of {limit} bytes")
"""


@COUNTS
def test_resident_memory_is_below_the_limit(tmp_path, count):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    ended = (
        alone(HELD, DTL_SCRATCH=str(scratch)) if count == 1 else ranks(count, HELD, tmp_path, DTL_SCRATCH=str(scratch))
    )
    lines = sorted(succeeded(ended).split("\n"))
    assert [line for line in lines if "holds" not in line and " of " in line] == []
    assert sum("holds" in line for line in lines) == 7 * count
    assert list(scratch.iterdir()) == []


#: Says how much calls that need an order hold above the limit, and how often they read and write the data.
ORDERED = """
import os, re, numpy as np, dtl

def counted(path, name):
    with open(path) as file:
        return int(re.search(name + r":\\s+(\\d+)", file.read())[1])

with dtl.Context() as ctx:
    limit = (int(dtl.allgather(ctx, counted("/proc/self/status", "VmRSS")).max()) << 10) + (36 << 20)
    dtl.set_memory_limit(limit)
    rows = (4 * 36 << 20) // 8 * ctx.size
    keys = dtl.DistributedVector(ctx, rows, dtype=np.int64, placement="disk")
    values = dtl.DistributedVector(ctx, rows, placement="disk", fill=1.0)
    few = dtl.DistributedVector(ctx, rows // 8, dtype=np.int64, placement="disk")
    for c, step in ((keys, 7919), (few, 1)):
        mine, offset = c.local_view(), c.local_offset
        for at in range(0, len(mine), 1 << 17):
            part = mine[at : at + (1 << 17)]
            part[:] = (np.arange(at, at + len(part)) + offset) * step % (rows // 8)
    data, heavy = 8 * rows // ctx.size, {"weights": values, "method": "inverted_cdf"}
    CALLS = {  # with what calls of the system read and write, in times of the data: files, and copies to containers
        "argsort": (lambda: dtl.argsort(keys)[5] == 5 * (rows // 8), 2, 2.5),
        "unique": (lambda: dtl.unique(keys, return_counts=True, return_inverse=True).counts[9] == 8, 4.25, 4.25),
        "isin": (lambda: dtl.isin(keys, few).sum() == rows, 3.25, 3.25),
        "join": (lambda: dtl.join(few, keys)[0].shape == (rows,), 4.5, 5.25),
        "groups": (lambda: (dtl.group_by(keys).agg(values, "sum")[1] == 8).all(), 4.5, 4.75),
        "sort_by_key": (lambda: dtl.sort_by_key(keys, values) is None and keys[8] == 1, 2, 3),
        "lexsort": (lambda: keys[int(dtl.lexsort((keys, values))[9])] == 1, 8, 5.5),
        "value_counts": (lambda: dtl.value_counts(keys).counts[9] == 8, 2.25, 2.25),
        "intersect1d": (lambda: len(dtl.intersect1d(keys, few, return_indices=True)[0]) == rows // 8, 17.25, 14.75),
        "setxor1d": (lambda: len(dtl.setxor1d(keys, few)) == 0, 2.5, 2.75),
        "weights": (lambda: abs(np.quantile(keys, 0.3, **heavy) - 0.3 * rows / 8) <= 1, 8, 8),
    }
    name = os.environ["CALL"]
    call, reads, writes = CALLS[name]
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    before = [counted("/proc/self/io", each) for each in ("rchar", "wchar")]
    right = call()
    read, written = (counted("/proc/self/io", each) - old for each, old in zip(("rchar", "wchar"), before))
    above = (counted("/proc/self/status", "VmHWM") << 10) - limit
    moved = read <= 1.1 * reads * data and written <= 1.1 * writes * data
    fits = right and above <= 32 << 20 and moved
    print(name, "holds" if fits else f"{right}: {above} above the limit, {read / data}, {written / data} times")
"""


@pytest.mark.matrix("sorts hundreds of megabytes")
@pytest.mark.parametrize(
    "call",
    [
        "argsort",
        "unique",
        "isin",
        "join",
        "groups",
        "sort_by_key",
        "lexsort",
        "value_counts",
        "setxor1d",
        "intersect1d",
        "weights",
    ],
)
@COUNTS
def test_what_is_ordered_holds_the_limit_and_passes(tmp_path, count, call):
    variables = {"DTL_SCRATCH": str(tmp_path), "CALL": call}
    ended = alone(ORDERED, **variables) if count == 1 else ranks(count, ORDERED, tmp_path, **variables)
    assert [line for line in succeeded(ended).split("\n") if line.startswith(call)] == [f"{call} holds"] * count


def test_a_rank_that_is_killed_leaves_nothing(tmp_path):
    program = """
import os, signal, dtl
ctx = dtl.Context()
x = dtl.DistributedVector(ctx, 1 << 20, placement="disk", fill=1.0)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert alone(program, DTL_SCRATCH=str(tmp_path)).code == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_a_bus_error_of_others_is_theirs(tmp_path):
    program = f"""
import mmap, os, numpy as np, dtl
path = os.path.join({str(tmp_path)!r}, "x.npy")
np.save(path, np.ones(1 << 16))
with dtl.Context() as ctx:
    x = dtl.load(ctx, path, mapped=True)
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as others:
        os.truncate(path, 100)
        others[1 << 17]
"""
    assert alone(program).code == -signal.SIGBUS


#: Says of each call how much was resident at most, and how much the process wrote, both as the kernel counts them.
MOVED = """
import os, re, numpy as np, dtl

MiB, SIZE = 1 << 20, 24 << 20  # of what there is beside the interpreter

def resident(name):
    with open("/proc/self/status") as status:
        return int(re.search(name + r":\\s+(\\d+) kB", status.read())[1]) << 10

def written():
    with open("/proc/self/io") as io:
        return int(re.search(r"\\nwrite_bytes: (\\d+)", io.read())[1])

with dtl.Context() as ctx:
    limit = int(dtl.allgather(ctx, resident("VmRSS")).max()) + SIZE + (16 << 20)  # the same on all ranks
    dtl.set_memory_limit(limit)
    rows = 4 * SIZE // 8 * ctx.size  # four times what there is
    a, b = (dtl.DistributedVector(ctx, rows, placement="disk", fill=value) for value in (1.5, 2.0))
    path = os.environ["MADE"]
    def in_file():
        with open(path, "rb") as file:
            np.lib.format.read_magic(file)
            shape = np.lib.format.read_array_header_1_0(file)[0]
            file.seek(-8000, 2)
            return shape == (rows,) and (np.frombuffer(file.read()) == 2.5).all()
    side = int((4 * SIZE // 8) ** 0.5) // 8 * 8
    t, u = (dtl.zeros(ctx, (ctx.size * side, side), placement="disk") for _ in range(2))
    t += np.arange(side)  # the index of the column
    square = t[:side]
    square.sum()  # copies the slice
    places = dtl.zeros(ctx, rows, dtype=np.int64, placement="disk")
    if "any order" in os.environ["CALLS"]:
        order = dtl.zeros(ctx, rows, dtype=np.int64, placement="disk")
        mine = order.local_view()
        for at in range(0, len(mine), 1 << 17):  # as a program does that knows of the limit
            part = mine[at : at + (1 << 17)]
            part[:] = (np.arange(at, at + len(part)) + order.local_offset) * 7919 % rows
        order.sum()
    if "rows," in os.environ["CALLS"]:
        lines = dtl.arange(ctx, ctx.size * side) * 7919 % side
    bits = dtl.full(ctx, rows, 65, dtype=np.uint8, placement="disk")
    zeros = dtl.zeros(ctx, (ctx.size * side, side), dtype=np.int32, placement="disk")
    draws = dtl.random.Generator(ctx, 5)
    def points():
        return dtl.arange(ctx, rows, like=a).reshape(-1, 3)
    def diagonals():
        made = dtl.zeros(ctx, (rows // 256, 16, 16), placement="disk")
        made += 2 * np.eye(16)
        return made
    CALLS = {  # how many times what there is is written at most, the call, and whether what it made is right
        "save": (4, lambda: dtl.save(np.sqrt(a * a + b * b), path), lambda _: in_file()),
        "save a slice": (4, lambda: dtl.save(a[5:] , path), lambda _: os.path.getsize(path) == 128 + 8 * (rows - 5)),
        "copy": (4, lambda: dtl.copy(a, b), lambda _: (b[rows - 1], b[7]) == (1.5, 1.5)),
        "copy()": (4, lambda: a.copy(), lambda c: (c[rows - 1], c[7]) == (1.5, 1.5)),
        "slice": (8, lambda: b.__setitem__(slice(9, None), a[:-9]), lambda _: (b[9], b[rows - 1]) == (1.5, 1.5)),
        "fill": (4, lambda: b.__setitem__(slice(None), 7), lambda _: (b[3], b[rows - 1]) == (7, 7)),
        "roll": (4, lambda: np.roll(a, 5), lambda c: (c[3], c[rows - 1]) == (1.5, 1.5)),
        "transpose": (4, lambda: t.T, lambda c: (c[9, 3], c[9, side - 1], c[side - 1, 5]) == (9, 9, side - 1)),
        "transposes": (8, lambda: t.T.T, lambda c: (c[3, 9], c[side - 1, 9], c[5, side - 1]) == (9, 9, side - 1)),
        "assign": (8, lambda: u.__setitem__(slice(side), square.T), lambda _: u[side - 1, 5] == side - 1),
        "redistribute": (4, lambda: a.redistribute("cyclic"), lambda _: a.partition_policy is dtl.PARTITION_CYCLIC),
        "back": (4, lambda: a.redistribute("block"), lambda _: (a[3], a[rows - 1]) == (1.5, 1.5)),
        "gradient": (8, lambda: np.gradient(a), lambda c: (c[0], c[rows - 1]) == (0, 0)),
        "gradients": (16, lambda: np.gradient(t), lambda c: (c[0][7, 5], c[1][7, 5]) == (0, 1)),
        "convolve": (8, lambda: np.convolve(a, np.ones(9), "same"), lambda c: c[rows // 2] == 13.5),
        "stack": (16, lambda: np.stack([a, b], 1), lambda c: (c[5, 0], c[rows - 1, 0]) == (1.5, 1.5)),
        "join": (16, lambda: np.concatenate([t, u], 1), lambda c: c[9, 7] == 7),
        "tile": (16, lambda: np.tile(a, 2), lambda c: (c[3], c[rows + 7]) == (1.5, 1.5)),
        "repeat": (16, lambda: np.repeat(a, 2), lambda c: (c[3], c[2 * rows - 1]) == (1.5, 1.5)),
        "take_along_axis": (8, lambda: np.take_along_axis(t, zeros, 0), lambda c: (c[side - 1, 7], c[9, 9]) == (7, 9)),
        "histogram2d": (1, lambda: np.histogram2d(a, b, 3), lambda c: c[0][1, 1] == rows),
        "unpackbits": (8, lambda: np.unpackbits(bits), lambda c: c.sum() == 2 * len(bits)),
        "fill_diagonal": (8, lambda: np.fill_diagonal(u, 3.0), lambda _: u[9, 9] == u[side - 1, side - 1] == 3),
        "arange": (4, lambda: dtl.arange(ctx, rows, like=a), lambda c: (c[3], c[rows - 1]) == (3, rows - 1)),
        "pad": (8, lambda: np.pad(a, 9, "edge"), lambda c: (c[3], c[rows + 17]) == (1.5, 1.5)),
        "pad rows": (24, lambda: np.pad(t, 9, "wrap"), lambda c: (c[7, 9], c[7, side + 9]) == (0, 0)),
        "iota": (4, lambda: dtl.iota(b), lambda _: (b[3], b[rows - 1]) == (3, rows - 1)),
        "count_if": (0, lambda: dtl.count_if(b, lambda x: x < 7), lambda c: c == 7),
        "find_if": (0, lambda: dtl.find_if(b, lambda x: x > rows - 3), lambda c: c == rows - 2),
        "inner_product": (0, lambda: dtl.inner_product(a, b), lambda c: abs(c - 0.75 * rows * (rows - 1)) < 1e-9 * c),
        "differences": (4, lambda: dtl.adjacent_difference(b), lambda c: (c[0], c[7], c[rows - 1]) == (0, 1, 1)),
        "topk": (0, lambda: dtl.topk(b, 9999), lambda c: (c[0] == c[1]).all() and c[0][-1] == rows - 9999),
        "merge": (32, lambda: dtl.merge(b, a), lambda c: (c[1], c[2], c[rows + 1], c[rows + 2]) == (1, 1.5, 1.5, 2)),
        "partition_by": (
            16,
            lambda: dtl.partition_by(b, lambda x: x % 2 > 0),
            lambda c: (c, b[3], b[c + 3]) == (rows // 2, 7, 6),
        ),
        "reverse": (8, lambda: dtl.reverse(b), lambda _: (b[3], b[rows - 1]) == (rows - 8, 1)),
        "shift": (8, lambda: b.__setitem__(slice(1, None), b[:-1]), lambda _: (b[4], b[rows - 1]) == (rows - 8, 3)),
        "replace_if": (5, lambda: dtl.replace_if(b, lambda x: x > 9, 9), lambda _: (b.max(), b[8]) == (9, 8)),
        "transform": (8, lambda: dtl.transform((a, b), b, lambda x, y: x + y), lambda _: (b[3], b[99]) == (4.5, 10.5)),
        "generate": (8, lambda: dtl.generate(b, lambda i: i * 2.0), lambda _: (b[3], b[rows - 1]) == (6, 2 * rows - 2)),
        "shuffle": (20, lambda: dtl.shuffle(b, 3), lambda _: b.sum() == rows * (rows - 1) / 2 and b[0] > 0),
        "product": (2, lambda: t @ np.ones((side, 16)), lambda c: c[9, 7] == side * (side - 1) // 2),
        "einsum": (1, lambda: np.einsum("ij,ij->j", t, t), lambda c: c[7] == 49 * ctx.size * side),
        "turned": (4, lambda: np.einsum("ij->ji", t), lambda c: (c[9, 3], c[side - 1, 5]) == (9, side - 1)),
        "inv": (12, lambda: np.linalg.inv(diagonals()), lambda c: (c[9, 7, 7], c[9, 7, 8]) == (0.5, 0)),
        "values": (5, lambda: dtl.linalg.svdvals(a.reshape(-1, 96)), lambda c: abs(c[0] / rows**0.5 - 1.5) < 1e-9),
        "lines": (8, lambda: np.apply_along_axis(np.flip, 1, t), lambda c: (c[9, 0], c[7, side - 1]) == (side - 1, 0)),
        "piecewise": (8, lambda: np.piecewise(a, [a > 1], [lambda x: 2 * x]), lambda c: (c[3], c[rows - 1]) == (3, 3)),
        "cross": (17, lambda: np.cross(points(), a.reshape(-1, 3)), lambda c: (c[5, 0], c[5, 1]) == (-1.5, 3)),
        "trace": (1, lambda: np.trace(t), lambda c: c == side * (side - 1) // 2),
        "tril": (12, lambda: np.tril(t), lambda c: (c[9, 7], c[9, 11]) == (7, 0)),
        "put": (24, lambda: np.put(b, order, a), lambda _: (b[3], b[rows - 1]) == (1.5, 1.5)),
        "take in any order": (24, lambda: np.take(a, order), lambda c: (c[3], c[rows - 1]) == (1.5, 1.5)),
        "putmask": (8, lambda: np.putmask(b, a == 1.5, a), lambda _: (b[3], b[rows - 1]) == (1.5, 1.5)),
        "place": (8, lambda: np.place(b, a == 1.5, [3.0]), lambda _: (b[3], b[rows - 1]) == (3, 3)),
        "rows": (8, lambda: t[lines] if ctx.size == 1 else t.copy(), lambda c: (c[3, 7], c[side - 1, 9]) == (7, 9)),
        "put_along_axis": (24, lambda: np.put_along_axis(u, zeros, t, 1), lambda _: u[9, 0] == side - 1),
        "delete": (8, lambda: np.delete(a, slice(0, None, 3)), lambda c: c.shape == (rows - -(-rows // 3),)),
        "rows assigned": (8, lambda: u.__setitem__(..., np.arange(side)), lambda _: (u[9, 7], u[9, 5]) == (7, 5)),
        "mean assigned": (8, lambda: u.__setitem__(..., t.mean(0)), lambda _: (u[9, 7], u[side - 1, 5]) == (7, 5)),
        "columns assigned": (8, lambda: u.__setitem__((..., slice(5, 9)), 3), lambda _: (u[9, 8], u[9, 9]) == (3, 9)),
        "standardised": (
            16,
            lambda: (t - t.mean(1, keepdims=True)) / t.std(1, keepdims=True),
            lambda c: abs(c[9, 0] + c[9, side - 1]) < 1e-9 < c[9, side - 1],
        ),
        "flip": (4, lambda: np.flip(t, 1), lambda c: (c[9, 0], c[side - 1, side - 1]) == (side - 1, 0)),
        "places of images": (
            4,
            lambda: a.reshape(-1, 16, 96)[:, :, 5],
            lambda c: c.shape == (rows // 1536, 16) and c[7, 3] == 1.5,
        ),
        "drawn": (4, lambda: draws.normal(3, 1, rows, placement="disk"), lambda c: abs(c.mean() - 3) < 0.01),
        "chosen": (24, lambda: draws.choice(a, rows), lambda c: (c[3], c[rows - 1]) == (1.5, 1.5)),
        "short orders": (
            8,
            lambda: np.argsort(a.reshape(-1, 24), axis=1),
            lambda c: (c[9, 7], c[rows // 24 - 1, 23]) == (7, 23),
        ),
        "tall": (
            24,
            lambda: np.linalg.qr(t[:, :256]).R,
            lambda r: abs((r * r).sum() / (ctx.size * side * (np.arange(256) ** 2).sum()) - 1) < 1e-9,
        ),
        "take": (8, lambda: a[places] if ctx.size == 1 else a.copy(), lambda c: (c[3], c[rows - 1]) == (1.5, 1.5)),
    }
    for name in os.environ["CALLS"].split(","):
        passes, call, is_right = CALLS[name]
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")
        before = written()
        made = call()
        held, wrote = resident("VmHWM"), written() - before
        right = is_right(made)
        fits = held <= limit and wrote <= 1.1 * passes * SIZE + MiB
        told = f"{right}: {(held - limit) / MiB:.1f} MiB of {limit} bytes, wrote {wrote / SIZE:.2f}"
        print(name, "holds" if right and fits else told)
"""


def held(tmp_path, count, **names):
    """Run calls of MOVED, and return how many hold the limit, and what is said of the others."""
    variables = {"DTL_SCRATCH": str(tmp_path), "MADE": str(tmp_path / "made.npy"), **names}
    ended = alone(MOVED, **variables) if count == 1 else ranks(count, MOVED, tmp_path, **variables)
    lines = succeeded(ended).splitlines()
    return sum("holds" in line for line in lines), [line for line in lines if "holds" not in line and " of " in line]


@COUNTS
def test_moves_write_what_they_say_and_hold_the_limit(tmp_path, count):
    names = ["save", "assign", "redistribute"]
    assert held(tmp_path, count, CALLS=",".join(names)) == (len(names) * count, [])


#: All calls of MOVED. What the allocator keeps of many calls in one process would count, too.
MOVES = {
    "moves": "save,save a slice,copy,copy(),slice,fill,roll,transpose,transposes,assign,redistribute,back,take",
    "neighbours": "gradient,gradients,convolve,stack,join,tile,pad,pad rows",
    "functions": "iota,count_if,find_if,inner_product,differences,topk,partition_by,reverse,shift",
    "values": "iota,replace_if,transform,generate",
    "merge": "iota,merge",
    "shuffle": "iota,shuffle",
    "products": "product,einsum,turned,inv,values,cross",
    "lines": "lines,piecewise,trace,tril",
    "any order": "put,take in any order,putmask,place",
    "rows": "rows,put_along_axis,delete",
    "spread": "rows assigned,mean assigned,columns assigned,standardised,flip",
    "images": "places of images",
    "draws": "drawn,chosen",
    "short": "short orders",
    "tall": "tall",
    "indices": "repeat,take_along_axis,histogram2d,unpackbits,fill_diagonal,arange",
}


@pytest.mark.matrix("writes gigabytes")
@pytest.mark.parametrize("names", MOVES.values(), ids=MOVES)
@COUNTS
def test_all_moves_write_what_they_say_and_hold_the_limit(tmp_path, count, names):
    assert held(tmp_path, count, CALLS=names) == (len(names.split(",")) * count, [])


#: Says of calls on a mapped file, larger than the limit has room for and written in part, which are wrong.
WRITTEN = """
import os, re, numpy as np, dtl

def resident(name):
    with open("/proc/self/status") as status:
        return int(re.search(name + r":\\s+(\\d+) kB", status.read())[1]) << 10

side, path = 3072, os.environ["MADE"]
want = np.random.default_rng(5).integers(0, 1 << 50, side * side)
with open(path, "wb") as file:
    want.tofile(file)
    os.fsync(file.fileno())  # what the disk does not have is not given back at once
places = np.arange(7, side * side, 1 << 20)
want[places] = -places
turned, sums, quantiles = want.reshape(side, side)[::64, ::64].T.copy(), want.sum(), np.quantile(want, [0, 0.3, 1])
want.sort()
ordered = want[::1001].copy()
del want
with dtl.Context() as ctx:
    limit = resident("VmRSS") + (40 << 20)
    dtl.set_memory_limit(limit)
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    x, m = (dtl.load(ctx, path, format="raw", dtype="int64", shape=n, mapped=True) for n in (side * side, (side, side)))
    for each in (x, m):
        each.local_view().reshape(-1)[places] = -places
    t, y = m.T, x.copy()
    dtl.sort(y)
    found = {
        "sum": x.sum() == sums,
        "quantiles": (dtl.quantile(x, [0, 0.3, 1]) == quantiles).all(),
        "resident": resident("VmHWM") <= limit,
        "transpose": (t.local_view()[::64, ::64] == turned).all(),
        "sort": (y.local_view()[::1001] == ordered).all(),
    }
    print([name for name, right in found.items() if not right])
"""


def test_a_mapped_file_of_which_some_was_written(tmp_path):
    assert succeeded(alone(WRITTEN, DTL_SCRATCH=str(tmp_path), MADE=str(tmp_path / "made"))) == "[]\n"


def test_a_mapped_file_shrinks_whatever_faulthandler_did(tmp_path):
    program = f"""
import faulthandler, mmap, os, numpy as np, dtl
path = os.path.join({str(tmp_path)!r}, "x.npy")

def on(x):
    faulthandler.enable()

def off(x):
    faulthandler.disable()

with dtl.Context() as ctx:
    for calls in ((off,), (on,), (off, on, dtl.sum, off), (on, dtl.sum)):
        np.save(path, np.ones(1 << 16))
        x = dtl.load(ctx, path, mapped=True)
        for call in calls:
            call(x)
        view = x.local_view()
        os.truncate(path, 4096)
        print(view.sum() < 1 << 16, flush=True)
        try:
            x.sum()
        except dtl.FileError as error:
            print("shorter" in str(error), flush=True)
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as others:
        os.truncate(path, 0)
        print(others[100], flush=True)
"""
    ended = alone(program)
    assert (ended.code, ended.out.split()) == (-signal.SIGBUS, ["True"] * 8)
    assert "Bus error" in ended.err


#: Transforms and products of containers on disk, each compared with NumPy's of the same elements.
COMPUTED = """
import os, re, numpy as np, dtl

def resident(name):
    with open("/proc/self/status") as status:
        return int(re.search(name + r":\\s+(\\d+) kB", status.read())[1]) << 10

rng = np.random.default_rng(5)

def on_disk(whole):
    made = dtl.zeros(ctx, whole.shape, dtype=whole.dtype, placement="disk")
    made.local_view()[...] = whole[made.local_offset :][: made.local_shape[0]]
    return made

def near(found, want, of):
    own = want[np.ix_(*[found.local_indices(d) for d in range(found.ndim)])]
    return found.shape == want.shape and np.abs(found.local_view() - own).max() <= 1e-12 * of

with dtl.Context() as ctx:
    size = 3 << 17
    line = rng.normal(size=size * ctx.size) + 1j * rng.normal(size=size * ctx.size)
    table = line.reshape(512 * ctx.size, -1)
    dtl.set_memory_limit(int(dtl.allgather(ctx, resident("VmRSS")).max()) + (44 << 20))
    x, t = on_disk(line), on_disk(table)
    for f in ("fft", "ifft"):
        for norm in (None, "ortho", "forward"):
            want = getattr(np.fft, f)(line, norm=norm)
            print("right" if near(getattr(dtl.fft, f)(x, norm=norm), want, np.abs(want).max()) else f"{f} {norm} wrong")
        for axis in (0, 1):
            want = getattr(np.fft, f)(table, 500, axis)
            print("right" if near(getattr(dtl.fft, f)(t, 500, axis), want, np.abs(want).max()) else f"{f} {axis} wrong")
    half, numbers = line[: len(line) // 2 + 1], line.real.copy()
    for f, of in (("rfft", numbers), ("ihfft", numbers), ("irfft", half), ("hfft", half)):
        for norm in (None, "ortho", "forward"):
            want = getattr(np.fft, f)(of, norm=norm)
            made = getattr(dtl.fft, f)(on_disk(of), norm=norm)
            print("right" if near(made, want, np.abs(want).max()) else f"{f} {norm} wrong")
    want = np.fft.fft(line, len(line) * 2)
    print("right" if near(dtl.fft.fft(x, len(line) * 2), want, np.abs(want).max()) else "longer fft wrong")
    wide = line.reshape(64, -1)
    u, s, vh = dtl.linalg.svd(on_disk(wide), full_matrices=False)
    again = (u.local_view() * s.local_view()) @ vh.local_view()
    print("right" if vh.shape == wide.shape and np.allclose(again, wide[:, vh.local_indices(1)]) else "wide svd wrong")
    print("right" if np.allclose(s.local_view(), np.linalg.svd(wide, compute_uv=False)) else "values of wide svd wrong")
    want = np.fft.fft2(table)
    print("right" if near(dtl.fft.fft2(t), want, np.abs(want).max()) else "fft2 wrong")
    real = table.real.copy()
    want = real @ real.T
    print("right" if near(on_disk(real) @ on_disk(real.T.copy()), want, np.abs(want).max()) else "product wrong")
    want = real.T @ real
    print("right" if near(on_disk(real).T @ on_disk(real), want, np.abs(want).max()) else "inner product wrong")
    tall = real.reshape(-1, 64)
    q, r = np.linalg.qr(tall)
    signs, found = np.sign(np.diagonal(r)), dtl.linalg.qr(on_disk(tall))
    print("right" if near(found.Q, q * signs, 1) and np.allclose(found.R.local_view(), (r.T * signs).T) else "qr wrong")
    s = dtl.linalg.svd(on_disk(tall), full_matrices=False).S.local_view()
    print("right" if np.allclose(s, np.linalg.svd(tall, compute_uv=False)) else "svd wrong")
    numbers = line.real.copy()
    steps, few = np.cumsum(1 + np.abs(numbers)), np.arange(1, 8.0)
    FUNCTIONS = {  # of elements and those beside them, and what puts copies side by side
        "gradient": (lambda x, t, s: np.gradient(x), numbers.max()),
        "gradient of second order": (lambda x, t, s: np.gradient(x, s, edge_order=2), numbers.max()),
        "gradient of rows": (lambda x, t, s: np.gradient(t, axis=0), numbers.max()),
        "gradient in rows": (lambda x, t, s: np.gradient(t, 0.5, axis=1), numbers.max()),
        "convolve": (lambda x, t, s: np.convolve(x, few), 100),
        "convolve same": (lambda x, t, s: np.convolve(few, x, "same"), 100),
        "correlate": (lambda x, t, s: np.correlate(x, few), 100),
        "pad": (lambda x, t, s: np.pad(x, (5, 70_000), "wrap"), 1),
        "pad rows": (lambda x, t, s: np.pad(t, ((1, 2), (3, 900)), "symmetric"), 1),
        "tile": (lambda x, t, s: np.tile(x, 3), 1),
        "tile rows": (lambda x, t, s: np.tile(t, (2, 2)), 1),
        "stack": (lambda x, t, s: np.stack([t, t + 1], 1), 1),
        "concatenate": (lambda x, t, s: np.concatenate([t, t + 1], 1), 1),
        "repeat": (lambda x, t, s: np.repeat(x, 3), 1),
        "repeat rows": (lambda x, t, s: np.repeat(t, 2, axis=0), 1),
        "repeat in rows": (lambda x, t, s: np.repeat(t, 2, axis=1), 1),
        "take along rows": (lambda x, t, s: np.take_along_axis(t, np.argsort(t, axis=1), 1), 1),
        "take along columns": (lambda x, t, s: np.take_along_axis(t, np.argsort(t, axis=0), 0), 1),
        "packbits": (lambda x, t, s: np.packbits(np.unpackbits((255 * x % 256).astype("u1"))), 1),
        "bits of columns": (lambda x, t, s: np.unpackbits(np.packbits(t > 0, axis=0), axis=0), 1),
        "bits of rows": (lambda x, t, s: np.unpackbits(np.packbits(t > 0, axis=1), axis=1, count=700), 1),
        "vander": (lambda x, t, s: np.vander(x, 3), numbers.max() ** 2),
        "derivative": (lambda x, t, s: np.polyder(x), 1e6),
        "delete": (lambda x, t, s: np.delete(x, slice(7, None, 5)), 1),
        "windows": (lambda x, t, s: np.lib.stride_tricks.sliding_window_view(x, 3), 1),
    }
    arrays = numbers, numbers.reshape(table.shape), steps
    disks = [on_disk(each) for each in arrays]
    for name, (function, of) in FUNCTIONS.items():
        print("right" if near(function(*disks), function(*arrays), of) else f"{name} wrong")
    counts, edges = np.histogramdd(disks[::2], 7, weights=disks[0])
    want, ends = np.histogramdd(arrays[::2], 7, weights=numbers)
    print("right" if np.allclose(counts, want) and np.allclose(edges, ends) else "histogramdd wrong")
    for grid in ((1, ctx.size), (ctx.size, 1)):
        with on_disk(table) as each:
            each.redistribute("block", grid=grid)
            for vector in (each @ on_disk(line[: table.shape[1]]), on_disk(line[: len(table)]) @ each):
                whole = (table @ line[: table.shape[1]], line[: len(table)] @ table)[len(vector) != len(table)]
                print("right" if near(vector, whole, np.abs(whole).max()) else f"product with a vector wrong, {grid}")
"""


@COUNTS
def test_transforms_and_products_under_a_limit_are_right(tmp_path, count):
    variables = {"DTL_SCRATCH": str(tmp_path)}
    ended = alone(COMPUTED, **variables) if count == 1 else ranks(count, COMPUTED, tmp_path, **variables)
    assert sorted(succeeded(ended).split("\n")) == [""] + ["right"] * 60 * count


def test_bytes_of_disks_are_counted_and_the_third_time_is_told(tmp_path):
    program = f"""
import os, numpy as np, dtl
path = os.path.join({str(tmp_path)!r}, "x.npy")
with dtl.Context() as ctx, dtl.trace() as t:
    x = dtl.arange(ctx, 1 << 20, dtype="f8")
    dtl.save(x, path)
    print("wrote", sum(record.written for record in t) >= 1 << 23)
    with dtl.slow_paths() as slow:
        for _ in range(3):
            with open(path, "r+b") as file:  # the system forgets the file
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            with dtl.load(ctx, path, mapped=True) as y:
                y.sum()
            print("read", sum(record.read for record in t) >> 23, len(slow))
    print(slow)
    print(t, t.threads)
"""
    lines = succeeded(alone(program, DTL_NUM_THREADS="2")).split("\n")
    assert lines[:4] == ["wrote True", "read 1 0", "read 2 0", "read 3 1"]
    assert lines[4].endswith("fold: the same data read from a disk a third time")
    assert lines[6].strip().startswith("faster: combine passes")
    assert lines[7].split()[-2:] == ["read", "written"]
    assert lines[-2].endswith(" 2")


#: Says how much of a file of text is read from the disk to have it in a table on disk, and to compute with its columns.
PARSED = """
import os, dtl

path = os.environ["FILE"]
with dtl.Context() as ctx:
    if ctx.is_root:
        with open(path, "w") as file:
            for at in range(0, 500_000, 1000):
                file.writelines(f"{number},{number * 0.37:.3f},text {number}\\n" for number in range(at, at + 1000))
    size = dtl.broadcast_object(ctx, os.path.getsize(path) if ctx.is_root else 0)
    options = {"header": None, "names": ["a", "b", "c"], "placement": "disk"}
    dtl.read_csv(ctx, path, **options)  # with the libraries, some of which may be read from the disk, too
    if ctx.is_root:
        with open(path, "r+b") as file:  # the system forgets the file
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    ctx.barrier()
    with dtl.trace() as t:
        table = dtl.read_csv(ctx, path, **options)
    read = int(dtl.allreduce(ctx, sum(record.read for record in t)))
    with dtl.trace() as t:
        total = table["a"].sum()
    again = int(dtl.allreduce(ctx, sum(record.read for record in t)))
    right = total == 124999750000 and size <= read <= 1.1 * size and again <= 0.1 * size
    print("right" if right else f"{total}: {read / size}, {again / size} times the file")
"""


@COUNTS
def test_text_is_read_from_the_disk_once(tmp_path, count):
    variables = {"FILE": str(tmp_path / "a.csv"), "DTL_SCRATCH": str(tmp_path)}
    ended = alone(PARSED, **variables) if count == 1 else ranks(count, PARSED, tmp_path, **variables)
    assert succeeded(ended).split("\n").count("right") == count, ended.out


#: Says whether maps hold the limit while lists come that are four times what there is beside the interpreter, on disk.
INSERTED = """
import re, numpy as np, dtl

def resident(name):
    with open("/proc/self/status") as status:
        return int(re.search(name + r":\\s+(\\d+) kB", status.read())[1]) << 10

with dtl.Context() as ctx:
    limit = int(dtl.allgather(ctx, resident("VmRSS")).max()) + (36 << 20)
    dtl.set_memory_limit(limit)
    rows = (4 * 36 << 20) // 8
    keys = dtl.DistributedVector(ctx, rows * ctx.size, dtype=np.int64, placement="disk")
    values = dtl.DistributedVector(ctx, rows * ctx.size, placement="disk", fill=0.5)
    mine = keys.local_view()
    for at in range(0, rows, 1 << 17):
        part = mine[at : at + (1 << 17)]
        part[:] = np.arange(at, at + len(part)) * 7919 % 4096
    sums, counts = dtl.DistributedMap(ctx, np.int64, np.float64), dtl.DistributedMap(ctx, np.int64, np.int64)
    CALLS = {
        "insert": lambda: sums.insert_many(mine, values.local_view()),
        "count": lambda: counts.update_many(mine, 1),
    }
    for name, call in CALLS.items():
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")
        call()
        held = resident("VmHWM")
        print(name, "holds" if held <= limit else f"{held - limit} above {limit} bytes")
    times = rows // 4096 * ctx.size
    print("right" if set(sums.to_numpy()[1]) <= {0.5} and set(counts.to_numpy()[1]) <= {times} else "wrong")
"""


@COUNTS
def test_inserts_into_maps_hold_the_limit(tmp_path, count):
    scratch = {"DTL_SCRATCH": str(tmp_path)}
    ended = alone(INSERTED, **scratch) if count == 1 else ranks(count, INSERTED, tmp_path, 240, **scratch)
    lines = succeeded(ended).split("\n")
    assert [line for line in lines if " above " in line] == []
    assert (sum("holds" in line for line in lines), lines.count("right")) == (2 * count, count)


#: Says whether real transforms and values of a wide matrix, twice what there is beside the interpreter, hold the limit.
TRANSFORMED = """
import re, numpy as np, dtl

def resident(name):
    with open("/proc/self/status") as status:
        return int(re.search(name + r":\\s+(\\d+) kB", status.read())[1]) << 10

with dtl.Context() as ctx:
    ones = np.ones((1 << 10, 64))
    np.linalg.svd(ones @ ones.T), np.fft.rfft(ones)  # what the libraries keep
    limit = int(dtl.allgather(ctx, resident("VmRSS")).max()) + (48 << 20)
    dtl.set_memory_limit(limit)
    n = (96 << 20) // 8 * ctx.size
    real = dtl.DistributedVector(ctx, n, placement="disk", fill=1.0)
    half = dtl.DistributedVector(ctx, n // 2 + 1, dtype=np.complex128, placement="disk", fill=1.0)
    wide = dtl.zeros(ctx, (64, n // 64), placement="disk")
    wide += 2.0
    CALLS = {
        "rfft": lambda: dtl.fft.rfft(real)[0] == n,
        "irfft": lambda: abs(dtl.fft.irfft(half)[0] - 1) < 1e-9,
        "svd": lambda: np.isclose(dtl.linalg.svd(wide, full_matrices=False).S.local_view()[0], 2 * n**0.5),
        "values": lambda: np.isclose(dtl.linalg.svdvals(wide).local_view()[0], 2 * n**0.5),
    }
    for name, call in CALLS.items():
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")
        right = call()
        held = resident("VmHWM")
        fits = held <= limit + (8 << 20)  # of bands in memory when nobody looks
        print(name, "holds" if right and fits else f"{right}: {held - limit} above the limit")
"""


@pytest.mark.matrix("transforms hundreds of megabytes")
@COUNTS
def test_real_transforms_and_wide_matrices_hold_the_limit(tmp_path, count):
    scratch = {"DTL_SCRATCH": str(tmp_path)}
    ended = alone(TRANSFORMED, 240, **scratch) if count == 1 else ranks(count, TRANSFORMED, tmp_path, 240, **scratch)
    lines = succeeded(ended).split("\n")
    assert [line for line in lines if " above " in line] == []
    assert sum("holds" in line for line in lines) == 4 * count
