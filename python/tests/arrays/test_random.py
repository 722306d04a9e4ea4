"""Random numbers: the same for every number of ranks and every partition, with NumPy's signatures and errors."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, division
from refusals import ARGUMENT, TYPE, refused
from test_numbers_axes import grids, tensor

import dtl
from dtl.algorithms import rows
from dtl.containers import interior
from dtl.random import Generator, permutations, streams

#: Each of NumPy's distributions with parameters.
DISTRIBUTIONS: dict[str, tuple[Any, ...]] = {
    "beta": (2.0, 3.0),
    "binomial": (10, 0.3),
    "chisquare": (3.0,),
    "exponential": (2.0,),
    "f": (3.0, 5.0),
    "gamma": (2.0, 1.5),
    "geometric": (0.25,),
    "gumbel": (1.0, 2.0),
    "hypergeometric": (5, 6, 4),
    "integers": (3, 900),
    "laplace": (1.0, 2.0),
    "logistic": (1.0, 2.0),
    "lognormal": (0.1, 0.2),
    "logseries": (0.4,),
    "negative_binomial": (3, 0.4),
    "noncentral_chisquare": (3.0, 1.0),
    "noncentral_f": (3.0, 5.0, 1.0),
    "normal": (10.0, 2.0),
    "pareto": (3.0,),
    "poisson": (4.0,),
    "power": (2.0,),
    "random": (),
    "rayleigh": (2.0,),
    "standard_cauchy": (),
    "standard_exponential": (),
    "standard_gamma": (2.0,),
    "standard_normal": (),
    "standard_t": (5.0,),
    "triangular": (0.0, 1.0, 3.0),
    "uniform": (-1.0, 3.0),
    "vonmises": (0.5, 2.0),
    "wald": (1.0, 2.0),
    "weibull": (1.5,),
    "zipf": (2.5,),
}


@pytest.fixture(scope="module")
def alone() -> Any:
    """This rank by itself: what it draws is what all ranks together have to draw."""
    with dtl.Environment() as environment, environment.make_cpu_context() as context:
        yield context


def whole(alone: dtl.Context, seed: Any, draw: Any) -> Any:
    """Return what one rank draws, as an array."""
    got = draw(Generator(alone, seed))
    return got.local_view().copy() if isinstance(got, dtl.DistributedContainer) else got


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_numbers_do_not_depend_on_the_ranks(ctx: dtl.Context, alone: dtl.Context, name: str) -> None:
    def draw(rng: Generator) -> Any:
        rng.random(3)
        return getattr(rng, name)(*DISTRIBUTIONS[name], size=1000)

    want = whole(alone, 5, draw)
    assert_holds(draw(Generator(ctx, 5)), want)
    reference = getattr(np.random.default_rng(1), name)(*DISTRIBUTIONS[name], size=1000)
    assert want.dtype == reference.dtype
    assert abs(np.median(want) - np.median(reference)) < 0.2 * (reference.std() + 0.1) or name == "standard_cauchy"


def test_every_distribution_of_numpy_is_there() -> None:
    absent = {"bit_generator"}
    names = {name for name in dir(np.random.Generator) if not name.startswith("_")} - absent
    assert names <= set(dir(Generator))
    drawn = {"multinomial", "multivariate_hypergeometric", "dirichlet", "multivariate_normal"}
    drawn |= {"bytes", "choice", "permutation", "permuted", "shuffle", "spawn"}
    assert names - drawn == set(DISTRIBUTIONS)


PLACED = {
    "random": lambda rng, size, **how: rng.random(size, **how),
    "random of float32": lambda rng, size, **how: rng.random(size, "f4", **how),
    "integers": lambda rng, size, **how: rng.integers(0, 77, size, **how),
    "normal": lambda rng, size, **how: rng.normal(3, 2, size, **how),
    "poisson": lambda rng, size, **how: rng.poisson(3.0, size, **how),
    "rows": lambda rng, size, **how: rng.dirichlet([1, 2, 3], size, **how),
    "products": lambda rng, size, **how: rng.multivariate_normal([1, 2], [[2, 0.5], [0.5, 1]], size, **how),
}


@pytest.mark.parametrize("name", PLACED)
def test_numbers_on_disk_are_those_of_the_host(disk: dtl.Context, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(interior.library, "memory_limit", lambda: 1 << 40)
    monkeypatch.setattr(interior.in_blocks, "__defaults__", (1 << 17,))
    for partition in ("block", "cyclic", "replicated"):
        for size in (70_001, (1000, 71)):
            made = [PLACED[name](Generator(disk, 5), size, partition=partition, placement=p) for p in ("host", "disk")]
            assert [each.placement_policy for each in made] == [dtl.PLACEMENT_HOST, dtl.PLACEMENT_DISK]
            assert made[0].dtype == made[1].dtype
            np.testing.assert_array_equal(made[0].local_view(), made[1].local_view())


@pytest.mark.parametrize("wrong", ["device", 5, "x", None])
def test_placements_of_numbers_are_host_and_disk(ctx: dtl.Context, wrong: Any) -> None:
    refused(lambda: Generator(ctx, 5).random(9, placement=wrong), ARGUMENT, None, "placement")


@pytest.mark.parametrize("name", DIVISIONS)
def test_numbers_do_not_depend_on_the_partition(ctx: dtl.Context, alone: dtl.Context, name: str) -> None:
    for size in (0, 1, 10, 70_000, 200_000):
        want = whole(alone, 1, lambda rng, n=size: rng.normal(1.0, 2.0, n))
        assert_holds(Generator(ctx, 1).normal(1.0, 2.0, size, **division(name, size, ctx.size)), want)
    want = whole(alone, 1, lambda rng: rng.standard_normal((70_001, 3), dtype=np.float32))
    got = Generator(ctx, 1).standard_normal((70_001, 3), np.float32, **division(name, 70_001, ctx.size))
    assert_holds(got, want)
    assert type(got) is dtl.DistributedTensor


#: What the core draws, in each of its ways: bits of 8, 16, 32 and 64, halves of words, whole words, and floats.
RANGES: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    ("integers", (0, 2), {"dtype": np.bool_}),
    ("integers", (-128, 128), {"dtype": np.int8}),
    ("integers", (5,), {"dtype": np.uint8, "endpoint": True}),
    ("integers", (-1000, 1000), {"dtype": np.int16}),
    ("integers", (0, 1 << 16), {"dtype": np.uint16}),
    ("integers", (7, 8), {}),
    ("integers", (np.int32(-5), 6), {"dtype": np.int32}),
    ("integers", (1 << 31, 1 << 32), {"dtype": np.uint32}),
    ("integers", (0, 3 << 30), {"dtype": np.uint32}),
    ("integers", (-(1 << 63), (1 << 63) - 1), {"endpoint": True}),
    ("integers", (-(1 << 62), 1 << 62), {}),
    ("integers", ((1 << 63) + 5, (1 << 64) - 9), {"dtype": np.uint64}),
    ("integers", (0, 10**12), {}),
    ("random", (), {}),
    ("random", (), {"dtype": np.float32}),
    ("uniform", (-3, 5.5), {}),
)


@pytest.mark.parametrize(("name", "args", "options"), RANGES)
def test_ranges(ctx: dtl.Context, alone: dtl.Context, name: str, args: Any, options: Any) -> None:
    def draw(rng: Generator, size: int, **how: Any) -> Any:
        return getattr(rng, name)(*args, size=size, **options, **how)

    numpys = getattr(np.random.default_rng(1), name)(*args, size=1000, **options)
    for size in (0, 1, 7, 1000, 65_536, 150_001):
        want = whole(alone, 3, lambda rng, n=size: draw(rng, n))
        assert want.dtype == numpys.dtype
        assert_holds(draw(Generator(ctx, 3), size), want)
        assert_holds(draw(Generator(ctx, 3), size, partition="cyclic"), want)
        np.testing.assert_array_equal(want[: min(size, 7)], whole(alone, 3, lambda rng: draw(rng, 7))[: min(size, 7)])
    low, high = {"random": (0.0, 1.0), "uniform": (-3.0, 5.5)}.get(name, (0, 0))
    if name == "integers":
        low, high = (0, *(int(x) for x in args))[-2:]
        high += bool(options.get("endpoint"))
    assert low <= int(want.min()) if name == "integers" else want.min() >= low
    assert int(want.max()) < high if name == "integers" else want.max() < high
    where = (want.astype(np.float64) - low) / (float(high) - low)  # each tenth of the range has its share
    counts = np.histogram(where, bins=10, range=(0.0, 1.0))[0]
    steps = min(int(high - low), 10**6) if name == "integers" else 10**6
    shares = np.histogram(np.arange(steps) / steps, bins=10, range=(0.0, 1.0))[0] / steps
    np.testing.assert_allclose(counts / len(want), shares, atol=0.006)


def test_arguments_that_are_no_integers_are_numpys(ctx: dtl.Context) -> None:
    for args in ((0.0, 5.0), (np.array(3), 9), ([1, 2], 9)):
        drawn = Generator(ctx, 1).integers(*args, size=2, partition="replicated").local_view()
        assert drawn.dtype == np.int64
        assert (drawn < 9).all()


def test_numbers_do_not_depend_on_the_grid(ctx: dtl.Context, alone: dtl.Context) -> None:
    for shape in ((5, 7), (300, 401)):
        want = whole(alone, 9, lambda rng, s=shape: rng.integers(0, 256, s, dtype=np.uint8))
        for grid in grids(ctx.size, 2):
            assert_holds(Generator(ctx, 9).integers(0, 256, shape, np.uint8, grid=grid), want)


def test_blocks_are_streams_of_their_own(ctx: dtl.Context) -> None:
    drawn = Generator(ctx, 0).random(3 << 16, partition="replicated").local_view()
    assert len(np.unique(drawn)) == len(drawn)
    assert abs(drawn.mean() - 0.5) < 0.005
    assert abs(np.corrcoef(drawn[: 1 << 16], drawn[1 << 16 : 2 << 16])[0, 1]) < 0.02


def test_calls_seeds_and_children_differ(ctx: dtl.Context) -> None:
    rng = Generator(ctx, [1, 2])
    again = Generator(ctx, np.random.SeedSequence([1, 2]))
    first, second = rng.random(), rng.random()
    assert isinstance(first, float)
    assert first != second
    assert (again.random(), again.random()) == (first, second)
    one, other = rng.spawn(2)
    third = rng.spawn(1)[0]
    assert len({one.random(), other.random(), third.random(), first}) == 4
    assert again.spawn(1)[0].random() == Generator(ctx, np.random.SeedSequence([1, 2]).spawn(1)[0]).random()
    assert "2 calls" in repr(again)
    assert rng.context is ctx
    unseeded = [Generator(ctx).random() for _ in range(2)]
    assert unseeded[0] != unseeded[1]
    assert set(dtl.allgather(ctx, unseeded[0]).tolist()) == {unseeded[0]}


def test_scalars_are_numpys(ctx: dtl.Context) -> None:
    for name, args in DISTRIBUTIONS.items():
        got = getattr(Generator(ctx, 3), name)(*args)
        assert type(got) is type(getattr(np.random.default_rng(), name)(*args))
        assert len(set(dtl.allgather(ctx, float(got)).tolist())) == 1
    assert Generator(ctx, 3).bytes(10) == Generator(ctx, 3).bytes(10)


def test_parameters_spread(ctx: dtl.Context, alone: dtl.Context) -> None:
    means, scales = np.arange(70_000.0)[:, None], np.array([1e-9, 1e-3])
    want = whole(alone, 2, lambda rng: rng.normal(means, scales))
    np.testing.assert_allclose(want - means, 0, atol=0.01)
    assert_holds(Generator(ctx, 2).normal(means, scales), want)
    assert_holds(Generator(ctx, 2).normal(means, scales, size=(70_000, 2), partition="cyclic"), want)
    assert Generator(ctx, 2).poisson([1.0, 1000.0]).shape == (2,)
    text = "Output size (3,) is not compatible with broadcast dimensions of inputs"
    refused(lambda: Generator(ctx, 2).poisson([1.0, 2.0], size=3), ARGUMENT, 100)
    refused(lambda: Generator(ctx, 2).poisson([[1.0], [2.0]], size=2), ARGUMENT, 100, text[:11])


@pytest.mark.parametrize("name", ["multinomial", "dirichlet", "multivariate_normal", "multivariate_hypergeometric"])
def test_rows(ctx: dtl.Context, alone: dtl.Context, name: str) -> None:
    args: dict[str, tuple[Any, ...]] = {
        "multinomial": (20, [0.2, 0.3, 0.5]),
        "dirichlet": ([1.0, 2.0, 3.0],),
        "multivariate_normal": ([1.0, 2.0, 3.0], [[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]]),
        "multivariate_hypergeometric": ([5, 6, 7], 4),
    }

    def draw(rng: Generator, **how: Any) -> Any:
        return getattr(rng, name)(*args[name], size=(30_000,), **how)

    want = whole(alone, 4, draw)
    assert want.shape == (30_000, 3)
    np.testing.assert_allclose(
        want.mean(axis=0), getattr(np.random.default_rng(), name)(*args[name], size=30_000).mean(axis=0), atol=0.1
    )
    for how in DIVISIONS:
        assert_holds(draw(Generator(ctx, 4), **division(how, 30_000, ctx.size)), want)
    assert getattr(Generator(ctx, 4), name)(*args[name]).shape == (3,)


def test_covariances(ctx: dtl.Context) -> None:
    cov = np.array([[2.0, 1.0], [1.0, 3.0]])
    for method in ("svd", "eigh", "cholesky"):
        drawn = Generator(ctx, 1).multivariate_normal([5.0, -5.0], cov, 40_000, method=method)
        both = Generator(ctx, 1).multivariate_normal([5.0, -5.0], cov, 40_000, method=method, partition="replicated")
        np.testing.assert_allclose(np.cov(both.local_view().T), cov, atol=0.1)
        assert_holds(drawn, both.local_view())


def test_choices(ctx: dtl.Context, alone: dtl.Context) -> None:
    p = np.array([0.1, 0.0, 0.6, 0.3])
    cases: list[dict[str, Any]] = [
        {"a": 100, "size": 50},
        {"a": 100, "size": (7, 3)},
        {"a": 100, "size": 60, "replace": False},
        {"a": 100_000, "size": 90_000, "replace": False},
        {"a": 100_000, "size": 100, "replace": False},
        {"a": 300_000, "size": 40_000, "replace": False},
        {"a": 4, "size": 1000, "p": p},
        {"a": 4, "size": 3, "p": p, "replace": False},
        {"a": np.arange(10.0) + 0.5, "size": (4, 5)},
        {"a": np.arange(20).reshape(2, 10), "size": 3, "axis": 1, "replace": False},
    ]
    for case in cases:
        want = whole(alone, 8, lambda rng, c=case: rng.choice(**c))
        got = Generator(ctx, 8).choice(**case)
        assert_holds(got, want)
        n = case["a"] if isinstance(case["a"], int) else case["a"].shape[case.get("axis", 0)]
        if isinstance(case["a"], int):
            assert want.min() >= 0
            assert want.max() < n
            assert case.get("replace", True) or len(np.unique(want)) == want.size
        assert_holds(Generator(ctx, 8).choice(**case, partition="cyclic"), want)
    drawn = Generator(ctx, 8).choice(4, 10_000, p=p, partition="replicated").local_view()
    np.testing.assert_allclose(np.bincount(drawn, minlength=4) / 10_000, p, atol=0.03)
    one = Generator(ctx, 8).choice(100)
    assert isinstance(one, int)
    assert Generator(ctx, 8).choice([5, 6, 7], p=[0, 1, 0]) == 6


@pytest.mark.parametrize("name", DIVISIONS)
def test_choices_of_containers(ctx: dtl.Context, name: str) -> None:
    numbers = np.arange(50) ** 2
    vec = dtl.DistributedVector(ctx, 50, dtype=np.int64, **division(name, 50, ctx.size))
    vec.local_view()[:] = numbers[vec.local_indices()]
    picked = Generator(ctx, 2).choice(50, 30, replace=False, partition="replicated").local_view()
    assert_holds(Generator(ctx, 2).choice(vec, 30, replace=False), numbers[picked])
    assert Generator(ctx, 2).choice(vec) in numbers
    table = np.arange(150).reshape(50, 3)
    t = tensor(ctx, table, **division(name, 50, ctx.size))
    assert_holds(Generator(ctx, 2).choice(t, 30, replace=False), table[picked])
    columns = Generator(ctx, 2).choice(3, (2, 4), partition="replicated", grid=None).local_view()
    assert_holds(Generator(ctx, 2).choice(t, (2, 4), axis=1), table[:, columns])


@pytest.mark.parametrize("name", DIVISIONS)
def test_orders_of_each_line(ctx: dtl.Context, alone: dtl.Context, name: str) -> None:
    table = np.arange(45).reshape(9, 5)

    def draw(on: dtl.Context, axis: int | None, **divided: Any) -> Any:
        with tensor(on, table, **divided) as t:
            return Generator(on, 8).permuted(t, axis=axis)

    for axis in (0, 1, -1, None):
        with draw(alone, axis) as drawn:
            want = drawn.local_view().copy()
        got = draw(ctx, axis, **division(name, 9, ctx.size))
        assert_holds(got, want)
        np.testing.assert_array_equal(np.sort(want, axis=axis), table if axis is not None else np.arange(45))
        assert len({tuple(np.argsort(line)) for line in np.moveaxis(want, axis or 0, -1)}) > 1
    vec = dtl.asarray(ctx, np.arange(50.0))
    assert Generator(ctx, 8).permuted(vec, out=vec) is vec
    assert_holds(vec, np.arange(50.0)[whole(alone, 8, lambda rng: rng.permutation(50))])
    with pytest.raises(dtl.InvalidArgumentError, match=r"out has shape \(50,\), and x has \(9, 5\)"):
        Generator(ctx, 8).permuted(tensor(ctx, table), out=vec)


@pytest.mark.parametrize("name", DIVISIONS)
def test_orders(ctx: dtl.Context, alone: dtl.Context, name: str) -> None:
    for n in (0, 1, 7, 80_000):
        want = whole(alone, 6, lambda rng, k=n: rng.permutation(k))
        np.testing.assert_array_equal(np.sort(want), np.arange(n))
        assert_holds(Generator(ctx, 6).permutation(n, **division(name, n, ctx.size)), want)
    order = whole(alone, 6, lambda rng: rng.permutation(9))
    table = np.arange(36).reshape(9, 4)
    t = tensor(ctx, table, **division(name, 9, ctx.size))
    got = Generator(ctx, 6).permutation(t)
    assert_holds(got, table[order])
    assert got.partition_policy is t.partition_policy
    Generator(ctx, 6).shuffle(t)
    assert_holds(t, table[order])
    across = whole(alone, 6, lambda rng: rng.permutation(4))
    t = tensor(ctx, table, **division(name, 9, ctx.size))
    Generator(ctx, 6).shuffle(t, axis=-1)
    assert_holds(t, table[:, across])


@pytest.mark.parametrize("name", DIVISIONS)
def test_choices_of_large_containers(ctx: dtl.Context, name: str) -> None:
    """Rows that are drawn are those of the indices that the same call draws, however both containers are divided."""
    table = np.arange(140_000).reshape(70_000, 2)
    t, v = (tensor(ctx, a, **division(name, 70_000, ctx.size)) for a in (table, table[:, 0].copy()))
    weights = np.arange(70_000.0)
    weights /= weights.sum()
    everywhere = {"partition": "replicated"}
    for size, options in (
        (90_000, {}),
        ((3, 5), {}),
        (30_000, {"replace": False}),
        (69_000, {"replace": False}),
        (0, {}),
        (80_000, {"p": weights}),
        (20_000, {"p": weights, "replace": False}),
    ):
        drawn = Generator(ctx, 2).choice(70_000, size, **options, **everywhere).local_view()
        assert_holds(Generator(ctx, 2).choice(t, size, **options), table[drawn])
        assert_holds(Generator(ctx, 2).choice(v, size, **options), table[drawn, 0])
        assert_holds(Generator(ctx, 2).choice(table, size, **options, **everywhere), table[drawn])
        assert_holds(Generator(ctx, 2).choice(v, size, **options, partition="cyclic"), table[drawn, 0])
        if isinstance(size, int) and size:
            sizes = [size // 3, *[0] * (ctx.size - 1)]
            sizes[-1] += size - sum(sizes)
            assert_holds(Generator(ctx, 2).choice(t, size, **options, partition=sizes), table[drawn])


@pytest.mark.parametrize("batch", [1, 3])
def test_rows_that_are_taken_in_batches(ctx: dtl.Context, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_rows_at_a_time", lambda part: batch)
    array = np.arange(26.0).reshape(13, 2)
    t = dtl.asarray(ctx, array)
    order = Generator(ctx, 6).permutation(13, partition="replicated").local_view()
    assert_holds(Generator(ctx, 6).permutation(t), array[order])
    with rows.by_rows(t) as lines:  # each rank another number of rows
        wanted = np.arange(2 * ctx.rank) * 5 % 13
        np.testing.assert_array_equal(rows.take_rows(lines, wanted), array[wanted])


def test_orders_of_dates(ctx: dtl.Context) -> None:
    dates = np.arange("2020-01-01", "2020-03-01", dtype="datetime64[D]")
    vec = dtl.DistributedVector.from_numpy(ctx, dates)
    everywhere: Any = {"partition": "replicated"}
    drawn = Generator(ctx, 2).choice(60, 100, **everywhere).local_view()
    assert_holds(Generator(ctx, 2).choice(vec, 100), dates[drawn])
    order = Generator(ctx, 2).permutation(60, **everywhere).local_view()
    assert_holds(Generator(ctx, 2).permutation(vec), dates[order])
    Generator(ctx, 2).shuffle(vec)
    assert_holds(vec, dates[order])


def test_ways_to_an_order_agree(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of an order are found without the others; many things are sorted by whole words."""

    def drawn(number: int) -> Any:
        return Generator(ctx, 4).choice(100_000, number, replace=False, partition="replicated").local_view().copy()

    few = drawn(30_000)
    monkeypatch.setattr(permutations, "_MOST_SORTED", -1.0)
    np.testing.assert_array_equal(drawn(30_000), few)
    order = Generator(ctx, 4).permutation(100_000, partition="replicated").local_view().copy()
    np.testing.assert_array_equal(order[:30_000], few)
    monkeypatch.setattr(permutations, "_PACKED", 1000)
    np.testing.assert_array_equal(drawn(30_000), few)  # the words are the same, and none are equal in 47 bits
    monkeypatch.undo()
    monkeypatch.setattr(permutations.math, "sqrt", lambda x: -0.1 * x)  # a limit below which there are too few
    np.testing.assert_array_equal(drawn(30_000), few)


def test_orders_of_many_are_all_likely(ctx: dtl.Context) -> None:
    """Where an element comes to is independent of where it was, and neighbours come in either order."""
    order = Generator(ctx, 5).permutation(200_000, partition="replicated").local_view()
    assert abs(np.corrcoef(order, np.arange(200_000))[0, 1]) < 0.012
    assert abs(np.count_nonzero(np.diff(order) > 0) - 100_000) < 800
    cells = np.histogram2d(order, np.arange(200_000), bins=20)[0]
    assert 260 < ((cells - 500) ** 2 / 500).sum() < 470  # chi-squared of 361 degrees of freedom
    fixed = 0
    for seed in range(40):
        order = Generator(ctx, seed).permutation(5000, partition="replicated").local_view()
        fixed += np.count_nonzero(order == np.arange(5000))
    assert 15 < fixed < 70


def test_orders_are_all_likely(ctx: dtl.Context) -> None:
    rng = Generator(ctx, 12)
    counts = np.zeros((5, 5))
    for _ in range(200):
        counts[np.arange(5), rng.permutation(5, partition="replicated").local_view()] += 1
    assert counts.min() > 20
    assert counts.max() < 62


def test_heavy_comes_first(ctx: dtl.Context) -> None:
    p = np.array([0.9, 0.05, 0.05])
    rng = Generator(ctx, 12)
    firsts = [rng.choice(3, 2, replace=False, p=p, partition="replicated").local_view()[0] for _ in range(100)]
    assert 80 <= firsts.count(0) <= 98


def test_refusals(ctx: dtl.Context) -> None:
    rng = Generator(ctx, 0)
    nothing: Any = None
    endless: list[Any] = [1]
    endless.append(endless)
    refused(lambda: Generator(nothing, 0), TYPE, 101, "ctx must be")
    refused(lambda: Generator(ctx, -1), ARGUMENT, 100, "non-negative")
    refused(lambda: Generator(ctx, "seven"), TYPE, 101)
    refused(lambda: Generator(ctx, endless), ARGUMENT, 100, "seed is a list in more than 30 others")
    refused(lambda: rng.normal(0, -1, size=10), ARGUMENT, 100, "scale < 0")
    refused(lambda: rng.normal(0, -1), ARGUMENT, 100, "scale < 0")
    refused(lambda: rng.normal(0, 1, size=-3), ARGUMENT, 100)
    refused(lambda: rng.normal(0, 1, size=1.5), TYPE, 101)
    refused(lambda: rng.integers(5, 5, size=10), ARGUMENT, 100, "low >= high")
    refused(lambda: rng.multinomial(5, [], size=10), ARGUMENT, 100, "at least 1 dimension")
    refused(lambda: rng.logseries(1.0, size=10), ARGUMENT, 100, "p >= 1")
    refused(lambda: rng.logseries([0.5, 1.0]), ARGUMENT, 100, "p >= 1")
    refused(lambda: rng.random(5, dtype=np.int64), TYPE, 101, "Unsupported dtype")
    refused(lambda: rng.random(5, partitions="cyclic"), TYPE, 101, "'partitions'")
    refused(lambda: rng.normal(rng.random(5)), TYPE, 101, "not containers")
    refused(lambda: rng.choice(0, 3), ARGUMENT, 100, "a must be a positive integer")
    refused(lambda: rng.choice(3, 4, replace=False), ARGUMENT, 100, "larger sample than population")
    refused(lambda: rng.choice(3, 4, p=[0.5, 0.5]), ARGUMENT, 100, "same size")
    refused(lambda: rng.choice(2, 4, p=[0.5, 0.6]), ARGUMENT, 100, "do not sum to 1")
    refused(lambda: rng.choice(2, 4, p=[1.5, -0.5]), ARGUMENT, 100, "not non-negative")
    refused(lambda: rng.choice(3, 2, replace=False, p=[1.0, 0, 0]), ARGUMENT, 100, "Fewer non-zero")
    refused(lambda: rng.permutation(-1), ARGUMENT, 100, "negative")
    refused(lambda: rng.permutation(rng.random(4), partition="cyclic"), TYPE, 101)
    refused(lambda: rng.shuffle(np.arange(3)), TYPE, 101, "x must be")
    refused(lambda: rng.shuffle(rng.random(5), axis=1), dtl.AxisError, 108)
    refused(lambda: rng.spawn(-1), ARGUMENT, 100, "negative")
    refused(lambda: rng.spawn(2**50), ARGUMENT, 100, "n_children 1125899906842624 outside [0, 1048576]")
    assert isinstance(rng.random(), float)


@pytest.mark.parametrize("name", ["random", "normal"])
def test_refusals_of_sizes(ctx: dtl.Context, name: str) -> None:
    draw = getattr(Generator(ctx, 0), name)
    refused(lambda: draw(size=-3), ARGUMENT, 100, "-3")
    refused(lambda: draw(size=1 << 62), dtl.MemoryError, dtl.MemoryError.code)
    refused(lambda: draw(size=1 << 63), ARGUMENT, 100, "size 9223372036854775808 outside")


def test_no_extents_for_several_parameters(ctx: dtl.Context) -> None:
    rng = dtl.random.Generator(ctx, 1)
    refused(lambda: rng.poisson([1.0, 2.0], size=()), ARGUMENT, 100, "Output size () is not compatible")
    assert np.shape(rng.poisson(2.0, size=())) == ()


def test_where_numpys_state_is_not_where_it_was(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version of NumPy may lay out the state of SFC64 otherwise: then it is set by NumPy."""

    def draw() -> list[Any]:
        rng = Generator(ctx, 3)
        halves = [rng.integers(0, 900, dtype=np.int32) for _ in range(3)]  # each leaves half a word
        return [*halves, *rng.poisson(3.0, 50, partition="replicated").local_view()]

    want = draw()
    monkeypatch.setattr(streams, "_memory_of", lambda bits: np.empty(5, np.uint64))
    assert draw() == want


@pytest.mark.mpi(min_size=2)
def test_ranks_that_draw_differently(ctx: dtl.Context) -> None:
    calls: tuple[Any, ...] = (
        lambda rng: rng.normal(float(ctx.rank), 1.0, 10),
        lambda rng: rng.random(10 + ctx.rank),
        lambda rng: rng.normal(np.full(3, float(ctx.rank))),
        lambda rng: rng.choice(10, 3, replace=bool(ctx.rank)),
    )
    for call in calls:
        with pytest.raises(dtl.CollectiveMismatchError):
            call(Generator(ctx, 1))
    with pytest.raises(dtl.CollectiveMismatchError):
        Generator(ctx, ctx.rank)
    with pytest.raises((dtl.CollectiveMismatchError, dtl.InvalidArgumentError)):
        Generator(ctx, 1).normal(0, -1 if ctx.rank else 1, 10)


def test_signatures_are_numpys() -> None:
    for name in DISTRIBUTIONS:
        ours = list(inspect.signature(getattr(Generator, name)).parameters)
        assert ours[0] == "self"
        assert "size" in ours
