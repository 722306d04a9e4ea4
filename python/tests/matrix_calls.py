"""Chains of calls of sparse matrices, drawn at random: on any number of ranks as SciPy has them on one.

What SciPy refuses is refused, too; what it makes dense may be refused.
"""

from __future__ import annotations

import operator
import random
import warnings
from typing import Any, Callable

import numpy as np
import scipy.sparse

import dtl

DTYPES = "? b B h H i I l L q Q f d F D".split()  # noqa: SIM905

#: What a refused call may raise, here and in SciPy.
REFUSALS = (TypeError, ValueError, IndexError, ArithmeticError, NotImplementedError, dtl.DTLError)

#: Elements beyond this end a chain: sums of them would depend on their order.
_LARGE = 1e4

Pair = Any  # (the matrix of DTL, that of SciPy)


def drawn_array(rng: random.Random, shape: tuple[int, int], dtype: str) -> Any:
    """Return a matrix of SciPy's by rows, whose rows are unsorted, and store zeros and some places twice."""
    count = 0 if 0 in shape else rng.choice([0, 1, shape[0], 3 * shape[0], shape[0] * shape[1]])
    full = [row for row in range(shape[0]) if rng.random() < 0.7]  # the others are empty
    places = sorted((rng.choice(full), rng.random(), rng.randrange(shape[1])) for _ in range(count)) if full else []
    values = np.array([rng.randint(-3, 3) for _ in places])
    if np.dtype(dtype).kind in "u?":
        values = np.abs(values)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * np.array([rng.randint(-3, 3) for _ in places])
    rows = np.array([row for row, _, _ in places], np.int64)
    pointers = np.searchsorted(rows, np.arange(shape[0] + 1))
    columns = np.array([column for _, _, column in places], np.int32)
    return scipy.sparse.csr_array((values.astype(dtype), columns, pointers.astype(np.int32)), shape=shape)


def drawn_shape(rng: random.Random) -> tuple[int, int]:
    """Return a shape, often a square one, which may have fewer rows than there are ranks."""
    rows = rng.choice([0, 1, 2, 3, 7, 12, 20])
    return rows, rows if rng.random() < 0.5 else rng.choice([0, 1, 2, 5, 11, 30])


def sizes(ctx: dtl.Context, rng: random.Random, rows: int) -> list[int]:
    """Return how many rows each rank has, of which some may have none."""
    cuts = [0, *sorted(rng.randint(0, rows) for _ in range(ctx.size - 1)), rows]
    return np.diff(cuts).tolist()


def _partition(ctx: dtl.Context, rng: random.Random, rows: int) -> Any:
    return rng.choice(["block", "nnz", sizes(ctx, rng, rows)])


def _of_triplets(ctx: dtl.Context, rng: random.Random, a: Any) -> Any:
    whole = a.tocoo()
    mine = np.random.default_rng(rng.getrandbits(32)).integers(ctx.size, size=whole.nnz) == ctx.rank
    parts = (whole.data[mine], (whole.row[mine], whole.col[mine]))
    return dtl.sparse.csr_array(ctx, parts, a.shape, dtype=a.dtype, partition=_partition(ctx, rng, a.shape[0]))


def _of_rows(ctx: dtl.Context, rng: random.Random, a: Any) -> Any:
    cuts = np.cumsum([0, *sizes(ctx, rng, a.shape[0])])
    return dtl.sparse.csr_array.from_local(ctx, a[cuts[ctx.rank] : cuts[ctx.rank + 1]])


def _of_root(ctx: dtl.Context, rng: random.Random, a: Any) -> Any:
    root = rng.randrange(ctx.size)
    partition = _partition(ctx, rng, a.shape[0])
    return dtl.sparse.csr_array.from_scipy(ctx, a if ctx.rank == root else None, root, partition=partition)


def _of_scipy(ctx: dtl.Context, rng: random.Random, a: Any) -> Any:
    kind = rng.choice(["csr", "csc", "coo", "lil", "dok"])
    return dtl.sparse.csr_array(ctx, a.copy().asformat(kind), partition=_partition(ctx, rng, a.shape[0]))


MAKERS: list[Callable[..., Any]] = [_of_triplets, _of_rows, _of_root, _of_scipy]


def _number(rng: random.Random, a: Any) -> Any:
    return rng.choice([2, -1, 3.5, np.float32(0.5), 1j, True, np.int8(3)])


def _spread(rng: random.Random, shape: tuple[int, int]) -> Any:
    return rng.choice([shape, shape[1:], (1, shape[1]), (shape[0], 1)])


def _slice(rng: random.Random, extent: int) -> slice:
    ends = [rng.choice([None, rng.randint(-extent - 2, extent + 2)]) for _ in range(2)]
    return slice(*ends, rng.choice([None, 1, 2, -1, -3]))


def _subscript(rng: random.Random, extent: int) -> Any:
    kind = rng.randrange(4)
    if kind == 0 or not extent:
        return _slice(rng, extent)
    if kind == 1:
        return [rng.randint(-extent, extent - 1) for _ in range(rng.randint(0, 5))]
    if kind == 2:
        return np.array([rng.random() < 0.5 for _ in range(extent)])
    return slice(None)


def _rows_and_columns(rng: random.Random, a: Any) -> Callable[[Any], Any]:
    rows, columns = _subscript(rng, a.shape[0]), _subscript(rng, a.shape[1])
    is_one_key = isinstance(rows, slice) or isinstance(columns, slice)  # lists of both name single elements
    # SciPy 1.17 raises ValueError for a list and a slice with a step
    return lambda m: m[rows, columns] if is_one_key and not scipy.sparse.issparse(m) else m[rows][:, columns]


def _elements(rng: random.Random, a: Any) -> Callable[[Any], Any]:
    count = rng.randint(0, 9) if min(a.shape) else 0
    rows, columns = ([rng.randint(-n, n - 1) for _ in range(count)] for n in a.shape)
    return lambda m: m.toarray()[rows, columns] if scipy.sparse.issparse(m) else m[rows, columns]


def _permuted(rng: random.Random, a: Any) -> Callable[[Any], Any]:
    order = np.random.default_rng(rng.getrandbits(32)).permutation(a.shape[0])
    if a.shape[0] != a.shape[1]:
        return lambda m: m[order]
    return lambda m: m.permute(order) if hasattr(m, "permute") else m[order][:, order]


def _canonical(a: Any) -> Any:
    """Return a matrix with each place stored once: SciPy multiplies True that is stored twice as 2."""
    a = a.copy()
    a.sum_duplicates()
    return a


def _home(m: Any) -> Any:
    """Return the module that a matrix is of, with functions of SciPy's names."""
    return dtl.sparse if isinstance(m, (dtl.sparse.csr_array, dtl.sparse.csc_array)) else scipy.sparse


def _changed(call: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what changes a copy of a matrix, and returns that."""

    def changed(m: Any) -> Any:
        made = m.copy()
        call(made)
        return made

    return changed


def _of_module(name: str, *args: Any) -> Callable[[Any], Any]:
    return lambda m: getattr(_home(m), name)(m, *args)


def _of_graph(name: str, rng: random.Random, a: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a function of a graph: of the first rows and columns of the matrix, as many as there are of both."""
    size = min(a.shape)
    given = {key: rng.randrange(max(size, 1)) for key in options if options[key] is int}
    given = {**options, **given}
    return lambda m: getattr(_home(m).csgraph, name)(abs(m[:size, :size]).astype(np.float64), **given)


def _with(call: Callable[[Any, Any], Any], value: Any) -> Callable[[Any], Any]:
    return lambda m: call(m, value)


#: Calls of one matrix, each of a generator and the matrix of SciPy's.
ONE: dict[str, Callable[[random.Random, Any], Callable[[Any], Any]]] = {
    "neg": lambda rng, a: operator.neg,
    "abs": lambda rng, a: abs,
    "multiply": lambda rng, a: _with(operator.mul, _number(rng, a)),
    "divide": lambda rng, a: _with(operator.truediv, rng.choice([2, -4.0, np.float32(8)])),
    "power": lambda rng, a: lambda m: m**2,
    "astype": lambda rng, a: _with(lambda m, dtype: m.astype(dtype), rng.choice(DTYPES)),
    "multiply by an array": lambda rng, a: _with(lambda m, x: m.multiply(x), _vector(rng, _spread(rng, a.shape))),
    "conj": lambda rng, a: lambda m: m.conj(),
    "transpose": lambda rng, a: lambda m: m.T.tocsr(),
    "copy": lambda rng, a: lambda m: m.copy(),
    "rows": lambda rng, a: _with(operator.getitem, _subscript(rng, a.shape[0])),
    "rows and columns": _rows_and_columns,
    "eliminate zeros": lambda rng, a: _changed(lambda m: m.eliminate_zeros()),
    "set a diagonal": lambda rng, a: _changed(_with(lambda m, k: m.setdiag(m.dtype.type(1), k), rng.randint(-3, 3))),
    "square": lambda rng, a: lambda m: np.multiply(m, m),
    "magnitude": lambda rng, a: np.abs,
    "root": lambda rng, a: lambda m: np.sqrt(abs(m).astype(np.float64)),
    "round": lambda rng, a: lambda m: round(m.astype(np.float64) * 0.37, 1),
    "maximum": lambda rng, a: lambda m: abs(m).maximum(0),
    "minimum": lambda rng, a: lambda m: (abs(m) * -1.0).minimum(0),
    "lower": lambda rng, a: _of_module("tril", rng.randint(-3, 3)),
    "upper": lambda rng, a: _of_module("triu", rng.randint(-3, 3)),
    # SciPy stores zeros of a sparser second matrix, and forgets the type of one without elements
    "kron": lambda rng, a: lambda m: _home(m).kron(m, np.array([[1, 2]], np.int8)).astype(m.dtype),
    "hstack": lambda rng, a: lambda m: _home(m).hstack([m, m]),
    "vstack": lambda rng, a: lambda m: _home(m).vstack([m, m]),
    "block_diag": lambda rng, a: lambda m: _home(m).block_diag([m, m]),
    "greater": lambda rng, a: _with(operator.gt, rng.choice([0, 1, 2])),
    "not equal": lambda rng, a: lambda m: m != 0,
    "permute": _permuted,
}

#: Calls that end in a vector, a number or an array.
LAST: dict[str, Callable[[random.Random, Any], Callable[[Any], Any]]] = {
    "sum": lambda rng, a: _with(lambda m, axis: m.sum(axis=axis), rng.choice([None, 0, 1, -1])),
    "mean": lambda rng, a: _with(lambda m, axis: m.mean(axis) if all(m.shape) else m.sum(axis), rng.choice([0, 1])),
    "diagonal": lambda rng, a: _with(lambda m, k: m.diagonal(k), rng.randint(-3, 3)),
    "product": lambda rng, a: _with(operator.matmul, _vector(rng, a.shape[1])),
    "products": lambda rng, a: _with(operator.matmul, _vector(rng, (a.shape[1], rng.randint(0, 3)))),
    "transposed product": lambda rng, a: _with(lambda m, x: m.T @ x, _vector(rng, a.shape[0])),
    "product from the left": lambda rng, a: _with(lambda m, x: x @ m, _vector(rng, a.shape[0])),
    "products from the left": lambda rng, a: _with(lambda m, x: x @ m, _vector(rng, (rng.randint(0, 3), a.shape[0]))),
    "array": lambda rng, a: lambda m: m.toarray(),
    "elements": _elements,
    "max": lambda rng, a: _with(lambda m, axis: abs(m).max(axis), rng.choice([None, 0, 1, -2])),
    "min": lambda rng, a: _with(lambda m, axis: (abs(m) * -1.0).min(axis), rng.choice([None, 0, 1])),
    "argmax": lambda rng, a: _with(lambda m, axis: abs(m).argmax(axis), rng.choice([None, 0, 1])),
    "argmin": lambda rng, a: _with(lambda m, axis: (abs(m) * -1.0).argmin(axis), rng.choice([None, 0, 1])),
    "sum by NumPy": lambda rng, a: _with(lambda m, axis: np.sum(m, axis=axis), rng.choice([None, 0, 1])),
    "trace": lambda rng, a: _with(lambda m, k: m.trace(k), rng.randint(-1, 1)),
    "norm": lambda rng, a: _with(
        lambda m, order: np.float32(_home(m).linalg.norm(m, order)),
        rng.choice([1, np.inf, "fro"] if min(a.shape) else ["fro"]),
    ),
}

#: Functions of graphs that end in vectors, tensors or matrices, each of a generator and the matrix of SciPy's.
GRAPHS: dict[str, Callable[[random.Random, Any], Callable[[Any], Any]]] = {
    "weak components": lambda rng, a: _first_of(_of_graph("connected_components", rng, a), 1),
    "strong components": lambda rng, a: _first_of(_of_graph("connected_components", rng, a, connection="strong"), 0),
    "dijkstra": lambda rng, a: _of_graph("dijkstra", rng, a, indices=int, directed=rng.random() < 0.5),
    "hops": lambda rng, a: _of_graph("dijkstra", rng, a, indices=int, unweighted=True),
    "bellman_ford": lambda rng, a: _of_graph("bellman_ford", rng, a, indices=int),
    "breadth first": lambda rng, a: _of_graph("breadth_first_order", rng, a, i_start=int, return_predecessors=False),
    "depth first": lambda rng, a: _of_graph("depth_first_order", rng, a, i_start=int, return_predecessors=False),
    "laplacian": lambda rng, a: _of_graph("laplacian", rng, a, use_out_degree=rng.random() < 0.5),
    "rank": lambda rng, a: _of_graph("structural_rank", rng, a),
    "tree": lambda rng, a: lambda m: _of_graph("minimum_spanning_tree", rng, a)(m).sum(),
}


def _first_of(call: Callable[[Any], Any], which: int) -> Callable[[Any], Any]:
    return lambda m: call(m)[which]


#: Calls of two matrices of one shape.
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "not equal": operator.ne,
    "less": operator.lt,
    "greater": operator.gt,
    "maximum": lambda a, b: abs(a).maximum(abs(b)),
    "minimum": lambda a, b: abs(a).minimum(abs(b)),
    "hstack": lambda a, b: _home(a).hstack([a, b]),
    "vstack": lambda a, b: _home(a).vstack([a, b]),
    "by columns": lambda a, b: (a.T + b.T).T,
    "unequal by columns": lambda a, b: a.T != b.T,
    "matmul": lambda a, b: a @ b.T,
    "transposed matmul": lambda a, b: a.T @ b,
}


def _vector(rng: random.Random, shape: Any) -> Any:
    numbers = np.random.default_rng(rng.getrandbits(32)).integers(0, 4, shape)
    return numbers.astype(rng.choice(["d", "f", "i", "D"]))


def in_files(ctx: dtl.Context, rng: random.Random, pair: Pair, folder: str) -> Any:
    """Return a matrix that went through a file, or a checkpoint."""
    m, a = pair
    how = rng.choice(["npz", "scipy's npz", "mtx", "checkpoint"])
    path = f"{folder}/a.{how[-3:]}"
    if how == "checkpoint":
        dtl.checkpoint(f"{folder}/checkpoint", {"m": m})
        return dtl.restore(ctx, f"{folder}/checkpoint")["m"]
    if how == "scipy's npz":
        kind, is_compressed = rng.choice(["csr", "csc", "coo"]), rng.random() < 0.5
        ctx.barrier()
        if ctx.is_root:
            scipy.sparse.save_npz(path, a.copy().asformat(kind), compressed=is_compressed)
        ctx.barrier()
    else:
        dtl.save(m, path)
    again = dtl.load(ctx, path)
    return again.astype(m.dtype) if how == "mtx" else again  # whose types are few


def gathered(c: Any) -> Any:
    """Return the whole of what is divided, on every rank, as an array. Collective."""
    if isinstance(c, dtl.sparse.csr_array):
        whole = c.gather_to(0)
        return dtl.broadcast_object(c.context, None if whole is None else whole.toarray(), 0)
    return dtl.broadcast(c.context, c[...].gather_to(0), 0) if hasattr(c, "context") else np.asarray(c)


def unlike(got: Any, want: Any) -> str | None:
    """Say how a result differs from SciPy's. Collective."""
    got = got.tocsr() if isinstance(got, dtl.sparse.csc_array) else got
    if isinstance(got, dtl.sparse.csr_array) and scipy.sparse.issparse(want):
        stored = scipy.sparse.csr_array(want, copy=True)
        stored.sum_duplicates()
        if got.nnz != stored.nnz:
            return f"{got.nnz} elements are stored, and not {stored.nnz}"
    found, want = gathered(got), want.toarray() if scipy.sparse.issparse(want) else np.asarray(want)
    if (found.shape, found.dtype) != (want.shape, want.dtype):
        return f"{found.shape} of {found.dtype}, and not {want.shape} of {want.dtype}"
    tolerance = {"f": 1e-4, "F": 1e-4, "d": 1e-10, "D": 1e-10}.get(want.dtype.char, 0)
    if not np.allclose(found, want, tolerance, tolerance, equal_nan=True):
        return f"{found.tolist()}, and not {want.tolist()}"
    return None


def _made(call: Callable[[], Any]) -> tuple[Any, str]:
    """Return what a call returns, and how it is refused."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return call(), ""
    except REFUSALS as error:
        return None, f"{type(error).__name__}: {error}"


def _compared(call: Callable[[int], Any]) -> tuple[Any, Any, str | None]:
    """Make a call of both, 0 and 1. Return the results, None if both are refused, and what is wrong. Collective."""
    want, refusal = _made(lambda: call(1))
    got, mine = _made(lambda: call(0))
    if refusal or mine:
        # SciPy says that matrices of two shapes are unequal, and repeats one of one row or column
        is_said = "differ" in mine or ("sparse" in mine and not refusal and not scipy.sparse.issparse(want))
        return None, None, None if (refusal and mine) or is_said else f"{mine or 'done'}: {refusal or type(want)}"
    return got, want, unlike(got, want)


def chain(
    ctx: dtl.Context, rng: random.Random, name: str, folder: str, at: Callable[[str], Any] = lambda text: None
) -> str | None:
    """Make a matrix and some calls of it, and say what was not as SciPy has it. Collective."""
    shape, dtype = drawn_shape(rng), rng.choice(DTYPES)
    a, done = drawn_array(rng, shape, dtype), [f"{name}: {shape} of {dtype}"]
    before = a.copy()
    make = rng.choice(MAKERS)
    done.append(make.__name__)
    at(" ".join(done))
    m = make(ctx, rng, a)
    wrong = unlike(m, a)
    if not all(np.array_equal(getattr(a, of), getattr(before, of)) for of in ("data", "indices", "indptr")):
        wrong = "the argument was changed"
    a = _canonical(a)
    for _ in range(rng.randint(1, 6)):
        if wrong or (a.nnz and not abs(a).max() < _LARGE):
            break
        kind = rng.choice(["one", "one", "two", "last", "graph" if min(a.shape) else "one", "file", "balanced"])
        if kind == "balanced":
            done.append(kind)
            at(" ".join(done))
            m = m.balanced()
            wrong = unlike(m, a)
        elif kind == "file":
            done.append(kind)
            at(" ".join(done))
            m = in_files(ctx, rng, (m, a), folder)
            wrong = unlike(m, a)
        else:
            step, call = _step(ctx, rng, kind, (m, a))
            done.append(step)
            at(" ".join(done))
            got, want, wrong = _compared(call)
            if kind not in ("last", "graph") and got is not None:
                m, a = got.tocsr(), scipy.sparse.csr_array(want)
    return f"{'; '.join(done)}: {wrong}" if wrong else None


def _step(ctx: dtl.Context, rng: random.Random, kind: str, pair: Pair) -> tuple[str, Callable[[int], Any]]:
    """Return a drawn call of both matrices, and its name. Collective."""
    if kind == "two":
        shape = pair[1].shape if rng.random() < 0.95 else drawn_shape(rng)
        b = drawn_array(rng, shape, rng.choice(DTYPES))
        name = rng.choice(sorted(TWO))
        others = rng.choice(MAKERS)(ctx, rng, b), _canonical(b)
        return f"{name} {b.dtype.char}{b.shape}", lambda which: TWO[name](pair[which], others[which])
    calls = {"one": ONE, "last": LAST, "graph": GRAPHS}[kind]
    name = rng.choice(sorted(calls))
    is_turned = kind == "one" and rng.random() < 0.25
    one = calls[name](rng, pair[1].T if is_turned else pair[1])
    if is_turned:
        return f"{name} by columns", lambda which: one(pair[which].T).T.tocsr()
    return name, lambda which: one(pair[which])
