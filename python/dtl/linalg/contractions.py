"""Sums of products along any dimensions: Einstein's notation, and what is said in it.

One dimension of the operands is divided among the ranks. An operand that has it lies so, and one that has it not is
copied to every rank, where the others would take more to move. NumPy does the rest on each rank.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any, Sequence, overload

import numpy as np

from .._native.arguments import integer
from .._native.callsite import by_user
from .._native.kinds import fingerprint, kind_of
from .._native.objects import refuse_closed
from .._native.threads import threads
from .._native.values import array_from
from ..algorithms.exchange import share
from ..algorithms.layouts import container_of, dimensions, redivided
from ..algorithms.rows import has_rows, transposed
from ..algorithms.wider_types import is_widened, multiplied_in_wider
from ..comm import reductions
from ..containers import folded_lines, one_rank
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import division_of, is_limited, is_where_divided
from ..containers.layout import REPLICATED, Division, integers
from ..containers.making import placed_first, result_placement
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition, Placement
from ..runtime.agreement import local_step
from ..runtime.scheduler import algorithm
from . import pieces, summa
from .array_products import multiplied
from .matrix_arguments import everywhere

if TYPE_CHECKING:
    from ..containers.sequences import OneDimensional
    from ..containers.tensor import DistributedTensor

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: From so many bytes on, a matrix is multiplied by SUMMA rather than copied to every rank.
_LARGE = 64 << 20


@algorithm
def einsum(subscripts: str, *operands: Any) -> Any:
    """Return the sum of products that a formula says, as ``numpy.einsum`` does. Collective.

    Parameters
    ----------
    subscripts
        The formula: ``"ij,jk->ik"`` is a product of matrices. Without ``->``, what occurs once is kept, in alphabetic
        order. ``...`` stands for dimensions that spread.
    operands
        Containers, divided in any way, at least one of them; and NumPy arrays that are the same on every rank.

    Returns
    -------
    container or scalar
        Divided by blocks along the dimension that takes the least to move. Where that is summed over, as in
        ``"ij,ik->jk"`` of matrices that are divided by rows, on every rank (PARTITION_REPLICATED): nothing moves but
        sums. A NumPy scalar if there is no dimension left.

    Raises
    ------
    InvalidTypeError
        If none of the operands is a container, or subscripts no text. On every rank.
    InvalidArgumentError
        If the formula does not fit the operands. On every rank.
    MemoryError
        If a rank has no room for a copy of the smaller operand, or the result. On every rank.

    Notes
    -----
    More than two operands are multiplied two at a time, in the order that ``numpy.einsum_path`` finds.
    With a limit of memory, what is on disk is multiplied in pieces, of which 4 MiB are there with what is made of them:
    each operand is read once for each piece of the dimensions that it has not, and the result written once.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     x = dtl.DistributedTensor.from_numpy(ctx, np.arange(6.0).reshape(3, 2))
    ...     print(dtl.einsum("ij,ik->jk", x, x).local_view().tolist())
    [[20.0, 26.0], [26.0, 35.0]]
    """
    found = one_rank.inner_products(subscripts, operands)
    if found is not None:
        return found
    known = next((value for value in operands if isinstance(value, DistributedContainer)), None)
    if known is None:
        raise InvalidTypeError("einsum: none of the operands is a distributed container")
    with local_step(known.context, "einsum"):
        if not isinstance(subscripts, str):
            raise InvalidTypeError(f"subscripts must be a text, not {subscripts!r}")
        given = _operands(operands)
    arrays = [fingerprint(value) for value in given if isinstance(value, np.ndarray)]
    share(known, "einsum", f"{subscripts} {arrays}", also=[c for c in given if not isinstance(c, np.ndarray)])
    return contracted(subscripts, given)


def _operands(values: Sequence[Any]) -> list[Any]:
    given: list[Any] = []
    for value in values:
        if isinstance(value, DistributedContainer):
            refuse_closed(value)
            given.append(value)
        else:
            given.append(array_from("an operand", value))
            if not kind_of(given[-1].dtype).is_number:
                raise InvalidTypeError(f"an operand must be a container or an array of numbers, not {value!r}")
    return given


@algorithm
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Return the sum of products along some dimensions of two containers, as ``numpy.tensordot`` does. Collective.

    Parameters
    ----------
    a, b
        Containers, divided in any way; one of them may be a NumPy array that is the same on every rank.
    axes
        How many of the last dimensions of a go with as many of the first of b; or the dimensions of a, and those of b
        that go with them: ``tensordot(x, x, (0, 0))`` is X.T @ X, for which no row of x moves.

    Returns
    -------
    container or scalar
        As of :func:`einsum`.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError, BoundsError
        If neither is a container, or the dimensions do not fit. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     x = dtl.DistributedTensor.from_numpy(ctx, np.arange(6.0).reshape(3, 2))
    ...     print(dtl.tensordot(x, x, (0, 0)).local_view().tolist())
    [[20.0, 26.0], [26.0, 35.0]]
    """
    known = _known("tensordot", a, b)
    with local_step(known.context, "tensordot"):
        given = _operands((a, b))
        left, right = _pairs(axes, given[0].ndim, given[1].ndim)
        if given[0].ndim + given[1].ndim - len(left) > len(string.ascii_letters):
            raise InvalidArgumentError("too many dimensions")
        if any(given[0].shape[i] != given[1].shape[j] for i, j in zip(left, right)):
            raise InvalidArgumentError("shape-mismatch for sum")
    letters = iter(string.ascii_letters)
    names = [next(letters) for _ in range(given[0].ndim)]
    others = [names[left[right.index(j)]] if j in right else next(letters) for j in range(given[1].ndim)]
    kept = [n for i, n in enumerate(names) if i not in left] + [n for j, n in enumerate(others) if j not in right]
    formula = f"{''.join(names)},{''.join(others)}->{''.join(kept)}"
    _share(known, "tensordot", formula, given)
    return contracted(formula, given)


def _pairs(axes: Any, first: int, second: int) -> tuple[list[int], list[int]]:
    axes = axes[()] if isinstance(axes, np.ndarray) and not axes.ndim else axes
    if isinstance(axes, (int, np.integer)):
        number = int(axes)
        if not 0 <= number <= min(first, second):
            raise InvalidArgumentError(f"axes {number} outside [0, {min(first, second)}]")
        return list(range(first - number, first)), list(range(number))
    if not isinstance(axes, (list, tuple, np.ndarray)):
        text = f"axes must be a number, or the dimensions of a and those of b, not of type {type(axes).__name__}"
        raise InvalidTypeError(text)
    pair = list(axes)
    if len(pair) != 2:
        raise InvalidArgumentError(f"axes {axes!r} must be a number, or the dimensions of a and those of b")
    left, right = integers("axes", pair[0]), integers("axes", pair[1])
    if len(left) != len(right):
        raise InvalidArgumentError("shape-mismatch for sum")
    dimensions(left, first)
    dimensions(right, second)
    return [d % first for d in left], [d % second for d in right]


def _known(op: str, a: Any, b: Any) -> DistributedContainer:
    known = a if isinstance(a, DistributedContainer) else b
    check_container("a", known)
    return known


def _share(known: Any, op: str, words: str, given: Sequence[Any]) -> None:
    arrays = [fingerprint(value) for value in given if isinstance(value, np.ndarray)]
    share(known, op, f"{words} {arrays}", also=[c for c in given if not isinstance(c, np.ndarray)])


@algorithm
def vecdot(x1: Any, x2: Any, *, axis: int = -1) -> Any:
    """Return the inner products of vectors along a dimension, those of the first conjugated. Collective.

    Parameters
    ----------
    x1, x2
        Containers whose other dimensions spread; one of them may be a NumPy array that is the same on every rank.
    axis
        The dimension of the vectors, counted from the end: it is negative.

    Returns
    -------
    container or scalar
        As of :func:`einsum`.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError, BoundsError
        If neither is a container, or the shapes do not fit. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     x = dtl.DistributedTensor.from_numpy(ctx, np.array([[1.0, 2.0], [3.0, 4.0]]))
    ...     print(dtl.vecdot(x, x)[...].gather_to())
    [ 5. 25.]
    """
    known = _known("vecdot", x1, x2)
    with local_step(known.context, "vecdot"):
        given = _operands((x1, x2))
        places = [dimensions(integer("axis", axis), value.ndim)[0] for value in given]
        if given[0].shape[places[0]] != given[1].shape[places[1]]:
            raise InvalidArgumentError(
                f"vecdot: shapes {given[0].shape} and {given[1].shape} differ in the extents along axis {axis}"
            )
    others = string.ascii_lowercase[: max(value.ndim for value in given) - 1]
    terms = []
    for value, place in zip(given, places):
        rest = others[len(others) - value.ndim + 1 :]
        terms.append(f"{rest[:place]}Z{rest[place:]}")
    formula = f"{','.join(terms)}->{others}"
    _share(known, "vecdot", formula, given)
    given[0] = kind_of(given[0].dtype).conjugated(given[0])
    return contracted(formula, given)


@overload
def outer(a: OneDimensional, b: Any) -> DistributedTensor: ...
@overload
def outer(a: Any, b: Any) -> Any: ...
@algorithm
def outer(a: Any, b: Any) -> Any:
    """Return the products of each element of one vector with each of another. Collective.

    Parameters
    ----------
    a, b
        Containers of one dimension; one of them may be a NumPy array that is the same on every rank.

    Returns
    -------
    container
        Of shape ``(len(a), len(b))``, divided by blocks along the longer one.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError
        If neither is a container, or one has not one dimension. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     x = dtl.DistributedVector.from_numpy(ctx, np.array([1.0, 2.0]))
    ...     print(dtl.outer(x, x)[...].gather_to().tolist())
    [[1.0, 2.0], [2.0, 4.0]]
    """
    known = _known("outer", a, b)
    with local_step(known.context, "outer"):
        given = _operands((a, b))
        for name, value in zip("ab", given):
            if value.ndim != 1:
                raise InvalidArgumentError(f"{name} of shape {value.shape} must have 1 dimension")
    _share(known, "outer", "", given)
    return contracted("i,j->ij", given)


def contracted(subscripts: str, operands: Sequence[Any]) -> Any:
    """Return what ``einsum`` does of operands that are known to be the same on every rank. Collective."""
    if any(map(is_widened, operands)):
        return multiplied_in_wider(lambda *wider: contracted(subscripts, wider), *operands)
    known = next(value for value in operands if isinstance(value, DistributedContainer))
    dtype = np.result_type(*(value.dtype for value in operands))
    with local_step(known.context, "einsum"):
        terms, result = read(subscripts, [value.shape for value in operands])
        path = _path(terms, result, operands)
    values = list(operands)
    made: list[Any] = []
    for chosen in path:
        parts = [(values[k], terms[k]) for k in chosen]
        for k in sorted(chosen, reverse=True):
            del values[k], terms[k]
        wanted = result if not values else _needed([term for _, term in parts], terms, result)
        new = _pair(known, parts, wanted, dtype)
        for value, _ in parts:
            if any(value is each for each in made):
                value.close()
        if isinstance(new, DistributedContainer) and values:
            made.append(new)
        values.append(new if isinstance(new, DistributedContainer) else np.asarray(new))
        terms.append(wanted)
    if isinstance(values[0], DistributedContainer):
        return values[0]
    return everywhere(known, values[0]) if result else values[0][()]


def read(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> tuple[list[str], str]:
    """Return the letters of each operand's dimensions, and of the result's."""
    text = subscripts.replace(" ", "")
    left, arrow, result = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise InvalidArgumentError(f"{subscripts!r} has {len(terms)} operands, but there are {len(shapes)}")
    used = set(text)
    free = [letter for letter in string.ascii_letters if letter not in used]
    widest = 0
    for k, (term, shape) in enumerate(zip(terms, shapes)):
        if "..." in term:
            number = len(shape) - (len(term) - 3)
            if number < 0 or number > len(free):
                raise InvalidArgumentError(f"einstein sum subscripts string {term!r} does not fit shape {shape}")
            widest = max(widest, number)
            terms[k] = term.replace("...", "".join(free[:number][::-1]))
        if len(terms[k]) != len(shape) or not set(terms[k]) <= set(string.ascii_letters):
            raise InvalidArgumentError(f"einstein sum subscripts string {term!r} does not fit shape {shape}")
    spread = "".join(free[:widest][::-1])
    every = "".join(terms)
    if arrow:
        if spread and "..." not in result:
            raise InvalidArgumentError(f"output of {subscripts!r} has no ... for the dimensions that ... stands for")
        result = result.replace("...", spread)
    else:
        result = spread + "".join(sorted(letter for letter in set(every) - set(spread) if every.count(letter) == 1))
    if not set(result) <= set(every) or len(set(result)) < len(result):
        raise InvalidArgumentError(
            f"einstein sum subscripts string has output {result!r}, which its input does not give"
        )
    _check_extents(subscripts, terms, shapes)
    return terms, result


def _check_extents(subscripts: str, terms: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> None:
    """Refuse operands whose extents of a letter differ: within one, or between two where neither is 1."""
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes):
        for letter, extent in zip(term, shape):
            if shape[term.index(letter)] != extent:
                raise InvalidArgumentError(
                    f"operand of {subscripts!r} has extents {shape[term.index(letter)]} and {extent} for {letter!r}"
                )
            known = sizes.setdefault(letter, extent)
            if known == 1:
                sizes[letter] = extent
            elif extent not in (1, known):
                raise InvalidArgumentError(
                    f"operands of {subscripts!r} have extents {known} and {extent} for {letter!r}"
                )


def _path(terms: Sequence[str], result: str, operands: Sequence[Any]) -> list[tuple[int, ...]]:
    """Return which operands are multiplied in turn, two at a time."""
    if len(operands) <= 2:
        return [tuple(range(len(operands)))]
    stand_ins = [np.broadcast_to(np.zeros((), value.dtype), value.shape) for value in operands]
    found = np.einsum_path(f"{','.join(terms)}->{result}", *stand_ins, optimize="greedy")[0][1:]
    path: list[tuple[int, ...]] = []
    number = len(operands)
    for step in found:
        chosen = list(step)
        while len(chosen) > 2:  # what NumPy would multiply at once, the last two first
            pair = (chosen.pop(), chosen.pop())
            path.append(tuple(sorted(pair)))
            number -= 1
            chosen = [k - sum(p < k for p in pair) for k in chosen] + [number - 1]
        path.append(tuple(sorted(chosen)))
        number -= len(chosen) - 1
    return path


def _needed(parts: Sequence[str], rest: Sequence[str], result: str) -> str:
    """Return the letters of an intermediate result: those that something still needs."""
    later = set(result).union(*rest)
    return "".join(dict.fromkeys(letter for term in parts for letter in term if letter in later))


def _pair(known: Any, parts: list[tuple[Any, str]], wanted: str, dtype: Any) -> Any:
    """Return the sum of products of one or two operands as elements of a dtype. Collective if one is a container."""
    ctx = known.context
    parts = [_without_ones(value, term, parts) for value, term in parts]
    if not any(isinstance(value, DistributedContainer) for value, _ in parts):
        return _local([value for value, _ in parts], [term for _, term in parts], wanted, dtype, known)
    product = _as_matrices(parts, wanted, dtype)
    if product is not None:
        return product
    letter = _divided_letter(parts, wanted)
    division = _rows_kept(parts, wanted, letter)
    turned = _turned(parts, wanted, letter, dtype)
    if turned is not None:
        return turned
    laid, lent = _laid(parts, letter, division)
    extent = max(value.shape[term.index(letter)] for value, term in parts if letter in term)
    like = next(
        (c for c, (_, term) in zip(laid, parts) if isinstance(c, DistributedContainer) and letter in term), None
    )
    if like is None:
        mine = np.arange(extent)[slice(extent * ctx.rank // ctx.size, extent * (ctx.rank + 1) // ctx.size)]
    else:
        mine = like.local_indices(parts[[c is like for c in laid].index(True)][1].index(letter))
    own = [_own_factor(c, term, letter, mine) for c, (_, term) in zip(laid, parts)]
    sizes = {name: n for value, term in parts for name, n in zip(term, value.shape)}
    shape = tuple(sizes[name] for name in wanted)
    is_divided = letter in wanted and like is not None
    divided = _division_along(like, wanted.index(letter), division, len(shape)) if is_divided else None
    partial, made = _multiplied((laid, own, [term for _, term in parts]), wanted, dtype, known, (shape, divided))
    for c in lent:
        c.close()
    if made is not None:
        return made
    total = reductions.allreduce(ctx, np.asarray(partial, order="C"), "lor" if kind_of(dtype).is_boolean else "sum")
    total = np.asarray(total).astype(dtype, copy=False)
    return everywhere(known, total) if wanted else total[()]


def _laid(
    parts: list[tuple[Any, str]], letter: str, division: Division | None
) -> tuple[list[Any], list[DistributedContainer]]:
    """Return the operands divided along a dimension, or on every rank, and which of these are copies. Collective."""
    laid: list[Any] = []
    lent: list[DistributedContainer] = []
    copies: dict[Any, Any] = {}  # an operand that occurs twice moves once, and BLAS then computes half of the products
    for value, term in parts:
        if not isinstance(value, DistributedContainer):
            laid.append(value)
            continue
        place = term.find(letter)
        c = copies.get((id(value), place))
        if c is not None:
            laid.append(c)
            continue
        c = _divided_so(value, REPLICATED if place < 0 else _division_along(value, place, division))
        copies[id(value), place] = c
        laid.append(c)
        if c is not value:
            lent.append(c)
    return laid, lent


def _multiplied(
    operands: tuple[list[Any], list[Array], list[str]],
    wanted: str,
    dtype: Any,
    known: Any,
    made_of: tuple[tuple[int, ...], Division | None],
) -> tuple[Array, Any]:
    """Return the sum of products of this rank's arrays, and the container that has it where it is divided, or None.

    Operands are the containers, what this rank multiplies of each, and their letters. Collective where it is divided.
    """
    (laid, own, terms), (shape, divided) = operands, made_of
    on_disk = [isinstance(c, DistributedContainer) and is_limited(c) for c in laid]
    made: Any = None
    where = known.placement_policy
    if divided is not None:
        given = [c for c in laid if isinstance(c, DistributedContainer)]
        where = result_placement(placed_first(given), shape, np.dtype(dtype))
    if not any(on_disk) and where is not Placement.DISK:
        partial = _local(own, terms, wanted, dtype, known)
        if divided is not None:
            made = container_of(known, shape, dtype, divided, where, blank=True)
            made.local_view()[...] = partial
        return partial, made
    if divided is not None:
        made = container_of(known, shape, dtype, divided, where, blank=True)
    partial = np.empty(shape, dtype) if made is None else made.local_view()
    own = [value if disk else value.astype(dtype, copy=False) for value, disk in zip(own, on_disk)]
    pieces.write(partial, own, terms, wanted, on_disk, lambda some: _local(some, terms, wanted, dtype, known))
    return partial, made


def _turned(parts: list[tuple[Any, str]], wanted: str, letter: str, dtype: Any) -> Any:
    """Return a copy of an operand on disk with its dimensions in another order; None if more is asked. Collective."""
    ((value, term), *others) = parts
    if others or not is_limited(value) or sorted(term) != sorted(wanted) or value.dtype != dtype:
        return None
    if value.partition_policy is not Partition.BLOCK or len(set(term)) < len(term):
        return None
    divided = _division_along(value, wanted.index(letter), None, len(wanted))
    return transposed(value, [term.index(name) for name in wanted], divided)


def _without_ones(value: Any, term: str, parts: list[tuple[Any, str]]) -> tuple[Any, str]:
    """Take away the dimensions of extent 1 that spread over another operand's."""
    ones = [
        d
        for d, letter in enumerate(term)
        if value.shape[d] == 1 and any(letter in t and v.shape[t.index(letter)] != 1 for v, t in parts)
    ]
    if not ones:
        return value, term
    left = "".join(letter for d, letter in enumerate(term) if d not in ones)
    if len(left) == 0 and isinstance(value, DistributedContainer):
        return np.asarray(value[(0,) * value.ndim]), ""
    return value[tuple(0 if d in ones else slice(None) for d in range(len(term)))], left


def _local(values: Sequence[Array], terms: Sequence[str], wanted: str, dtype: Any, known: Any) -> Array:
    """Return the sum of products of arrays, on the threads of a container."""
    formula = f"{','.join(terms)}->{wanted}"
    arrays = [value.astype(dtype, copy=False) for value in values]
    inner = set(terms[0]) & set(terms[-1]) - set(wanted)
    matrices = all(len(term) == len(set(term)) == 2 for term in (*terms, wanted))
    if len(values) == 2 and matrices and len(inner) == 1:
        x, y = (array if term[d] in inner else array.T for array, term, d in zip(arrays, terms, (1, 0)))
        product = np.asarray(multiplied(x, y))  # of X.T and X, NumPy computes one half
        return product if wanted[0] in terms[0] else product.T
    if len(values) == 2 and one_rank.are_lines(terms[0], terms[1], wanted):
        found = folded_lines.inner_products(arrays[0], arrays[1], len(wanted), threads(known.execution_policy))
        if found is not None:
            return found
    optimized = len(values) > 1 and not kind_of(dtype).is_boolean
    return np.asarray(by_user(np.einsum, (formula, *arrays), {"optimize": optimized}))


def _divided_letter(parts: list[tuple[Any, str]], wanted: str) -> str:
    """Return the letter of the dimension that is divided: the one that takes the least to move."""
    sizes = {name: n for value, term in parts for name, n in zip(term, value.shape)}

    def cost(letter: str) -> tuple[int, int]:
        moved = 0
        for value, term in parts:
            if not isinstance(value, DistributedContainer):
                continue
            if letter not in term:
                moved += 4 * value.nbytes
            elif not _is_along(value, term.index(letter)):
                moved += value.nbytes
        if letter not in wanted:
            moved += 4 * int(np.prod([sizes[name] for name in wanted], dtype=np.int64)) * 8
        return moved, -sizes[letter]

    containers = [term for value, term in parts if isinstance(value, DistributedContainer)]
    return min(dict.fromkeys("".join(containers)), key=cost)


def _is_along(c: DistributedContainer, axis: int) -> bool:
    """Say whether a container is divided along a dimension, into ranges."""
    if axis == 0 and has_rows(c):
        return True
    return c.partition_policy is Partition.BLOCK and c.context.size > 1 and c.grid[axis] == c.context.size


def _rows_kept(parts: list[tuple[Any, str]], wanted: str, letter: str) -> Division | None:
    """Return the local sizes by which the operands are divided already, if the result can be divided so; else None."""
    if letter in wanted[1:] or any(letter in term[1:] for _, term in parts):
        return None
    kept = [
        value
        for value, term in parts
        if isinstance(value, DistributedContainer) and term[:1] == letter and has_rows(value)
    ]
    largest = max(kept, key=lambda value: value.nbytes, default=None)
    explicit = largest is not None and largest.partition_policy is Partition.EXPLICIT
    return division_of(largest) if explicit and largest is not None else None


def _division_along(c: Any, axis: int, division: Division | None, ndim: int | None = None) -> Division:
    """Return the division along a dimension."""
    if division is not None:
        return division
    grid = [1] * (c.ndim if ndim is None else ndim)
    grid[axis] = c.context.size
    return Division(Partition.BLOCK, grid=tuple(grid))


def _divided_so(c: DistributedContainer, divided: Division) -> DistributedContainer:
    """Return a container that is divided so: c, or a copy. Collective."""
    same = is_where_divided(c) and c.partition_policy is divided.partition
    if same and (c.grid == divided.grid if divided.partition is Partition.BLOCK else division_of(c) == divided):
        return c
    return redivided(c, divided)


def _own_factor(value: Any, term: str, letter: str, mine: Array) -> Array:
    """Return what this rank multiplies of an operand."""
    if letter not in term:
        return value.local_view() if isinstance(value, DistributedContainer) else value
    divided = term.index(letter) if isinstance(value, DistributedContainer) else -1
    part = value.local_view() if isinstance(value, DistributedContainer) else value
    is_range = not len(mine) or int(mine[-1]) - int(mine[0]) == len(mine) - 1
    for d, name in enumerate(term):
        if name == letter and d != divided:
            at = slice(int(mine[0]), int(mine[-1]) + 1) if is_range and len(mine) else mine
            part = part[(*[slice(None)] * d, at)] if is_range else part.take(mine, axis=d)
    return part


def _as_matrices(parts: list[tuple[Any, str]], wanted: str, dtype: Any) -> Any:
    """Return the product of two large matrices by SUMMA; None if it is no such product. Collective."""
    if len(parts) != 2 or min(value.nbytes for value, _ in parts) < _LARGE:
        return None
    (a, left), (b, right) = parts
    if not (isinstance(a, DistributedContainer) and isinstance(b, DistributedContainer)):
        return None
    common = set(left) & set(right)
    if len(set(left)) != 2 or len(left) != 2 or len(set(right)) != 2 or len(right) != 2 or len(common) != 1:
        return None
    (inner,) = common
    if inner in wanted or len(wanted) != 2:
        return None
    if wanted[0] in right:
        (a, left), (b, right) = (b, right), (a, left)
    if left[1] != inner and right[0] == inner and _is_along(a, 0) and _is_along(b, 0):
        return None  # the products of the rows that each rank has are added up
    x, y = (a if left[1] == inner else transposed(a, (1, 0))), (b if right[0] == inner else transposed(b, (1, 0)))
    product = summa.product(summa.owned(x), y, dtype)
    for made, given in ((x, a), (y, b)):
        if made is not given:
            made.close()
    return product
