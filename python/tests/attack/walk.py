"""A random walk of container operations, which are made on NumPy arrays as well; after each, all elements agree."""

from __future__ import annotations

import random
import sys
import warnings
from typing import Any, Callable

import numpy as np
import rank
from jobs import Job, family

import dtl

STEPS = 4000

#: The most that a trial takes.
SECONDS = 25.0

DTYPES = ("float64", "float64", "float32", "int64", "int64", "int32", "int16", "uint8", "uint64", "bool", "complex128")
DIVISIONS = ("block", "cyclic", "block_cyclic", "hash", "replicated", "explicit")

UNARY = (np.negative, np.abs, np.square, np.sqrt, np.isnan, np.logical_not, np.conj, np.sign)
BINARY = (np.add, np.subtract, np.multiply, np.maximum, np.equal, np.less, np.logical_and, np.bitwise_xor)

#: The most containers there are at a time.
MOST = 8


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job of many operations, and return what it was and what went wrong."""
    rng = random.Random(f"walk {seed} {family(python)}")
    ranks = 2 if family(python) == "MPICH" else rng.choice([1, 2, 3, 4])
    shared = rng.random() < 0.7
    with Job(python, ranks, "walk.py", rng.randrange(2**32), **({} if shared else {"DTL_SHARED_MEMORY": "0"})) as job:
        wrong = job.watch(job.started + seconds)
        at = job.text("at0").strip()
        what = f"{at.split(':')[0]} on {ranks} ranks{'' if shared else ' that share no memory'}"
        history = "\n".join(line for line in job.text("history").splitlines()[-8:])
        return what, [f"{at}: {text}\n{history}" for text in wrong]


def main() -> None:
    """Walk: the program of a rank."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with dtl.Context() as ctx:
        log = rank.Log(ctx)
        walk = Walk(ctx, random.Random(f"walk {sys.argv[1]}"), log)
        for number in range(STEPS):
            walk.step(number)


class Walk:
    """Containers and the arrays that they should be."""

    def __init__(self, ctx: Any, rng: random.Random, log: Any) -> None:
        import dtl

        self.ctx, self.rng, self.log = ctx, rng, log
        self.pairs: list[tuple[Any, Any]] = []
        self.text = ""
        self.steps = [getattr(self, name) for name in dir(self) if name.startswith("do_")]
        self.keys = [
            (dtl.DistributedMap(ctx, np.int64, np.int64), {}),
            (dtl.DistributedMap(ctx, "S3", np.float64), {}),
        ]

    def step(self, number: int) -> None:
        """Make one operation on containers and arrays."""
        do = self.do_make if not self.pairs else self.rng.choice(self.steps)
        self.number = number
        self.text = do.__name__
        try:
            do()
        except _NothingFitsError:
            self.do_make()
        for container, model in self.pairs[-2:]:
            self.check(container, model)
        while len(self.pairs) > MOST:
            self.pairs.pop(self.rng.randrange(len(self.pairs)))

    def say(self, text: str) -> None:
        """Note what is done next, for the report of a failure."""
        self.text = text
        self.log.begin(self.number, f"step {self.number}: {text}")
        if self.ctx.rank == 0 and text:
            with open(rank.FOLDER / "history", "a") as file:
                file.write(f"step {self.number}: {text[:300]}\n")

    # ---- What is drawn ----

    def numbers(self, dtype: Any, shape: Any) -> Any:
        """Return elements: small whole numbers, so that sums are exact, and now and then what is special."""
        seeded = np.random.default_rng(self.rng.randrange(2**32))
        dtype = np.dtype(dtype)
        if dtype.kind == "b":
            return seeded.random(shape) < 0.5
        low = 0 if dtype.kind == "u" else -9
        made = seeded.integers(low, 10, shape).astype(dtype)
        if dtype.kind == "c":
            made = made + 1j * seeded.integers(-3, 4, shape)
        if dtype.kind == "f" and self.rng.random() < 0.1 and made.size:
            made.flat[self.rng.randrange(made.size)] = self.rng.choice([np.nan, np.inf, -0.0])
        return made.astype(dtype)

    def division(self, size: int) -> tuple[str, dict[str, Any]]:
        name = self.rng.choice(DIVISIONS)
        if name == "explicit":
            cuts = sorted(self.rng.randrange(size + 1) for _ in range(self.ctx.size - 1))
            return name, {"partition": np.diff([0, *cuts, size]).tolist()}
        keywords: dict[str, Any] = {"partition": getattr(dtl, f"PARTITION_{name.upper()}")}
        if name == "block_cyclic":
            keywords["block_size"] = self.rng.randrange(1, 6)
        return name, keywords

    def some(self, fits: Callable[[Any, Any], bool] = lambda c, m: True) -> tuple[int, Any, Any]:
        """Return a container that fits, with its array, and its number among all, which is then the last."""
        found = [i for i, (c, m) in enumerate(self.pairs) if fits(c, m)]
        if not found:
            raise _NothingFitsError
        i = self.rng.choice(found)
        self.pairs.append(self.pairs.pop(i))
        return (len(self.pairs) - 1, *self.pairs[-1])

    def part(self, length: int) -> slice:
        edge = lambda: self.rng.choice([None, self.rng.randrange(-length - 2, length + 3)])  # noqa: E731
        return slice(edge(), edge(), self.rng.choice([None, None, 1, 2, 3, -1, -2]))

    def subscript(self, shape: tuple[int, ...]) -> Any:
        kind = self.rng.choice(["element", "slices", "slices", "list", "mask", "ellipsis"])
        if kind == "mask":
            return self.numbers(bool, shape)
        if kind == "ellipsis":
            return Ellipsis
        if kind == "slices":
            words: list[Any] = [self.part(n) for n in shape]
            if len(shape) > 1 and self.rng.random() < 0.4 and min(shape):
                words[self.rng.randrange(len(shape))] = self.rng.randrange(min(shape))
            if len(shape) > 1 and self.rng.random() < 0.3:
                words = words[: self.rng.randrange(1, len(shape))]
            return tuple(words) if len(shape) > 1 else words[0]
        if not min(shape):
            return Ellipsis
        if kind == "element":
            index = tuple(self.rng.randrange(-n, n) for n in shape)
            return index if len(shape) > 1 else index[0]
        count = self.rng.randrange(0, 6)
        lists = tuple([self.rng.randrange(-n, n) for _ in range(count)] for n in shape)
        return lists if len(shape) > 1 else lists[0]

    # ---- How it is compared ----

    def check(self, container: Any, model: Any) -> None:
        """Compare shape, dtype and this rank's elements."""
        assert container.shape == model.shape, f"{self.text}: shape {container.shape}, should be {model.shape}"
        assert container.dtype == model.dtype, f"{self.text}: dtype {container.dtype}, should be {model.dtype}"
        self.same(container.local_view(), self.mine(container, model), f"{container!r}")

    def same(self, actual: Any, expected: Any, what: str = "the result", exact: bool = True) -> None:
        actual, expected = np.asarray(actual), np.asarray(expected)
        assert actual.shape == expected.shape, f"{self.text}: {what}: shape {actual.shape}, should be {expected.shape}"
        if exact:
            same = np.array_equal(actual, expected) or np.array_equal(actual, expected, equal_nan=True)
        else:
            tolerance = 1e-4 if actual.dtype in (np.float32, np.complex64) else 1e-9
            same = np.allclose(actual, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
        assert same, f"{self.text}: {what} is\n{actual!r}\nshould be\n{expected!r}"

    def both(self, ours: Callable[[], Any], theirs: Callable[[], Any], what: str) -> Any:
        """Make a call on both, which fail both or neither, and return both results, None where they fail."""
        self.say(what)
        try:
            expected = theirs()
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            expected = error
        try:
            actual = ours()
        except (dtl.DTLError, TypeError, ValueError, IndexError, OverflowError) as error:
            # What DTL lacks is refused in so many words.
            if isinstance(expected, Exception) or isinstance(error, (dtl.InvalidTypeError, dtl.InvalidArgumentError)):
                return None
            raise AssertionError(f"{self.text}: {error!r}, where NumPy returns {expected!r}") from error
        assert not isinstance(expected, Exception), f"{self.text}: no error, where NumPy raises {expected!r}"
        return actual, expected

    def keep(self, results: Any, exact: bool = True) -> None:
        """Compare two results, and go on with a container."""
        if results is None:
            return
        actual, expected = results
        if isinstance(actual, dtl.DistributedContainer):
            if not exact and actual.dtype.kind in "fc":
                self.same(actual.local_view(), self.mine(actual, expected), exact=False)
                return
            self.pairs.append((actual, np.asarray(expected)))
        else:
            self.same(actual, expected, exact=exact and np.asarray(expected).dtype.kind not in "fc")

    def mine(self, container: Any, model: Any) -> Any:
        return np.asarray(model)[np.ix_(*[container.local_indices(d) for d in range(np.ndim(model))])]

    # ---- Operations ----

    def do_make(self) -> None:
        dtype = self.rng.choice(DTYPES)
        if self.rng.random() < 0.6:
            size = self.rng.choice([0, 1, 2, 5, 17, 40, 1000])
            model = self.numbers(dtype, size)
            name, keywords = self.division(size)
            kind = self.rng.choice(["DistributedVector", "DistributedArray"])
        else:
            shape = tuple(self.rng.choice([0, 1, 2, 3, 5, 8]) for _ in range(self.rng.choice([2, 2, 3])))
            model, kind = self.numbers(dtype, shape), "DistributedTensor"
            name, keywords = self.division(shape[0])
        self.say(f"{kind} of {model.shape} {dtype} {name}")
        root = self.rng.randrange(self.ctx.size)
        made = getattr(dtl, kind).from_numpy(self.ctx, model if self.ctx.rank == root else None, root, **keywords)
        self.pairs.append((made, model.copy()))

    def do_span(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1 and not isinstance(c, dtl.DistributedSpan))
        offset = self.rng.randrange(len(m) + 1)
        count = self.rng.randrange(len(m) - offset + 1)
        self.say(f"subspan({offset}, {count}) of {c!r}")
        span = dtl.DistributedSpan(c).subspan(offset, count)
        self.check(span, m[offset : offset + count])
        if span.dtype.kind == "f":
            dtl.fill(span, 3)
            m[offset : offset + count] = 3

    def do_resize(self) -> None:
        i, c, m = self.some(lambda c, m: type(c) is dtl.DistributedVector)
        size = self.rng.choice([0, 1, 3, len(m) + 5, max(len(m) - 3, 0), 77])
        self.say(f"resize({size}) of {c!r}")
        c.resize(size)
        new = np.zeros(size, m.dtype)
        new[: min(size, len(m))] = m[:size]
        self.pairs[i] = (c, new)

    def do_redistribute(self) -> None:
        _, c, _ = self.some(lambda c, m: not isinstance(c, (dtl.DistributedSpan, dtl.DistributedArray)))
        name, keywords = self.division(c.shape[0])
        bound = self.rng.choice([0, 0, 64, 4096])
        self.say(f"redistribute({name} {keywords}, max_extra_bytes={bound}) of {c!r}")
        if self.rng.random() < 0.3:
            dtl.async_redistribute(c, **keywords, max_extra_bytes=bound).get()
        else:
            c.redistribute(**keywords, max_extra_bytes=bound)

    def do_getitem(self) -> None:
        _, c, m = self.some()
        key = self.subscript(m.shape)
        self.keep(self.both(lambda: c[key], lambda: np.copy(m[key]), f"{c!r}[{key!r}]"))

    def do_setitem(self) -> None:
        _, c, m = self.some()
        key = self.subscript(m.shape)
        target = m[key]
        value = self.numbers(m.dtype, self.rng.choice([(), np.shape(target)]))

        def assign() -> None:
            m[key] = value

        self.both(lambda: c.__setitem__(key, value), assign, f"{c!r}[{key!r}] = {value!r}"[:300])

    def do_setitem_container(self) -> None:
        _, d, n = self.some(lambda c, m: m.ndim == 1)
        _, c, m = self.some(lambda c, m: m.ndim == 1 and m.dtype == n.dtype and len(m) >= len(n))
        offset = self.rng.randrange(len(m) - len(n) + 1)
        self.say(f"{c!r}[{offset}:] = {d!r}")
        c[offset : offset + len(n)] = d
        m[offset : offset + len(n)] = n.copy()

    def do_get(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1 and len(m))
        own = random.Random(self.ctx.rank + self.number)
        indices = [own.randrange(-len(m), len(m)) for _ in range(own.randrange(9))]
        self.say(f"get of {c!r}")
        self.same(c.get(indices), m[indices] if indices else m[:0])

    def do_put(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1 and len(m) >= self.ctx.size)
        self.say(f"put of {c!r}")
        values = self.numbers(m.dtype, self.ctx.size)
        places = self.rng.sample(range(len(m)), self.ctx.size)
        c.put([places[self.ctx.rank]], [values[self.ctx.rank]])
        m[places] = values

    def do_unary(self) -> None:
        _, c, m = self.some()
        f = self.rng.choice(UNARY)
        self.keep(self.both(lambda: f(c), lambda: f(m), f"{f.__name__}({c!r})"), exact=f is not np.sqrt)

    def do_binary(self) -> None:
        _, c, m = self.some()
        f = self.rng.choice(BINARY)
        value = self.rng.choice([2, 3.5, np.int8(3), True])
        if self.rng.random() < 0.5:
            self.keep(self.both(lambda: f(c, value), lambda: f(m, value), f"{f.__name__}({c!r}, {value!r})"))
        else:
            self.keep(self.both(lambda: f(c, c), lambda: f(m, m), f"{f.__name__}({c!r}, itself)"))

    def do_in_place(self) -> None:
        _, c, m = self.some(lambda c, m: m.dtype.kind in "fiu")
        self.say(f"{c!r} += 1, *= 2")
        c += 1
        m += 1
        c *= 2
        m *= 2

    def do_astype(self) -> None:
        _, c, m = self.some(lambda c, m: m.dtype.kind in "iub")
        dtype = self.rng.choice(["float64", "int64", "float32", "complex128", "int32"])
        self.keep(self.both(lambda: c.astype(dtype), lambda: m.astype(dtype), f"{c!r}.astype({dtype})"))

    def do_number(self) -> None:
        _, c, m = self.some()
        name = self.rng.choice(["sum", "prod", "min", "max", "mean", "var", "std", "argmin", "argmax", "all", "any"])
        axis = self.rng.choice([None, None, *range(m.ndim)])
        keep = self.rng.random() < 0.2
        if name in ("mean", "var", "std") and m.dtype.kind == "c":
            return
        if name == "prod" and (m.dtype.kind in "fc" and m.size > 17):
            return

        def theirs() -> Any:
            return getattr(np, name)(m, axis=axis, keepdims=keep)

        what = f"{name}({c!r}, axis={axis}, keepdims={keep})"
        self.keep(self.both(lambda: getattr(dtl, name)(c, axis=axis, keepdims=keep), theirs, what), exact=False)

    def do_cumulate(self) -> None:
        _, c, m = self.some(lambda c, m: m.dtype.kind in "iu")
        axis = self.rng.randrange(m.ndim)
        self.keep(self.both(lambda: dtl.cumsum(c, axis), lambda: np.cumsum(m, axis), f"cumsum({c!r}, {axis})"))

    def do_sort(self) -> None:
        _, c, m = self.some(lambda c, m: m.dtype.kind in "fiub")
        # Most containers of several dimensions are divided along the first, and sorted along the others.
        axis, reverse = self.rng.randrange(m.ndim > 1, m.ndim), self.rng.random() < 0.3
        start = self.rng.choice([dtl.sort, lambda *a, **k: dtl.async_sort(*a, **k).get()])
        self.say(f"sort({c!r}, axis={axis}, reverse={reverse})")
        try:
            start(c, reverse=reverse, axis=axis)
        except dtl.InvalidArgumentError as error:
            assert f"axis {axis} of a container of {m.ndim} dimensions is divided" in str(error)  # noqa: PT017
            return
        if reverse and m.dtype.kind == "f":
            m[...] = -np.sort(-m, axis)  # NaNs come last here, too
        else:
            m.sort(axis)
            m[...] = np.flip(m, axis).copy() if reverse else m
        assert dtl.is_sorted(c, reverse=reverse, axis=axis) or np.isnan(m.astype(float)).any()
        self.skip_zeros(c, m)

    def do_argsort(self) -> None:
        _, c, m = self.some(lambda c, m: m.dtype.kind in "iub" and m.ndim == 1)
        self.keep(self.both(lambda: dtl.argsort(c), lambda: np.argsort(m, kind="stable"), f"argsort({c!r})"))

    def do_reorder(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1)
        by = self.rng.randrange(-50, 50)
        self.say(f"reverse and rotate({by}) of {c!r}")
        dtl.reverse(c)
        dtl.rotate(c, by)
        m[:] = np.roll(m[::-1].copy(), -by)

    def do_partition(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1 and m.dtype.kind in "iu")
        self.say(f"partition_by({c!r})")
        at = dtl.partition_by(c, lambda a: a % 2 == 0)
        even = m % 2 == 0
        assert at == even.sum(), self.text
        m[:] = np.concatenate([m[even], m[~even]])

    def do_search(self) -> None:
        _, c, m = self.some(lambda c, m: m.dtype.kind in "iu")
        value = self.rng.randrange(0, 9)
        found = np.flatnonzero(m.ravel() == value)
        self.say(f"find and count {value} in {c!r}")
        assert dtl.find(c, value) == (int(found[0]) if len(found) else None)
        assert dtl.count(c, value) == len(found)
        assert dtl.any_of(c, lambda a: a == value) == bool(len(found))

    def do_scan(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1 and m.dtype == np.int64)
        op, f = self.rng.choice([("SUM", np.add), ("MIN", np.minimum), ("MAX", np.maximum)])
        op = getattr(dtl, op)
        what = f"inclusive_scan({c!r}, {op})"
        self.keep(self.both(lambda: dtl.inclusive_scan(c, op), lambda: f.accumulate(m), what))

    def do_unique(self) -> None:
        _, c, m = self.some(lambda c, m: m.dtype.kind in "iu" and m.ndim == 1)
        self.keep(self.both(lambda: dtl.unique(c), lambda: np.unique(m), f"unique({c!r})"))

    def do_quantiles(self) -> None:
        _, c, m = self.some(lambda c, m: m.dtype.kind in "iu" and m.size)
        q = self.rng.choice([0.0, 0.25, 0.5, 0.9, 1.0])
        self.say(f"quantile({q}) of {c!r}")
        self.same(dtl.quantile(c, q), np.quantile(m, q), exact=False)
        k = self.rng.randrange(min(m.size, 5) + 1)
        self.same(dtl.topk(c, k)[0], np.sort(m.ravel())[::-1][:k])

    def do_copy(self) -> None:
        _, d, n = self.some()
        same = lambda c, m: m.shape == n.shape and m.dtype == n.dtype  # noqa: E731
        _, c, m = self.some(same)
        self.say(f"copy({d!r}, {c!r})")
        dtl.copy(d, c)
        m[...] = n.copy()

    def do_assign(self) -> None:
        _, c, m = self.some(lambda c, m: m.dtype.kind in "fiu")
        self.say(f"iota, transform and replace of {c!r}")
        dtl.iota(c, 0, 1) if m.size < 200 else dtl.fill(c, 1)
        m[...] = np.arange(m.size).reshape(m.shape) if m.size < 200 else 1
        dtl.transform(c, c, lambda a: a + 1)
        m += 1
        dtl.replace(c, 2, 5)
        m[m == 2] = 5

    def do_halo(self) -> None:
        _, c, m = self.some(
            lambda c, m: m.ndim == 1 and c.partition_policy is dtl.PARTITION_BLOCK and len(m) >= 3 * self.ctx.size
        )
        width, periodic = self.rng.randrange(1, 4), self.rng.random() < 0.5
        self.say(f"Halo({c!r}, {width}, periodic={periodic})")
        with dtl.Halo(c, width, periodic=periodic) as halo:
            halo.exchange()
            first, count = c.local_offset, c.local_size
            around = np.arange(first - width, first + count + width)
            view = halo.view()
            inside = (around >= 0) & (around < len(m))
            if periodic:
                self.same(view, m[around % len(m)])
            else:
                self.same(view[inside] if len(view) == len(around) else view, m[around[inside]])

    def do_products(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1 and m.dtype.kind in "fi")
        self.keep(self.both(lambda: dtl.dot(c, c), lambda: np.dot(m, m), f"dot({c!r}, itself)"), exact=False)
        real = m.dtype.type if m.dtype.kind == "f" else np.float64
        # In double precision, where the squares of float32 do not overflow.
        length = self.both(lambda: dtl.norm(c), lambda: real(np.linalg.norm(m.astype(float))), f"norm({c!r})")
        self.keep(length, exact=False)

    def do_matmul(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 2 and m.dtype.kind in "fi")
        other = self.numbers(m.dtype, (m.shape[1], 3))
        d = dtl.DistributedTensor.from_numpy(self.ctx, other)
        self.keep(self.both(lambda: dtl.matmul(c, d), lambda: m @ other, f"matmul({c!r}, {d!r})"), exact=False)

    def do_count_in_bins(self) -> None:
        _, c, m = self.some(lambda c, m: m.dtype.kind in "iu" and m.size)
        self.say(f"histogram and bincount of {c!r}")
        edges = sorted(self.rng.sample(range(-12, 30), 4))
        self.same(dtl.histogram(c, edges)[0], np.histogram(m, edges)[0])
        if m.ndim == 1 and m.dtype != np.uint64 and m.min() >= 0 and m.max() < 1000:
            self.same(dtl.bincount(c), np.bincount(m.astype(np.int64)))

    def do_sorted_search(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1 and m.dtype.kind in "iu")
        self.say(f"sort and searchsorted of {c!r}")
        dtl.sort(c)
        m.sort()
        values = [0, 4, 99] if m.dtype.kind == "u" else [-3, 0, 4, 99]
        for side in ("left", "right"):
            self.same(dtl.searchsorted(c, values, side), np.searchsorted(m, values, side))

    def do_merge(self) -> None:
        _, d, n = self.some(lambda c, m: m.ndim == 1 and m.dtype.kind in "iu")
        _, c, m = self.some(lambda c, m: m.ndim == 1 and m.dtype == n.dtype)
        self.say(f"sort and merge of {c!r} and {d!r}")
        for container, model in ((c, m), (d, n)):
            dtl.sort(container)
            model.sort()
        self.pairs.append((dtl.merge(c, d), np.sort(np.concatenate([m, n]))))

    def do_group(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1 and m.dtype == np.int64)
        self.say(f"group_by({c!r}) and sum of itself")
        keys, sums = dtl.group_by(c).agg(c, dtl.SUM)
        unique, counts = np.unique(m, return_counts=True)
        self.check(keys, unique)
        self.check(sums, unique * counts)

    def do_lexsort(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1 and m.dtype == np.int64)
        other = c % 3
        self.keep(self.both(lambda: dtl.lexsort((c, other)), lambda: np.lexsort((m, m % 3)), f"lexsort(({c!r}, % 3))"))

    def do_shuffle(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1 and m.dtype.kind in "iu")
        self.say(f"shuffle({c!r})")
        before = dtl.DistributedVector(self.ctx, len(m), m.dtype)
        dtl.copy(c, before)
        dtl.shuffle(c, 5)
        dtl.shuffle(before, 5)  # the same order, however it is divided
        order = dtl.DistributedVector(self.ctx, len(m), np.int64)
        dtl.iota(order, 0, 1)
        dtl.shuffle(order, 5)
        places = np.concatenate(dtl.allgather_object(self.ctx, order.local_view().tolist())).astype(int)
        assert sorted(places) == list(range(len(m))), self.text
        m[:] = m[places]
        self.check(before, m)

    def do_plan(self) -> None:
        _, d, n = self.some(lambda c, m: m.ndim == 1)
        _, c, m = self.some(lambda c, m: m.shape == n.shape and m.dtype == n.dtype and c is not d)
        self.say(f"RedistributionPlan({d!r}, {c!r})")
        with dtl.RedistributionPlan(d, c, max_extra_bytes=self.rng.choice([0, 100])) as plan:
            plan.execute()
        m[:] = n

    def do_grid(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 2 and type(c) is dtl.DistributedTensor)
        n = self.ctx.size
        grid = self.rng.choice([(n, 1), (1, n), (2, n // 2) if n % 2 == 0 else (n, 1)])
        self.say(f"redistribute(grid={grid}) of {c!r}, and back")
        c.redistribute(grid=grid)
        self.check(c, m)
        column = self.rng.randrange(-1, m.shape[1]) if m.shape[1] else None
        if column is not None:
            self.keep(self.both(lambda: c[:, column], lambda: np.copy(m[:, column]), f"{c!r}[:, {column}]"))
        self.keep(self.both(lambda: dtl.sum(c, axis=1), lambda: m.sum(1), f"sum({c!r}, axis=1)"), exact=False)
        c.redistribute(dtl.PARTITION_BLOCK)

    def do_differences(self) -> None:
        _, c, m = self.some(lambda c, m: m.ndim == 1 and m.dtype.kind in "iu")
        self.say(f"adjacent_difference and minmax of {c!r}")
        results = self.both(lambda: dtl.adjacent_difference(c), lambda: np.diff(m, prepend=m.dtype.type(0)), self.text)
        self.keep(results)
        if len(m):
            self.same(dtl.minmax(c), (m.min(), m.max()))
            self.same(dtl.max_element(c), (m.max(), m.argmax()))

    def do_map(self) -> None:
        i = self.rng.randrange(2)
        entries, model = self.keys[i]
        kind = self.rng.choice(["insert", "update", "erase", "find", "clear", "view"])
        self.say(f"{kind} of {entries!r}")
        lists = []
        for number in range(self.ctx.size):
            own = random.Random(f"{self.number} {number}")
            keys = [own.randrange(60) for _ in range(own.randrange(12))]
            lists.append([b"%d" % key for key in keys] if i else keys)
        mine = lists[self.ctx.rank]
        values = [(7 * number + n) % 50 for number, keys in enumerate(lists) for n in range(len(keys))]
        starts = np.cumsum([0, *map(len, lists)])
        own_values = values[starts[self.ctx.rank] : starts[self.ctx.rank + 1]]
        flat = [key for keys in lists for key in keys]
        if kind == "insert":
            entries.insert_many(mine, own_values)
            model.update(zip(flat, values))
        elif kind == "update":
            entries.update_many(mine, own_values)
            for key, value in zip(flat, values):
                model[key] = model.get(key, 0) + value
        elif kind == "erase":
            self.same(entries.erase_many(mine), [key in model for key in mine] or np.zeros(0, bool))
            for key in flat:
                model.pop(key, None)
        elif kind == "find":
            found, mask = entries.find_many(mine, -1)
            self.same(found, np.array([model.get(key, -1) for key in mine]))
            self.same(mask, np.array([key in model for key in mine], bool))
        elif kind == "clear" and self.rng.random() < 0.2:
            entries.clear()
            model.clear()
        keys, held = entries.global_view()
        assert dict(zip(keys.tolist(), held.tolist())) == model, self.text
        assert len(entries) == entries.global_size == len(model), self.text

    def skip_zeros(self, c: Any, m: Any) -> None:
        """Take the signs of equal zeros, of which NumPy's order is another, from the container."""
        if m.dtype.kind == "f":
            m += 0.0


class _NothingFitsError(Exception):
    """No container is of the kind that an operation needs."""


if __name__ == "__main__":
    main()
