"""The generator of random numbers: NumPy's distributions, whose numbers do not depend on the number of ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._native.arguments import integer
from ..comm import collectives
from ..exceptions import InvalidArgumentError
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from ..runtime.scheduler import blocking
from . import permutations
from .arguments import by_numpy, check_seed
from .distributions import Distributions
from .sized import chosen

if TYPE_CHECKING:
    from ..containers.sequences import DistributedVector
    from ..containers.types import Owned

Size = Any  # int | Sequence[int] | None

#: So many are made in some seconds. More are a mistake, and would take all memory first.
_MOST_CHILDREN = 2**20


class Generator(Distributions):
    """A source of random numbers that are the same for every number of ranks, and however they are divided.

    The methods are those of :class:`numpy.random.Generator`. With ``size`` they return a container: a
    :class:`~dtl.DistributedVector` of so many numbers, or a :class:`~dtl.DistributedTensor` of that shape. Without,
    they return one number, the same on every rank, and communicate nothing. Every rank makes the same calls in the
    same order.

    Parameters
    ----------
    ctx
        The ranks. Collective.
    seed
        A non-negative integer or a sequence of them, or a :class:`numpy.random.SeedSequence`; the same on every rank.
        None takes one from the operating system of rank 0.

    Raises
    ------
    InvalidTypeError
        If ctx is no context, or seed nothing to seed with. On every rank.
    InvalidArgumentError
        If seed is negative, or a list that holds itself. On every rank.
    CollectiveMismatchError
        If ranks pass different seeds.

    Notes
    -----
    Every method that takes ``size`` takes these keywords, too: ``partition``, ``block_size`` and ``grid``, as of
    :class:`~dtl.DistributedTensor`, and all but :meth:`choice` ``placement``: ``"host"``, or ``"disk"`` for numbers
    that are drawn to files, a block after the other. It is collective where it returns a container, and raises on every
    rank InvalidArgumentError and InvalidTypeError where NumPy raises ValueError and TypeError, and
    CollectiveMismatchError if ranks pass different arguments. Parameters of distributions are numbers, or NumPy arrays
    that are the same on every rank and spread over size; for parameters in containers, scale and shift what a standard
    distribution returned.

    Each call is a stream of its own, which is cut into blocks of 65,536 numbers. A rank draws the blocks that its part
    touches, each from its first number on; SFC64 starts in each of them where Philox says, which the seed, the call and
    the block choose. ``random``, ``uniform``, ``integers`` and indices are made of its words by loops of DTL's, and all
    other distributions by NumPy's. The numbers are not those of ``np.random.default_rng(seed)``. They stay the same as
    long as NumPy's distributions do, but until version 1.0 another version of DTL may draw others.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     rng = dtl.random.Generator(ctx, 7)
    ...     sample = rng.normal(10.0, 2.0, size=100_000)
    ...     print(sample.shape, round(float(sample.mean()), 1), round(float(sample.std()), 1))
    (100000,) 10.0 2.0
    """

    __module__ = "dtl.random"

    @collective
    def __init__(self, ctx: Context, seed: Any = None) -> None:
        check_context(ctx)
        if seed is None:
            own = np.random.SeedSequence().generate_state(4, np.uint32)
            seed = collectives.broadcast(ctx, own, 0).tolist()
        check_seed(seed)
        sequence = seed if isinstance(seed, np.random.SeedSequence) else by_numpy(np.random.SeedSequence, seed)
        agree(ctx, "Generator", f"seed {sequence.entropy}, spawn_key {sequence.spawn_key}")
        self._begin(ctx, sequence)

    @property
    def context(self) -> Context:
        """The ranks."""
        return self._context

    def __repr__(self) -> str:
        return f"Generator(seed {self._seed.entropy}, spawn_key {self._seed.spawn_key}, {self._calls} calls)"

    @blocking
    def spawn(self, n_children: int) -> list[Generator]:
        """Return new generators, which are independent of this one and of each other. Collective.

        Parameters
        ----------
        n_children
            How many, at most 2**20 at a time; the same on every rank.

        Raises
        ------
        InvalidTypeError, InvalidArgumentError
            If n_children is no integer, or negative, or too large. On every rank.
        CollectiveMismatchError
            If ranks ask for different numbers of them.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     one, other = dtl.random.Generator(ctx, 1).spawn(2)
        ...     one.random() == other.random()
        False
        """
        number = integer("n_children", n_children)
        if number < 0:
            raise InvalidArgumentError(f"n_children {number} is negative")
        if number > _MOST_CHILDREN:
            raise InvalidArgumentError(f"n_children {number} outside [0, {_MOST_CHILDREN}]: spawn them in turns")
        agree(self._context, "spawn", f"{number} of {self!r}")
        return [self._child(seed) for seed in self._seed.spawn(number)]

    def _child(self, seed: np.random.SeedSequence) -> Generator:
        made = Generator.__new__(Generator)
        made._begin(self._context, seed)
        return made

    @blocking
    def bytes(self, length: int) -> bytes:
        """Return random bytes, the same on every rank. Communicates nothing."""
        return bytes(by_numpy(self._streams.at(self._next()).bytes, length))

    @chosen
    @blocking
    def choice(
        self,
        /,
        a: Any,
        size: Size = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
        **divided: Any,
    ) -> Any:
        """Draw elements, each as likely as the others or with given probabilities. Collective.

        Parameters
        ----------
        a
            What to draw from: an integer n for the numbers [0, n), a container, whose elements or rows they are, or a
            NumPy array that is the same on every rank.
        size
            How many, or the shape of the result; None for one.
        replace
            Whether an element can be drawn more than once.
        p
            The probability of each, as a NumPy array that is the same on every rank; None for all alike.
        axis
            The dimension of a to draw along.
        shuffle
            Accepted as NumPy does; elements drawn without replacement always come in a random order.

        Returns
        -------
        container, scalar or ndarray
            The elements; without size, one of them, the same on every rank.

        Raises
        ------
        InvalidArgumentError
            If there is nothing to draw from, fewer elements than are drawn without replacement, or p does not fit.

        Notes
        -----
        Many without replacement are the first of all, sorted by a random number each, which with p is divided by the
        probability (Efraimidis and Spirakis 2006). Without p, only those with small numbers are sorted. From a
        container of several dimensions, rows are drawn, which move in two exchanges. Of a container on disk, with a
        limit of memory, the result is on disk, too: indices and, without replacement, the random numbers that order
        them are written to files, and rows are taken by ranges, as in ``np.take``. p and its sums are in memory.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     drawn = dtl.random.Generator(ctx, 3).choice(1000, size=1000, replace=False)
        ...     int(drawn.sum()) == sum(range(1000))
        True
        """
        return permutations.choice(self, a, size, replace, p, axis, divided)

    @overload
    def permutation(self, x: int, axis: int = ..., **divided: Any) -> DistributedVector: ...
    @overload
    def permutation(self, x: Owned, axis: int = ..., **divided: Any) -> Owned: ...
    @overload
    def permutation(self, x: Any, axis: int = ..., **divided: Any) -> Any: ...
    @blocking
    def permutation(self, x: Any, axis: int = 0, **divided: Any) -> Any:
        """Return the numbers [0, x) in a random order, or a copy of a container with its rows in one. Collective.

        Each order is as likely as the others, but for random numbers of 40 bits or more that are equal by chance.

        Parameters
        ----------
        x
            An integer, or a container.
        axis
            The dimension of a container along which the order changes.

        Examples
        --------
        >>> import dtl
        >>> with dtl.Context() as ctx:
        ...     order = dtl.random.Generator(ctx, 3).permutation(5)
        ...     print(sorted(order[...].gather_to().tolist()))
        [0, 1, 2, 3, 4]
        """
        return permutations.permutation(self, x, axis, divided)

    @overload
    def permuted(self, x: Owned, *, axis: int | None = ..., out: None = ...) -> Owned: ...
    @overload
    def permuted(self, x: Any, *, axis: int | None = ..., out: Any = ...) -> Any: ...
    @blocking
    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        """Return a copy of a container whose elements are in a random order along a dimension. Collective.

        Unlike :meth:`permutation`, which moves whole rows, it gives each line an order of its own.

        Parameters
        ----------
        x
            A container.
        axis
            The dimension along which the order changes; None for one order of all elements.
        out
            A container of the same shape to write to, which may be x; None for a new one, divided like x.

        Raises
        ------
        InvalidTypeError
            If x or out is no container. On every rank.
        InvalidArgumentError
            If the shape of out is another one. On every rank.
        BoundsError
            If there is no such dimension. On every rank.

        Examples
        --------
        >>> import dtl, numpy as np
        >>> with dtl.Context() as ctx:
        ...     table = dtl.asarray(ctx, np.arange(6).reshape(2, 3))
        ...     mixed = dtl.random.Generator(ctx, 3).permuted(table, axis=1)
        ...     print(np.sort(mixed, axis=1).gather_to().tolist())
        [[0, 1, 2], [3, 4, 5]]
        """
        return permutations.permuted(self, x, axis, out)

    @blocking
    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Put the elements of a vector, or the rows of a tensor, in a random order, in place. Collective.

        Parameters
        ----------
        x
            A container.
        axis
            The dimension along which the order changes.

        Raises
        ------
        InvalidTypeError
            If x is no container. On every rank.
        BoundsError
            If there is no such dimension. On every rank.
        MemoryError
            If a rank has no room for another copy of its part. On every rank.
        """
        permutations.shuffle(self, x, axis)
