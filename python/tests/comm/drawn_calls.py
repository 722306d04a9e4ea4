"""Calls of NumPy's functions that create, join and shape arrays, with arguments that are drawn at random.

Any array among the arguments may be a container. What a number of draws gives is the same on every rank.
"""

from __future__ import annotations

import random
from typing import Any, Callable, NamedTuple

import numpy as np
from older_numpy import VERSION

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

DTYPES = ("f8", "f8", "f4", "i8", "i8", "i4", "i2", "u1", "u8", "?", "c16", "f2", "c8")
MOVED = ("S3", "U2", "M8[D]", "m8[s]")


class Call(NamedTuple):
    """A function, and what it is called with."""

    function: Callable[..., Any]
    words: tuple[Any, ...]
    keywords: dict[str, Any]


class Draw(random.Random):
    """Draws arguments."""

    def shape(self, ndim: int | None = None) -> tuple[int, ...]:
        """Return extents, of which a few are 0."""
        dims = ndim if ndim is not None else self.choice([1, 1, 1, 2, 2, 2, 3])
        return tuple(self.choice([1, 2, 3, 3, 4, 5] if self.random() < 0.9 else [0, 1]) for _ in range(dims))

    def array(self, shape: Any = None, dtypes: Any = DTYPES) -> Array:
        """Return small numbers of any type, seldom with one that is special."""
        extents = self.shape() if shape is None else tuple(shape)
        dtype = np.dtype(dtypes if isinstance(dtypes, str) else self.choice(dtypes))
        count = int(np.prod(extents, dtype=int))
        numbers = np.array([self.choice([0, 1, 2, 3, 5, 7, -1, -2]) for _ in range(count)], np.int64)
        if dtype.kind in "uSU":
            numbers = np.abs(numbers)
        made = numbers.astype(dtype)
        if dtype.kind == "c":
            made += (1j * numbers[::-1]).astype(dtype)
        if dtype.kind == "f" and count and self.random() < 0.15:
            made[self.randrange(count)] = self.choice([np.nan, np.inf, -np.inf, 1.5, -0.5])
        return made.reshape(extents)

    def number(self) -> Any:
        """Return a number of Python's or NumPy's, or an array of no dimensions."""
        numbers = [0, 1, 2, -1, 1.5, -2.0, True, 1j, np.float32(2), np.int8(3), np.float64(1.5), 300, np.uint8(2)]
        return self.choice([*numbers, np.array(2.5), np.array(3)])

    def some(self, **drawn: Callable[[], Any]) -> dict[str, Any]:
        """Return some of the keywords."""
        return {name: draw() for name, draw in drawn.items() if self.random() < 0.35}

    def axis(self, ndim: int, none: bool = True) -> Any:
        """Return a dimension, seldom one that there is not."""
        if self.random() < 0.05:
            return self.choice([ndim, -ndim - 1])
        return self.choice([*range(-ndim, ndim), *([None] if none else [])])

    def dtype(self) -> Any:
        return self.choice(["f8", "f4", "i8", "i4", "u1", "?", "c16", "f2", float, int, complex, np.float32, np.int8])

    def casting(self) -> str:
        return self.choice(["no", "equiv", "safe", "same_kind", "unsafe"])

    def operands(self) -> list[Any]:
        """Return arrays, lists and numbers, most of which can be joined."""
        extents = self.shape(self.choice([1, 1, 2, 2, 3]))
        made: list[Any] = []
        for _ in range(self.randint(1, 4)):
            own = list(extents)
            if self.random() < 0.3:
                own[self.randrange(len(own))] = self.randint(0, 4)
            kind = self.random()
            made.append(self.number() if kind < 0.15 else self.array(own) if kind < 0.9 else self.array(own).tolist())
        return made


def concatenate(d: Draw) -> Call:
    given = d.operands()
    return Call(
        np.concatenate,
        (d.choice([list, tuple])(given),),
        d.some(axis=lambda: d.axis(np.ndim(given[0]) or 1), dtype=d.dtype, casting=d.casting),
    )


def concatenate_into(d: Draw) -> Call:
    given = [d.array(d.shape(1)) for _ in range(d.randint(1, 3))]
    out = d.array([sum(map(len, given)) + (d.random() < 0.1)])
    return Call(
        np.concatenate, (given,), {"out": out, **d.some(axis=lambda: d.choice([0, -1, None]), casting=d.casting)}
    )


def stack(d: Draw) -> Call:
    extents = d.shape()
    given = [d.array(extents) for _ in range(d.randint(1, 4))]
    if d.random() < 0.2:
        given[0] = d.choice([d.number(), d.array(extents).tolist()])
    return Call(
        np.stack, (given,), d.some(axis=lambda: d.axis(len(extents) + 1, False), dtype=d.dtype, casting=d.casting)
    )


def rows_and_columns(d: Draw) -> Call:
    function = d.choice([np.hstack, np.vstack, np.dstack, np.column_stack])
    typed = function in (np.hstack, np.vstack)
    return Call(function, (d.operands(),), d.some(dtype=d.dtype, casting=d.casting) if typed else {})


def append(d: Draw) -> Call:
    given = d.array()
    other = d.choice([d.number(), [1, 2, 3], d.array(given.shape), d.array()])
    both = (given, other) if d.random() < 0.8 else (other, given)
    return Call(np.append, both, d.some(axis=lambda: d.axis(given.ndim)))


def block(d: Draw) -> Call:
    height, width = d.randint(1, 3), d.randint(1, 3)
    table = [[d.array((height, width)), d.array((height, 2))], [d.array((2, width)), d.array((2, 2))]]
    lines = [[d.array(d.shape(1)), 1.5], [d.array(d.shape(1)), [1, 2]]]
    return Call(
        np.block, (d.choice([table, d.operands(), lines[:1], lines[1:], [[each] for each in d.operands()]]),), {}
    )


def broadcast_arrays(d: Draw) -> Call:
    extents = d.shape()
    given: list[Any] = []
    for _ in range(d.randint(1, 4)):
        own = [extent if d.random() < 0.6 else 1 for extent in extents][d.randrange(len(extents)) :]
        given.append(d.choice([d.array(own), d.array(own), d.array(own).tolist(), d.number()]))
    return Call(np.broadcast_arrays, (*given, d.array(extents)), d.some(subok=lambda: False))


def meshgrid(d: Draw) -> Call:
    given = [d.choice([d.array(d.shape(1)), d.array(), d.number(), [1.5, 2]]) for _ in range(d.randint(1, 3))]
    yes_or_no = lambda: d.random() < 0.5  # noqa: E731 - one of several draws
    return Call(
        np.meshgrid,
        tuple(given),
        d.some(indexing=lambda: d.choice(["xy", "ij", "zz"]), sparse=yes_or_no, copy=yes_or_no),
    )


def atleast(d: Draw) -> Call:
    given = [d.choice([d.array(), d.array(dtypes=MOVED), d.number(), [[1, 2], [3, 4]]]) for _ in range(d.randint(1, 3))]
    return Call(d.choice([np.atleast_1d, np.atleast_2d, np.atleast_3d]), tuple(given), {})


def questions(d: Draw) -> Call:
    a = d.array(dtypes=(*DTYPES, *MOVED))
    functions = [np.result_type, np.iscomplexobj, np.isrealobj, np.shape, np.ndim, np.min_scalar_type, np.common_type]
    function = d.choice(functions)
    if function is np.common_type:
        return Call(function, tuple(d.array() for _ in range(d.randint(1, 3))), {})
    if function is np.result_type:
        return Call(
            function, (*(d.choice([d.array(), d.dtype(), d.number()]) for _ in range(d.randint(0, 3))), d.array()), {}
        )
    return Call(function, (a,), {})


def size(d: Draw) -> Call:
    a = d.array()
    several = d.random() < 0.5 and VERSION >= "2.4.0"
    return Call(np.size, (a, tuple(range(a.ndim))[: d.randint(0, 3)] if several else d.axis(a.ndim)), {})


def like(d: Draw) -> Call:
    a = d.array(dtypes=(*DTYPES, *MOVED))
    keywords = d.some(
        dtype=lambda: d.choice([d.dtype(), str, "S", "U3", "M8[D]"]),
        shape=lambda: d.choice([3, (2, 2), (0,), [2, 3], -1, 1.5, a.shape]),
        order=lambda: d.choice("CFAKQ"),
    )
    values = [1, 2, -1, 1.5, True, np.float32(2), 300, "7", [1], d.array(a.shape[-1:]), d.array(), 2**40]
    function = d.choice([np.zeros_like, np.ones_like, np.full_like, np.full_like])
    return Call(function, (a, d.choice(values)) if function is np.full_like else (a,), keywords)


def made_beside(d: Draw) -> Call:
    """Draw functions that create arrays, called with like=."""
    names = ["zeros", "ones", "full", "arange", "eye", "identity", "tri", "asarray", "array", "ascontiguousarray"]
    name = d.choice(names)
    extents = d.choice([3, (2, 3), (0,), [2], -1])
    given: dict[str, list[Any]] = {
        "full": [(extents, d.choice([1.5, 3, [1], "ab", True]))],
        "arange": [(3,), (1, 4), (0, 1, 0.25), (5, 0, -2), (3, 1), (2, 8, 3)],
        "eye": [(3,), (2, 3), (3, 2, 1), (0,)],
        "tri": [(3,), (2, 3), (3, 2, 1)],
        "identity": [(0,), (3,)],
        **{each: [([1, 2],), ([[1.5], [2]],), (3,)] for each in names[-3:]},
    }
    function = getattr(np, name)
    keywords = d.some(dtype=d.dtype, ndmin=lambda: d.choice([0, 1, 3]))
    if name != "array":
        keywords.pop("ndmin", None)
    return Call(
        lambda c, *words, **named: function(*words, like=c if _is_container(c) else None, **named),
        (d.array(), *d.choice(given.get(name, [(extents,)]))),
        keywords,
    )


def _is_container(value: Any) -> bool:
    return not isinstance(value, np.ndarray)


def copies(d: Draw) -> Call:
    a = d.array()
    source = d.choice([d.number(), d.array(a.shape), d.array(a.shape[-1:]), [1, 2, 3], d.array((1, *a.shape))])
    masks = [True, False, d.array(a.shape, "?"), d.array(a.shape[-1:], "?"), d.array(a.shape, "i8")]

    def copied(to: Any, of: Any, **options: Any) -> Any:
        np.copyto(to, of, **options)
        return to

    return Call(copied, (a, source), d.some(casting=d.casting, where=lambda: d.choice(masks)))


def spaced(d: Draw) -> Call:
    extents = d.shape(d.choice([1, 1, 2]))
    a = np.abs(d.array(extents, d.choice(["f8", "i8", "f4"]))) + 1
    a = np.where(np.isfinite(a), a, 1).astype(a.dtype)
    ends = [a, d.choice([5, 10.0, a * 3, d.array(extents, "i8") ** 2 + 1, [4.0] * extents[-1]])]
    d.shuffle(ends)
    function = d.choice([np.linspace, np.logspace, np.geomspace])
    keywords = d.some(
        num=lambda: d.choice([0, 1, 2, 5, -1]),
        endpoint=lambda: False,
        dtype=lambda: d.choice(["f8", "f4", "c16"]),
        axis=lambda: d.choice([0, -1, 1]),
    )
    return Call(function, tuple(ends), keywords)


def triangles(d: Draw) -> Call:
    return Call(d.choice([np.tril, np.triu]), (d.array(),), d.some(k=lambda: d.choice([0, 1, -1, 5, -5])))


def half(d: Draw) -> Call:
    """Draw reductions in half precision."""
    functions = [np.sum, np.mean, np.prod, np.std, np.var, np.cumsum]
    a = d.array(dtypes=("f8", "f4", "i8", "u1", "f2", "?"))
    return Call(
        d.choice(functions), (np.where(np.isfinite(a), a, 1).astype(a.dtype), d.axis(a.ndim)), {"dtype": np.float16}
    )


def _widths(d: Draw, ndim: int, most: int = 4) -> Any:
    """Return what is said of both ends of each dimension."""
    pairs = [(d.randint(0, most), d.randint(0, most)) for _ in range(ndim)]
    return d.choice([d.randint(0, most), pairs[0], pairs, pairs, np.array(pairs).tolist()])


def pad(d: Draw) -> Call:
    keywords = {
        "constant": {"constant_values": lambda: d.choice([1.5, (1, 2), -1])},
        "linear_ramp": {"end_values": lambda: d.choice([1.5, (1, 2), 9])},
        "reflect": {"reflect_type": lambda: d.choice(["even", "odd"])},
        "symmetric": {"reflect_type": lambda: d.choice(["even", "odd"])},
        "edge": {},
        "wrap": {},
        **{
            mode: {"stat_length": lambda: d.choice([None, -2, 1, 1.5, (1, 3), 9])}
            for mode in ("maximum", "minimum", "mean", "median")
        },
    }
    mode = d.choice(sorted(keywords))
    ordered = ("f8", "f4", "i8", "i4", "u1", "f2")  # complex numbers have neither medians nor extremes here
    a = d.array(dtypes=ordered if mode in ("maximum", "minimum", "median") else (*ordered, "c16", "?"))
    return Call(np.pad, (a, _widths(d, a.ndim), mode), d.some(**keywords[mode]))


def repeated(d: Draw) -> Call:
    a = d.array(dtypes=(*DTYPES, *MOVED))
    axis = d.axis(a.ndim)
    inside = axis is not None and -a.ndim <= axis < a.ndim
    extent = a.shape[axis] if inside else a.size
    counts = [d.randint(0, 3) for _ in range(extent)]
    if d.random() < 0.4:
        return Call(np.tile, (a, d.choice([0, 2, (1, 2), (2, 1, 2), [2], -1])), {})
    return Call(np.repeat, (a, d.choice([0, 2, [2], counts, counts, counts[1:]])), {"axis": axis})


def splits(d: Draw) -> Call:
    a = d.array(dtypes=(*DTYPES, *MOVED))
    function = d.choice([np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit])
    keywords = d.some(axis=lambda: d.axis(a.ndim, False)) if function in (np.split, np.array_split) else {}
    return Call(function, (a, d.choice([1, 2, 2.0, 3, [1], [1, 2], [0, 3], (2, 1), [-1], []])), keywords)


def turned(d: Draw) -> Call:
    a = d.array()
    function = d.choice([np.fliplr, np.flipud, np.rot90, np.resize])
    if function is np.resize:
        return Call(function, (a, d.choice([0, 3, 7, (2, 3), (3, 0), [2, 2], (-1,), ()])), {})
    if function is np.rot90:
        return Call(function, (a,), d.some(k=lambda: d.randint(-2, 5), axes=lambda: d.choice([(1, 0), (0, -1), (0,)])))
    return Call(function, (a,), {})


def replaced_numbers(d: Draw) -> Call:
    a = d.array(dtypes=("f8", "f4", "c16", "i8", "f2"))
    values = lambda: d.choice([1, 2.5, d.array(a.shape, "f8"), d.array(a.shape[-1:], "f8"), [1.0]])  # noqa: E731
    keywords = d.some(nan=values, posinf=values, neginf=values, copy=lambda: d.random() < 0.5)
    return Call(
        np.nan_to_num, (a,), {word: 1.0 if np.isnan(value).any() else value for word, value in keywords.items()}
    )


def lines(d: Draw) -> Call:
    a = d.array(dtypes=("f8", "i8", "f4"))
    functions = [np.sum, np.sort, lambda line: line[:1], lambda line: [line.sum(), 1], lambda line: line.max() > 0]
    return Call(np.apply_along_axis, (d.choice(functions), d.axis(a.ndim, False), a), {})


def indices(d: Draw) -> Call:
    kinds = d.choice([np.ix_, np.ravel_multi_index])
    if kinds is np.ix_:
        given = [
            d.choice([d.array(d.shape(1), "i8"), d.array(d.shape(1), "?"), [1, 0], []]) for _ in range(d.randint(1, 3))
        ]
        return Call(np.ix_, (*given, d.array(d.shape(1), "i8")), {})
    extents = d.shape(2)
    of = tuple(
        np.abs(d.array((3,), "i8")) % max(extent, 1) if d.random() < 0.8 else d.randint(0, 4) for extent in extents
    )
    return Call(
        np.ravel_multi_index,
        ((*of, np.zeros(3, np.int64)), (*extents, 1)),
        d.some(mode=lambda: d.choice(["wrap", "clip"])),
    )


def days(d: Draw) -> Call:
    """Draw functions of days, of which both operands spread."""
    a = d.array(dtypes="M8[D]")
    other = d.choice([d.array(a.shape, "i8"), d.array(a.shape[-1:], "i8"), 3])
    if d.random() < 0.5:
        return Call(np.busday_offset, (a, other), {"roll": "forward"})
    return Call(np.busday_count, (a, d.choice([d.array(a.shape, "M8[D]"), d.array(a.shape[-1:], "M8[D]")])), {})


def clip(d: Draw) -> Call:
    a = d.array(dtypes=("f8", "f4", "i8", "u1", "?", "f2"))
    bound = lambda: d.choice([None, 1, 2.5, np.float32(1), d.array(a.shape[-1:], "f2"), d.array(a.shape, "i2")])  # noqa: E731
    return Call(np.clip, (a, bound(), bound()), {"out": d.array(a.shape)} if d.random() < 0.2 else {})


CALLS: dict[str, Callable[[Draw], Call]] = {
    draw.__name__: draw
    for draw in (
        concatenate,
        concatenate_into,
        stack,
        rows_and_columns,
        append,
        block,
        broadcast_arrays,
        meshgrid,
        atleast,
        questions,
        size,
        like,
        made_beside,
        copies,
        spaced,
        triangles,
        half,
        pad,
        repeated,
        splits,
        turned,
        replaced_numbers,
        lines,
        indices,
        days,
        clip,
    )
}
