"""Columns of Arrow's tables in memory, such as those of pyarrow, pandas and polars, and back."""

from __future__ import annotations

from typing import Any, Iterable

from ..comm.objects import allgather_object
from ..containers.layout import Division
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition
from ..runtime.agreement import agree, local_step, root_number
from ..runtime.context import Context
from .arrow import Column, Strings, Table, check_strings, completed, pyarrow
from .formats import needs
from .meaning import meaning_of, named_vectors, unified


def pyarrow_with_capsules() -> Any:
    """Return the package, of a version that knows the PyCapsule interface."""
    pa = pyarrow("Arrow")
    if not hasattr(pa.Table, "__arrow_c_stream__"):
        raise needs("pyarrow", "Arrow's PyCapsule interface", ImportError(f"pyarrow {pa.__version__} is older than 14"))
    return pa


def _table(pa: Any, table: Any) -> Any:
    """Return a table of pyarrow's of what a rank passed."""
    if hasattr(table, "__arrow_c_stream__") and not isinstance(table, type):
        try:
            return pa.table(table)
        except pa.ArrowException as error:  # such as a type that this pyarrow is too old for
            raise InvalidTypeError(f"pyarrow {pa.__version__} takes no {type(table).__name__}: {error}") from None
    if type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "columns"):  # older than 2.2
        return pa.Table.from_pandas(table)
    raise InvalidTypeError(f"table of type {type(table).__name__} has no method __arrow_c_stream__, as Arrow's have")


def columns_of(ctx: Context, op: str, table: Any, divided: Division, made: Table, strings: Strings) -> Table:
    """Return columns, given as empty ones, of each rank's rows, one rank's after the other's. Collective."""
    with local_step(ctx, op):
        mine = None if table is None else _table(pyarrow_with_capsules(), table)
    if mine is None:
        return columns_of_batches(ctx, op, None, 0, (), divided, made, strings)
    return columns_of_batches(ctx, op, mine.schema, len(mine), mine.to_batches(), divided, made, strings)


def columns_of_batches(
    ctx: Context,
    op: str,
    schema: Any,
    rows: int,
    batches: Iterable[Any],
    divided: Division,
    made: Table,
    strings: Strings,
) -> Table:
    """Return the same of rows that come in batches, given their schema, None of none, and how many there are.

    Collective. One pass over the rows; beside their batch, the columns alone are in memory, and texts until the end.
    """
    with local_step(ctx, op):
        pa = pyarrow_with_capsules()
        fields = None if schema is None else [(field.name, field.type) for field in schema]
    agree(ctx, op)
    told = allgather_object(ctx, (fields, rows))
    with local_step(ctx, op):
        kinds = _common(pa, [of_rank for of_rank, _ in told if of_rank is not None])
        check_strings(strings, [name for name, _ in kinds])
        empty = [Column(name, kind, 0, pa, strings) for name, kind in kinds]
    own = Division(Partition.EXPLICIT, sizes=tuple(count for _, count in told))
    vectors: dict[str, Any] = {}
    try:
        for each in empty:
            if not each.strings:
                vectors[each.name] = created(DistributedVector, ctx, (sum(own.sizes),), each.dtype, own)
        with local_step(ctx, op):
            views = {name: vec.local_view() for name, vec in vectors.items()}
            read = [Column(name, kind, rows, pa, strings, views.pop(name, None)) for name, kind in kinds]
            for batch in batches:
                for each, array in zip(read, batch.columns):
                    each.add(array)
        return completed(ctx, op, read, vectors, divided, made)
    except BaseException:
        for vec in vectors.values():
            vec.close()
        raise


def _common(pa: Any, found: list[list[tuple[str, Any]]]) -> list[tuple[str, Any]]:
    """Return the names and types of the columns that the ranks' tables have, some of which may have no values."""
    if not found or not found[0]:
        raise InvalidArgumentError("no rank has a table with columns")
    names = [name for name, _ in found[0]]
    if len(set(names)) < len(names):
        raise InvalidArgumentError(f"the table has two columns of one name: {names}")
    kinds = [kind for _, kind in found[0]]
    for other in found[1:]:
        if [name for name, _ in other] != names:
            raise InvalidArgumentError(
                f"one rank's table has the columns {names}, another's {[each[0] for each in other]}"
            )
        for number, (name, kind) in enumerate(other):
            both = unified(pa, kinds[number], kind)
            if both is None:
                raise InvalidArgumentError(
                    f"the column {name!r} is of {kinds[number]} on one rank, and of {kind} on another"
                )
            kinds[number] = both
    return list(zip(names, kinds))


def _decoded(pa: Any, columns: Any, parts: list[Any]) -> Any:
    """Return the table of some rows, in which text is text."""
    masks = dict(zip(columns.masks, parts[len(columns) :]))
    arrays = {}
    for (name, vec), part in zip(named_vectors(columns).items(), parts):
        meaning = meaning_of(vec)
        arrays[name] = meaning.array(pa, part, masks.get(name))
        if meaning.texts is not None and not meaning.ordered:
            arrays[name] = arrays[name].dictionary_decode()
    return pa.table(arrays)


def local_table(columns: Any) -> Any:
    """Return a table of this rank's rows. Not collective."""
    return _decoded(pyarrow_with_capsules(), columns, [vec.local_view() for vec in vectors_of(columns)])


def gathered(columns: Any, op: str, root: Any) -> Any:
    """Return a table of all rows on root; None elsewhere. Collective."""
    vectors = vectors_of(columns)
    if not vectors:
        raise InvalidArgumentError("there are no columns")
    number = root_number(vectors[0].context, root)
    with local_step(vectors[0].context, op):
        pa = pyarrow("Arrow")
    parts = [vec.gather_to(number) for vec in vectors]
    return _decoded(pa, columns, parts) if parts[0] is not None else None


def vectors_of(columns: Any) -> list[Any]:
    """Return the vectors of columns, and those that say what is missing."""
    return [*named_vectors(columns).values(), *columns.masks.values()]
