"""Where random numbers come from: calls that are numbered, agreed on, and drawn in blocks into containers."""

from __future__ import annotations

import functools
import math
from operator import attrgetter
from typing import Any, Callable, Sequence

import numpy as np

from .._native.kinds import computed_number, fingerprint
from .._native.library import bridge
from .._native.objects import size_of
from ..containers import cached_windows
from ..containers.base import DistributedContainer, linear_indices
from ..containers.indexing.regions import move_all
from ..containers.interior import in_blocks
from ..containers.layout import BLOCK, REPLICATED, Division, integers
from ..containers.making import adopt_native, created, family_of
from ..containers.owning import spec_of
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition, Placement
from ..runtime.agreement import agree
from ..runtime.context import Context
from ..runtime.scheduler import call_in_turn
from . import streams
from .arguments import by_numpy, check_below_one, check_outcomes, parameter, target_of

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Size = Any  # int | Sequence[int] | None

#: The dtype of most numbers.
FLOAT64 = np.dtype(np.float64)

# Looked up once, for Source.units.
_VECTOR, _FLOATS, _ROWS = family_of(DistributedVector), computed_number(FLOAT64), streams.BLOCK
_call, _DRAW, _new = bridge.call, bridge.DRAW, DistributedVector.__new__
_SORT, _LEAST, _WIDTH = streams.UNIT

#: The distributions that NumPy writes to an array that it is given.
_WITH_OUT = ("standard_normal", "standard_exponential", "standard_gamma")

#: The distributions that are another one of these times a number, the last parameter, plus another, the first of two.
_SCALED = {"exponential": "standard_exponential", "normal": "standard_normal"}

#: The distributions that draw rows of numbers.
_OF_ROWS = ("dirichlet", "multinomial", "multivariate_hypergeometric", "multivariate_normal")

#: Whom NumPy is asked by what it says of the arguments of a distribution.
_ASKED = np.random.Generator(np.random.SFC64(0))

#: What writes numbers, or rows of numbers, to an array: those from the index on that is given.
Fill = Callable[[Array, int], None]


class Source:
    """What a generator draws from: the ranks, the seed, and how many calls there have been."""

    _context: Context
    _seed: np.random.SeedSequence

    def _begin(self, ctx: Context, seed: np.random.SeedSequence) -> None:
        self._context, self._seed = ctx, seed
        self._streams = streams.Streams(self._context, self._seed)
        self._calls = 0

    def _next(self) -> int:
        """Return the number of a call, which is that of its stream."""
        self._calls += 1
        return self._calls

    def _draw(
        self,
        name: str,
        args: tuple[Any, ...],
        size: Size,
        divided: dict[str, Any],
        options: dict[str, Any] | None = None,
    ) -> Any:
        """Return numbers, or rows, of one of NumPy's distributions: a container, or a scalar or a row without size."""
        draws = Source._rows if name in _OF_ROWS else Source._numbers
        return call_in_turn(draws, (self, name, args, size, divided, options or {}), {}, name)

    def _numbers(
        self, name: str, args: tuple[Any, ...], size: Size, divided: dict[str, Any], options: dict[str, Any]
    ) -> Any:
        wanted, placed = target_of(divided)
        args = tuple([parameter(value) for value in args])
        arrays = any([value.__class__ is np.ndarray for value in args])
        if name == "logseries":
            check_below_one("p", args[0])
        shape = None if size is None else integers("size", size)
        call = self._next()
        if arrays or not shape:
            f = getattr(self._streams.at(call), name)
            sample = by_numpy(f, *args, size=None, **options)
            if shape is None and arrays:
                shape = np.shape(sample)
            if not shape and not np.shape(sample):
                return sample
            dtype = np.asarray(sample).dtype
            if shape is None or _spread(np.shape(sample), shape) != shape:
                raise InvalidArgumentError(
                    f"Output size {shape} is not compatible with broadcast dimensions of inputs {np.shape(sample)}."
                )
            given = None
        else:
            dtype = drawn_dtype(name, args, options)
            given = _range(name, args, options)
        if given is not None and not placed:
            return self.drawn(name, call, shape, dtype, wanted, given)
        words = self._words(name, call, shape, (*args, *options.values()))

        if given is not None:
            return self.made(call, shape, dtype, wanted, self.in_range(call, given), words=words, **placed)

        def draw(generator: np.random.Generator, first: int, number: int) -> Array:
            if arrays:
                own = [np.broadcast_to(value, shape).flat[first : first + number] for value in args]
                return np.asarray(getattr(generator, name)(*own, **options))
            return np.asarray(getattr(generator, name)(*args, size=number, **options))

        def draw_into(generator: np.random.Generator, out: Array) -> None:
            if name in _SCALED:
                getattr(generator, _SCALED[name])(out=out)
                out *= float(args[-1])
                if len(args) > 1:
                    out += float(args[0])
            else:
                getattr(generator, name)(*args, out=out, **options)

        into = draw_into if not arrays and (name in _WITH_OUT or name in _SCALED) else None
        fill = self.by_numpy(call, draw, draw_into=into)
        return self.made(call, shape, dtype, wanted, fill, words=words, **placed)

    def _rows(
        self, name: str, args: tuple[Any, ...], size: Size, divided: dict[str, Any], options: dict[str, Any]
    ) -> Any:
        wanted, placed = target_of(divided)
        args = tuple(parameter(value) for value in args)
        if name == "multinomial":
            check_outcomes("pvals", args[1])
        shape = () if size is None else integers("size", size)
        call = self._next()
        sample = by_numpy(getattr(self._streams.at(call), name), *args, **options)
        if np.ndim(sample) != 1:
            raise InvalidArgumentError(f"{name} draws from one distribution here, not from {np.shape(sample)[:-1]}")
        if not shape:
            return sample
        words = self._words(name, call, shape, (*args, *options.values()))
        if name == "multivariate_normal":
            mean, root = (
                np.asarray(args[0], np.float64),
                _square_root(np.asarray(args[1], np.float64), options["method"]),
            )

        def draw(generator: np.random.Generator, first: int, number: int) -> Array:
            if name == "multivariate_normal":
                return generator.standard_normal((number, len(mean))) @ root + mean
            return np.asarray(getattr(generator, name)(*args, size=number, **options))

        fill = self.by_numpy(call, draw, len(sample), math.prod(shape))
        return self.made(call, shape, sample.dtype, wanted, fill, sample.shape, words, **placed)

    def _words(self, name: str, call: int, shape: tuple[int, ...], arguments: Sequence[Any]) -> str:
        """Return what the ranks agree on before they draw: the name of a call, a space, and its arguments."""
        if size_of(self._context) == 1:
            return ""  # nobody to agree with: it takes microseconds to write
        said = [
            f"an array with fingerprint {fingerprint(v)}" if isinstance(v, np.ndarray) else repr(v) for v in arguments
        ]
        return f"{name} size {shape}, draw {call} from seed {self._seed.entropy}: {', '.join(said)}"

    def _agree(self, name: str, call: int, shape: tuple[int, ...], arguments: Sequence[Any]) -> None:
        """Raise on every rank if ranks draw differently."""
        name, _, words = self._words(name, call, shape, arguments).partition(" ")
        if name:
            agree(self._context, name, words)

    def by_numpy(
        self,
        call: int,
        draw: streams.Draw,
        width: int = 1,
        total: int | None = None,
        draw_into: streams.DrawInto | None = None,
    ) -> Fill:
        """Return what fills rows with the numbers of a call that NumPy draws, of which each row has so many.

        With total, the number of all rows, blocks are drawn to their end.
        """
        block = max(streams.BLOCK // max(width, 1), 1)
        return lambda out, start: streams.fill(self._streams, call, draw, out, start, block, total, draw_into)

    def in_range(self, call: int, numbers: streams.Range) -> Fill:
        """Return what fills an array with the numbers of a call that the core draws."""
        return lambda out, start: streams.fill_range(self._context, self._streams, call, numbers, out, start)

    def units(self, size: int) -> Any:
        """Return a vector of floats in [0, 1), which is drawn most often: what drawn does, in less time. Collective."""
        self._calls = call = self._calls + 1
        ctx = self._context
        if size_of(ctx) > 1 or cached_windows.kept:
            return self.drawn("random", call, (size,), FLOAT64, BLOCK, streams.UNIT)
        first, second = self._streams.key
        spec = (_VECTOR, _FLOATS, 1, size, 0, 0, 0, -1, 0, first, second, call, _ROWS)
        handle = _call(_DRAW, ctx, None, None, _SORT, _LEAST, _WIDTH, 0, spec)
        result = _new(DistributedVector)
        adopt_native(result, handle, ctx, FLOAT64, 1, BLOCK)
        return result

    def drawn(
        self, name: str, call: int, shape: tuple[int, ...], dtype: Any, divided: Division, numbers: streams.Range
    ) -> Any:
        """Return a container of the numbers of a call that the core draws. Collective."""
        ctx = self._context
        several = size_of(ctx) > 1
        if several and not follow(ctx, divided):
            between = REPLICATED if math.prod(shape) <= streams.BLOCK else BLOCK
            result = _container(ctx, shape, dtype, divided)
            with self.drawn(name, call, shape, dtype, between, numbers) as lines:
                _scatter(result, lines)
            return result
        if cached_windows.kept:
            cached_windows.end_unused(ctx, name)
        kind: Any = DistributedVector if len(shape) == 1 else DistributedTensor
        spec = spec_of(family_of(kind), computed_number(dtype), shape, divided) + self._streams.call(call)
        said = name.encode() if several else None
        sort, least, width = numbers
        handle = bridge.draw(ctx, said, sort, least, width, spec)
        result = kind.__new__(kind)
        adopt_native(result, handle, ctx, dtype, len(shape), divided)
        return result

    def made(
        self,
        call: int,
        shape: tuple[int, ...],
        dtype: Any,
        divided: Division,
        fill: Fill,
        row: tuple[int, ...] = (),
        words: str = "",
        placement: Placement = Placement.HOST,
    ) -> Any:
        """Return a container of the numbers of a call, or of rows of a shape, which fill writes. Collective.

        Words are what the ranks agree on before.
        """
        ctx, whole = self._context, (*shape, *row)
        result = _container(ctx, whole, dtype, divided, words, placement)
        if follow(ctx, divided):
            _fill_part(result, len(shape), fill)
            return result
        between = REPLICATED if math.prod(whole) <= streams.BLOCK else BLOCK
        with created(DistributedTensor, ctx, whole, dtype, between, placement, blank=True) as lines:
            _fill_part(lines, len(shape), fill)
            _scatter(result, lines)
        return result


def _container(
    ctx: Context,
    shape: tuple[int, ...],
    dtype: Any,
    divided: Division,
    words: str = "",
    placement: Placement = Placement.HOST,
) -> Any:
    kind: Any = DistributedVector if len(shape) == 1 else DistributedTensor
    return created(kind, ctx, shape, dtype, divided, placement, blank=True, words=words)


def _fill_part(c: DistributedContainer, dims: int, fill: Fill) -> None:
    """Let fill write this rank's rows of a container, all but the first dims dimensions of which are those of a row."""
    part = c.local_view()
    start = 0 if c.partition_policy is Partition.REPLICATED else before(c, dims)
    rows = part if part.ndim == dims == 1 else part.reshape(-1, *part.shape[dims:])
    for some in in_blocks(rows):
        fill(rows[some], start + (some.start or 0))


def _scatter(to: DistributedContainer, lines: DistributedContainer) -> None:
    """Move all elements to a container that is divided otherwise, unless each rank has them all. Collective."""
    if lines.partition_policy is Partition.REPLICATED:
        to.local_view()[...] = lines.local_view().reshape(-1)[linear_indices(to)]
    else:
        move_all(to, lines)


@functools.lru_cache(maxsize=256, typed=True)
def _known_dtype(name: str, *args: Any, **options: Any) -> np.dtype[Any]:
    return np.asarray(by_numpy(getattr(_ASKED, name), *args, size=1, **options)).dtype


def drawn_dtype(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> np.dtype[Any]:
    """Return the dtype of which one of NumPy's distributions draws, or raise what NumPy says of the arguments."""
    try:
        return _known_dtype(name, *args, **options)
    except InvalidTypeError:
        raise
    except TypeError:  # an argument has no hash
        return _known_dtype.__wrapped__(name, *args, **options)


def _range(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> streams.Range | None:
    """Return the range of a distribution that the core draws; None for the others. NumPy has seen the arguments."""
    if name == "random":
        return streams.UNIT
    if name == "uniform":
        low, high = float(args[0]), float(args[1])
        return streams.floats(low, high - low)
    if name == "integers" and all([isinstance(value, (int, np.integer)) for value in args]):
        low, high = (0, *map(int, args))[-2:]
        return streams.integers(low, high if options["endpoint"] else high - 1)
    return None


def _spread(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the shape that two shapes spread to; None if they do not fit."""
    try:
        return np.broadcast(np.broadcast_to(0, one), np.broadcast_to(0, other)).shape
    except ValueError:
        return None


def follow(ctx: Context, divided: Division) -> bool:
    """Say whether each rank's elements follow each other in the order of all, if a container is divided like that."""
    if size_of(ctx) == 1 or divided.partition in (Partition.EXPLICIT, Partition.REPLICATED):
        return True
    return divided.partition is Partition.BLOCK and (divided.grid is None or divided.grid[0] == size_of(ctx))


def before(c: DistributedContainer, dims: int) -> int:
    """Return how many numbers come before this rank's first, in rows of all but the first dims dimensions."""
    if size_of(c.context) == 1:
        return 0
    return c.local_offset * math.prod(c.shape[1:dims])


def _square_root(cov: Array, method: str) -> Array:
    """Return a matrix whose product with its transpose, from the left, is a covariance matrix."""
    if method == "cholesky":
        return np.linalg.cholesky(cov).T
    if method == "eigh":
        values, vectors = np.linalg.eigh(cov)
        return (vectors * np.sqrt(np.abs(values))).T
    _, values, vectors = np.linalg.svd(cov)
    return np.sqrt(values)[:, np.newaxis] * vectors


# What functions on generators in other modules ask of one.

#: The number of the next call, which is that of its stream.
next_call = Source._next

#: Has the ranks agree on a call, from (source, name, call, shape, given).
agree_on = Source._agree

_streams_of: Callable[[Source], streams.Streams] = attrgetter("_streams")


def stream_of(source: Source, call: int) -> np.random.Generator:
    """Return NumPy's generator of the stream of a call, the same on every rank."""
    generator: np.random.Generator = _streams_of(source).at(call)
    return generator
