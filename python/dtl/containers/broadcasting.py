"""Operands of several shapes and divisions, brought to where the elements of the result are.

One container stays where it is, the others move: whole, or the part that each rank needs. All ranks know all shapes and
divisions, so they decide alike, and nothing is agreed on before the moves themselves.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Sequence

import numpy as np

from .._native import library, slow_paths
from .._native.callsite import by_user
from .._native.kinds import fingerprint
from .._native.library import bridge, state
from .._native.named_tuples import replaced
from .._native.objects import refuse_closed
from .._native.threads import threads
from ..exceptions import InvalidArgumentError
from ..policies import Partition, Placement
from ..runtime import hang_monitor, scheduler
from ..runtime.agreement import agree, tell
from . import expressions
from .base import DistributedContainer
from .indexing.regions import move_all, pieces_of_all
from .interior import (
    copy_rows,
    division_of,
    in_blocks,
    is_laid_out_as,
    is_where_divided,
    owning_class_of,
    run_as,
    tensor_class_of,
)
from .layout import BLOCK, REPLICATED, Division
from .making import created, new_like, placed_first, result_placement
from .places.copies import called, computed
from .ufunc_operands import check_alike, moves, operand, refusal, result_dtypes, tried_by_numpy

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Placed(NamedTuple):
    """Operands as each rank computes with them.

    Attributes
    ----------
    target
        A container of the result's shape, which says where the elements of the result are.
    made
        Whether it was made for the result.
    parts
        Of each operand, what goes with this rank's part of the target: numbers, arrays that NumPy spreads, and
        containers that are laid out as the target, unless the caller of :func:`place` has another form for them.
    """

    target: Any
    made: bool
    parts: list[Any]

    def views(self) -> list[Any]:
        """Return the parts, with the local views of containers."""
        return [part.local_view() if isinstance(part, DistributedContainer) else part for part in self.parts]


#: Results of so many bytes are written at once: their operands have little more than a block.
_SMALL = 256 << 10


def apply(
    name: str, ufunc: np.ufunc, inputs: tuple[Any, ...], outputs: tuple[Any, ...], where: Any, options: dict[str, Any]
) -> Any:
    """Call a ufunc with operands that are not laid out alike. Collective where one has to move."""
    outs = [out for out in outputs if out is not None]
    operands = [*inputs, *([] if where is True else [where])]
    shape = checked_shape(name, operands, outs)
    dtypes = result_dtypes(name, ufunc, inputs, outputs, options, int(0 not in shape))
    whole = where is True
    if whole and not options and _is_added_there(ufunc, inputs, outs, dtypes):
        return _add_there(inputs[0], inputs[1])
    placed = place(name, operands, shape, dtypes[0], outs[0] if outs else None, whole)
    if whole and not options and placed.target.local_size * dtypes[0].itemsize >= state.least_queued:
        queued = _queued(ufunc, placed, outputs[0], dtypes[0])
        if queued is not None:
            return queued
    parts = placed.views()
    results, made = [], placed.made
    for out, dtype in zip(outputs, dtypes):
        new = out is None
        results.append(out if not new else placed.target if made else new_like(placed.target, dtype, whole))
        made = made and not new
    if where is not True:
        options["where"] = parts[-1]
    options["out"] = tuple([result.local_view() for result in results])
    call_in_blocks(ufunc, parts[: len(inputs)], options)
    return results[0] if len(results) == 1 else tuple(results)


def call_in_blocks(ufunc: np.ufunc, parts: Sequence[Any], options: dict[str, Any]) -> None:
    """Call a ufunc that writes to arrays, some rows at a time where memory is limited. Not collective."""
    outs, count = options["out"], len(parts)
    if outs[0].nbytes <= _SMALL:
        by_user(ufunc, tuple(parts), options, depth=4)
        return
    where = options.get("where", True)
    for _, given in _in_rows([*parts, where, *outs], outs):
        some = {**options, "out": tuple(given[count + 1 :])}
        if where is not True:
            some["where"] = given[count]
        by_user(ufunc, tuple(given[:count]), some, depth=4)


def _in_rows(parts: Sequence[Any], written: Sequence[Array]) -> Iterator[tuple[Any, Sequence[Any]]]:
    """Yield rows of what is written, and the parts that go with them: where memory is limited, some at a time."""
    view = written[0]
    if not library.memory_limit() or not view.ndim or any([_is_read_elsewhere(part, written) for part in parts]):
        yield ..., parts
        return
    whole = [np.ndim(part) == view.ndim and np.shape(part)[:1] == view.shape[:1] for part in parts]
    widest = max([view, *itertools.compress(parts, whole)], key=lambda part: part.nbytes)
    for rows in in_blocks(widest):
        yield rows, [part[rows] if has_rows else part for part, has_rows in zip(parts, whole)]


def _is_read_elsewhere(part: Any, written: Sequence[Array]) -> bool:
    """Say whether elements of a part may be overwritten before they are read, in other places."""
    if not isinstance(part, np.ndarray):
        return False

    def place(array: Array) -> tuple[Any, ...]:
        return array.__array_interface__["data"], array.shape, array.strides

    return any([np.may_share_memory(part, view) and place(part) != place(view) for view in written])


def _is_added_there(ufunc: np.ufunc, inputs: tuple[Any, ...], outs: list[Any], dtypes: Sequence[np.dtype[Any]]) -> bool:
    """Say whether a call adds large floats of a container to one that is divided otherwise. Alike on all ranks."""
    if ufunc is not np.add or len(outs) != 1 or inputs[0] is not outs[0] or outs[0].ndim < 2:
        return False
    to, of = inputs
    return (
        isinstance(of, DistributedContainer)
        and of.shape == to.shape
        and of.dtype == to.dtype == dtypes[0]
        and to.dtype in (np.float32, np.float64)
        and to.context is of.context
        and to.nbytes >= to.context.size * state.least_queued
        and owns(to)
        and owns(of)
        and not (_is_replicated(to) or _is_replicated(of) or _is_there(of, to))
    )


def _add_there(to: Any, of: Any) -> Any:
    """Add what comes from other ranks to the elements that it belongs to, with no memory for all of it. Collective."""
    name = "add"
    started = slow_paths.clock() if slow_paths.listeners else 0
    refuse_closed(to)
    refuse_closed(of)
    with _turn(name, [to, of]):
        seen = bridge.move_adding(to, expressions.handle_to_read(of), to.dtype.itemsize)
    if started:
        slow_paths.tell(slow_paths.MOVED, name, of.nbytes, started)
    most = float(np.finfo(to.dtype).max)
    for error, (one, other) in enumerate(((most, most), (np.inf, -np.inf))):
        if seen & (1 << error):  # then NumPy says of such a sum what it is told to say
            by_user(np.add, (np.array([one], to.dtype), np.array([other], to.dtype)), {}, depth=4)
    return to


def _queued(ufunc: np.ufunc, placed: Placed, out: Any, dtype: np.dtype[Any]) -> Any:
    """Queue a call with operands in their places; None where it has to be made at once. Not collective."""
    given = [expressions.spread(part) if isinstance(part, np.ndarray) and part.ndim else part for part in placed.parts]
    if any([part is None for part in given]):
        return None
    result = placed.target if placed.made else out
    return expressions.call(ufunc, tuple(given), placed.target, result, dtype, depth=4)


def elementwise(
    name: str,
    f: Callable[..., Any],
    operands: Sequence[Any],
    dtype: Any = None,
    into: Callable[..., None] | None = None,
    kernel: Callable[..., Any] | None = None,
    moved: bool = False,
) -> Any:
    """Return the values of a function of arrays that computes each element by itself, and spreads them as NumPy does.

    Collective where an operand has to move. The dtype is that which the function gives, unless it is said. Into is a
    function that writes the values to an array, which comes first, on so many threads, which come next; kernel one that
    has a GPU compute them, or returns None. Moved says that text and dates are operands even if no container is of
    them.
    """
    moved = moved or moves(operands)
    given = [operand(name, value, moved) for value in operands]
    scheduler.wait_for(given)
    return computed(name, _evaluated, (name, f, given, dtype, into, kernel), _by_kernel, written=())


def _by_kernel(name: str, f: Any, given: Sequence[Any], dtype: Any, into: Any, kernel: Any) -> Any:
    made = None if kernel is None else kernel(*given)
    return NotImplemented if made is None else made


def _evaluated(name: str, f: Any, given: Sequence[Any], dtype: Any, into: Any, kernel: Any) -> Any:
    shape = result_shape(name, given)
    if dtype is None:
        dtype = _dtype_of_result(name, f, given, into)
    placed = place(name, given, shape, np.dtype(dtype))
    result = placed.target if placed.made else new_like(placed.target, dtype, blank=True)
    view = result.local_view()
    for rows, parts in _in_rows(placed.views(), [view]):
        if into is None:
            view[rows] = by_user(f, tuple(parts), {}, depth=5)
        else:
            into(view[rows], threads(result.execution_policy), *parts)
    return result


def _dtype_of_result(
    name: str, f: Callable[..., Any], operands: Sequence[Any], into: Callable[..., None] | None
) -> np.dtype[Any]:
    """Return the type of what a function gives, by a try. NumPy's refusal is one of the call, on every rank alike."""
    samples = [sample(value) for value in operands]
    with tried_by_numpy(name):
        result = np.asarray(f(*samples))
        if into is not None:
            into(np.empty_like(result), 1, *samples)
    dtype: np.dtype[Any] = result.dtype
    return dtype


def spread_to(a: Any, shape: tuple[int, ...], beside: Any = None) -> Any:
    """Return a container of a shape to which another spreads: on disk if it, or one beside it, is. Collective."""
    if _spread_shape("broadcast_to", (a.shape, shape)) != shape:
        raise InvalidArgumentError(f"broadcast_to: a container of shape {a.shape} does not spread to shape {shape}")
    if shape == a.shape:
        return a.copy()
    goes_there = beside is not None and beside.placement_policy is Placement.DISK and beside.context is a.context
    made = _made(beside if goes_there else a, shape, a.dtype, _division([a], shape))
    part = _host_part(*_brought("broadcast_to", a, made), made)  # of another shape, so no container
    copy_rows(made.local_view(), np.broadcast_to(part, made.local_shape))
    return made


def spread_over(value: Any, shape: tuple[int, ...], to: Any = None) -> Any:
    """Return a container as NumPy spreads a value that is assigned to what has a shape. Collective if it spreads.

    It is on disk if the container that it is assigned to is.
    """
    if value.shape == shape:
        return value
    extents = value.shape
    while len(extents) > len(shape) and extents[0] == 1:
        extents = extents[1:]
    try:
        if np.broadcast_shapes(extents, shape) != shape:
            raise ValueError
    except ValueError:
        raise InvalidArgumentError(f"a container of shape {value.shape} for what has shape {shape}") from None
    if extents != value.shape:
        value = value[(0,) * (value.ndim - len(extents))]
    return value if extents == shape else called(lambda c: spread_to(c, shape, to), (value,), {}, "setitem")


def sample(value: Any) -> Any:
    """Return one element in the place of each of an operand's."""
    return np.ones(1, value.dtype) if getattr(value, "ndim", 0) else value


def checked_shape(name: str, operands: Sequence[Any], outs: Sequence[Any]) -> tuple[int, ...]:
    """Return the shape that the operands spread to, which the outputs have, all of them divided alike."""
    shape = result_shape(name, [*operands, *outs])
    for out in outs:
        if out.shape != shape:
            text = f"out has shape {out.shape}, and the result shape {shape}"
            raise refusal(name, text, InvalidArgumentError)
        check_alike(name, outs[0], out)
    return shape


def result_shape(name: str, operands: Sequence[Any]) -> tuple[int, ...]:
    """Return the shape that the operands spread to."""
    return _spread_shape(name, [value.shape for value in operands if getattr(value, "ndim", 0)])


def _spread_shape(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return tuple(np.broadcast_shapes(*shapes))
    except ValueError:
        text = " ".join(map(str, shapes))
        raise refusal(
            name, f"operands could not be broadcast together with shapes {text}", InvalidArgumentError
        ) from None


def place(
    name: str,
    operands: Sequence[Any],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    target: Any = None,
    blank: bool = True,
    part: Callable[[Any, bool, Any], Any] | None = None,
) -> Placed:
    """Bring operands to where the result is: to the target, if there is one. Collective if any moves.

    A target that is made here is blank, for a caller that writes all elements, or zero. Part is a function that returns
    the form of an operand that the caller needs, of what has its elements, whether only some of these go with this
    rank's part of the target, and the target.
    """
    containers = [value for value in operands if isinstance(value, DistributedContainer)]
    first = target if target is not None else containers[0]
    for other in containers:
        if other.context is not first.context:
            text = "the containers belong to different contexts; dtl.RedistributionPlan moves elements between them"
            raise refusal(name, text, InvalidArgumentError)
        refuse_closed(other)
    if target is None:
        target = _staying(containers, shape)
    with _turn(name, containers):
        compare_arrays(name, first.context, operands)
        made = target is None
        if made:
            target = _made(placed_first(containers), shape, dtype, _division(containers, shape), blank)
        form = _host_part if part is None else part
        return Placed(target, made, [form(*_brought(name, value, target), target) for value in operands])


@contextmanager
def _turn(name: str, containers: list[Any]) -> Iterator[None]:
    """Wait for the turn of a call, and tell other ranks what it raises."""
    held = scheduler.take_turn(name, containers, {})
    try:
        yield
    except Exception as error:
        tell(error, name, containers)
        raise
    finally:
        if held:
            bridge.end_turn(held)


def compare_arrays(name: str, ctx: Any, operands: Iterable[Any]) -> None:
    """Raise where ranks pass different arrays, if the context's calls are compared in full. Collective then."""
    if not hang_monitor.state["compares_arrays"]:
        return
    arrays = [value for value in operands if isinstance(value, np.ndarray) and value.ndim]
    if arrays:
        agree(ctx, name, ", ".join(f"an array with fingerprint {fingerprint(array)}" for array in arrays))


def _made(
    like: Any,
    shape: tuple[int, ...],
    dtype: Any,
    division: Division,
    blank: bool = True,
    words: str = "",
    pieces: Sequence[int] = (),
) -> Any:
    """Make a container; words and pieces are those of ``created``. Collective."""
    kind = owning_class_of(like) if len(shape) == like.ndim else tensor_class_of(like)
    dtype = np.dtype(dtype)
    where = result_placement(like, shape, dtype)
    made = created(kind, like.context, shape, dtype, division, where, blank, words, pieces=pieces)
    run_as(made, like.execution_policy)
    return made


def _staying(containers: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Return which container of the result's shape stays where it is: that for which the fewest bytes move.

    Of several, it is one on disk, where the result is then, too.
    """
    whole = [c for c in containers if c.shape == shape]
    if not whole:
        return None

    def cost(target: Any) -> tuple[bool, int, bool]:
        moved = sum(_bytes_moved(c, target) for c in containers)
        return _is_replicated(target), moved, target.placement_policy is not Placement.DISK

    return min(whole, key=cost)


def _is_replicated(c: Any) -> bool:
    return bool(c.partition_policy is Partition.REPLICATED)


def _bytes_moved(c: Any, target: Any) -> int:
    """Return how much would have to move for a target: the same on any number of ranks, so that the choice is."""
    return 0 if _is_replicated(c) or _is_there(c, target) else int(c.nbytes)


def owns(c: Any) -> bool:
    """Say whether a container has memory of its own; that of a span is another's."""
    return bool(owning_class_of(c) is type(c))


def _divided_as(c: Any) -> tuple[Any, ...]:
    """Return what says where the indices of dimension 0 are, of a container that is not divided by blocks."""
    return c.partition_policy, c.block_size, division_of(c).sizes


def _is_there(c: Any, target: Any) -> bool:
    """Say whether each rank has the elements of a container that its part of the target needs. Not collective."""
    if c is target:
        return True
    if c.shape == target.shape:
        return bool(is_laid_out_as(target, c))
    if not (is_where_divided(c) and is_where_divided(target)):
        return False
    before = target.ndim - c.ndim
    if target.partition_policy is not Partition.BLOCK or c.partition_policy is not Partition.BLOCK:
        return before == 0 and c.shape[0] == target.shape[0] and _divided_as(c) == _divided_as(target)
    grid = (1,) * before + c.grid
    extents = (1,) * before + c.shape
    return all(
        one == other and (extent == whole or other == 1)
        for one, other, extent, whole in zip(grid, target.grid, extents, target.shape)
    )


def _division_for(c: Any, target: Any) -> Division | None:
    """Return the division with which a container of another one's shape is where the target needs it.

    None stands for that of the target, whose shape it has.
    """
    if c.shape == target.shape:
        return None
    before = target.ndim - c.ndim
    divided: Division = division_of(target)
    if not is_where_divided(target) or _is_replicated(target):
        return REPLICATED
    if target.partition_policy is not Partition.BLOCK:
        return divided if before == 0 and c.shape[0] == target.shape[0] else REPLICATED
    extents = (1,) * before + c.shape
    if all(parts == 1 or (d >= before and extents[d] == target.shape[d]) for d, parts in enumerate(target.grid)):
        return Division(Partition.BLOCK, grid=target.grid[before:])
    return REPLICATED


def _division(containers: Sequence[Any], shape: tuple[int, ...]) -> Division:
    """Return how a result is divided whose shape no operand has: as the largest of them, where that can be."""
    divided = [c for c in containers if not _is_replicated(c)]
    if not divided:
        return REPLICATED
    largest = max(divided, key=lambda c: int(c.global_size))
    before = len(shape) - largest.ndim
    extents = (1,) * before + largest.shape
    if not is_where_divided(largest):
        return BLOCK
    if largest.partition_policy is not Partition.BLOCK:
        return replaced(division_of(largest), grid=None) if before == 0 and largest.shape[0] == shape[0] else BLOCK
    grid = (1,) * before + largest.grid
    if all(parts == 1 or extents[d] == shape[d] for d, parts in enumerate(grid)):
        return Division(Partition.BLOCK, grid=grid)
    return BLOCK


def _brought(name: str, value: Any, target: Any) -> tuple[Any, bool]:
    """Return what has the elements of an operand on this rank, and whether only some go with its part of the target.

    Collective where the operand has to move.
    """
    if not isinstance(value, DistributedContainer):
        return value, bool(getattr(value, "ndim", 0))
    if value is target or value.context.size == 1 or _is_there(value, target):
        return value, False
    if _is_replicated(value):
        return value, True
    division = _division_for(value, target)
    started = slow_paths.clock() if slow_paths.listeners else 0
    if division is None:
        moved = new_like(target, value.dtype, blank=True)
        move_all(moved, value)
    else:
        pieces = pieces_of_all(value)
        moved = _made(value, value.shape, value.dtype, division, words=f"{name} " if pieces else "", pieces=pieces)
        if not pieces:
            move_all(moved, value)
    if started:
        kind = slow_paths.EVERYWHERE if division == REPLICATED else slow_paths.MOVED
        slow_paths.tell(kind, name, value.nbytes, started)
    return moved, division == REPLICATED


def _host_part(value: Any, some: bool, target: Any) -> Any:
    """Return the elements of an operand that go with this rank's part of the target: see :class:`Placed`."""
    if isinstance(value, DistributedContainer):
        if value is target or (value.shape == target.shape and is_laid_out_as(target, value)):
            return value
        value = value.local_view()
    return cut(value, target) if some else value


def cut(array: Array, target: Any) -> Array:
    """Return the part of an array, which every rank has whole, that goes with this rank's part of the target."""
    for d, indices in enumerate(own_indices(array.shape, target)):  # at most one is no range: that of dimension 0
        array = array[(slice(None),) * d + (indices,)]
    return array


def own_indices(shape: tuple[int, ...], target: Any) -> list[Any]:
    """Return which indices go with this rank's part of the target, of an array that every rank has whole."""
    before = target.ndim - len(shape)
    chosen: list[Any] = []
    for d, extent in enumerate(shape):
        if extent != target.shape[before + d]:
            chosen.append(slice(0, extent))
            continue
        mine = target.local_indices(before + d)
        ends = (int(mine[0]), int(mine[-1]) + 1) if len(mine) else (0, 0)
        chosen.append(slice(*ends) if ends[1] - ends[0] == len(mine) else mine)
    return chosen
