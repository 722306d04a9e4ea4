"""The groups of all ranks, each of which one rank owns: where their parts, and their rows, come together."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np

from .._native import slow_paths
from ..comm.collectives import allgather
from ..runtime.agreement import local_step
from ..runtime.context import Context
from .codes import in_values, numbered, table_of
from .exchange import gathered_everywhere, sent
from .folds import Groups
from .gather import taken
from .loops import ordered
from .moves import expect, words_of
from .rows import arrow, block_counts, counted
from .splitters import cuts

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Up to so many parts of groups, of all ranks together, go to every rank.
FEW = 1 << 15

#: Texts of keys travel as categories where there are so many groups for each category and rank.
_PER_CATEGORY = 2

#: A rank that gets so many times its share of the values of groups, and more than so many bytes, tells the ledger.
_UNEVEN, _MUCH = 1.5, 1 << 20

#: What goes to the ranks that own groups, and comes back from them, as traces call it.
VALUES, BACK = "values to the ranks that own their groups", "results back to the ranks of the rows"
GROUPS = "each rank's groups to the ranks of their ranges of keys"


class Keys(NamedTuple):
    """The distinct keys of a rank's groups, in order.

    Parameters
    ----------
    table
        The keys. Texts may be categories.
    schema
        Their types.
    """

    table: Any
    schema: Any

    def categories(self) -> list[int]:
        """Return how many categories the texts of each column are; of others, more than there are keys."""
        return [
            len(self.table) + 1 if column.type == kind else len(column.chunk(0).dictionary)
            for column, kind in zip(self.table.columns, self.schema.types)
        ]

    def plain(self) -> Any:
        """Return the table, in which all columns are as their types say."""
        return self.as_told([False] * len(self.schema))

    def as_told(self, coded: list[bool]) -> Any:
        """Return the table, with texts that are categories in some columns only."""
        columns = self.table.columns
        for number, (kind, stays) in enumerate(zip(self.schema.types, coded)):
            if columns[number].type != kind and not stays:
                columns[number] = in_values(columns[number], kind)
        return arrow().table(columns, names=self.schema.names)

    def held(self) -> Any:
        """Return the table, in which texts are categories where these are few."""
        texts = map(arrow().types.is_string, self.schema.types)
        few = (_PER_CATEGORY * count <= len(self.table) for count in self.categories())
        return self.as_told([text and some for text, some in zip(texts, few)])


class Owners:
    """The groups of all ranks in the order of their keys, of which each rank owns some that follow each other.

    Making one is collective. Every rank passes its own groups in the order of their keys, with what it knows of each;
    what comes to the owner of a group is in the order of the ranks.

    Parameters
    ----------
    ctx, op
        The ranks, and the name of the call that errors show.
    keys
        The distinct keys of this rank's groups, sorted; their columns' names are none of those of parts.
    parts
        Further columns with one row for each.
    alone
        Whether no other rank has any of this one's groups, and the ranks have theirs in the order of keys.
    answer
        How many bytes ``told`` will say of each group; 0 if it will not be asked.
    """

    def __init__(self, ctx: Context, op: str, keys: Keys, parts: Any, answer: int = 0, alone: bool = False) -> None:
        self.context = ctx
        self._op = op
        self._schema = keys.schema
        sizes = allgather(ctx, np.array([len(keys.table), *keys.categories()], np.int64)).reshape(ctx.size, -1)
        lengths: list[int] = sizes[:, 0].tolist()
        self._answer = answer
        if ctx.size == 1 or alone:
            arrived = self._meet_alone(keys, parts, lengths)
        elif sum(lengths) <= FEW:
            arrived = self._meet_everywhere(beside(keys.plain(), parts), lengths)
        else:
            few = (_PER_CATEGORY * ctx.size * sizes[:, 1:] <= sizes[:, :1]).all(axis=0)
            arrived = self._meet_in_ranges(beside(keys.as_told(few.tolist()), parts))
        #: What ranks know of the groups that this rank owns, and of which group each is.
        self.parts = arrived.select(parts.column_names)

    @property
    def keys(self) -> Any:
        """The distinct keys of the groups that this rank owns, a table of their types."""
        return self.held_keys.plain()

    def _meet_alone(self, keys: Keys, parts: Any, lengths: Sequence[int]) -> Any:
        """Own all groups, which no other rank has."""
        self._owner: Array = None
        self._mine: Array = None
        self.groups = Groups(None, len(keys.table))
        #: The distinct keys as they are held.
        self.held_keys = keys
        self.counts: tuple[int, ...] = tuple(lengths)
        return parts

    def _meet_everywhere(self, both: Any, lengths: Sequence[int]) -> Any:
        """Have every rank know all parts of all groups, and own a share of the groups."""
        ctx = self.context
        if self._answer:  # at least so many groups are told by each rank to the others
            expect(BACK, self._answer * max(lengths) * (ctx.size - 1) // ctx.size)
        whole = gathered_everywhere(ctx, self._op, both, "each rank's groups to all ranks")
        with local_step(ctx, self._op):
            of_part, width, keys = merged_keys(whole, self._schema)
            shares = block_counts(ctx, width)
            first = np.cumsum([0, *shares])
            begin = sum(lengths[: ctx.rank])
            mine = of_part[begin : begin + len(both)]
            owner = np.searchsorted(first, mine, "right") - 1
            #: The rank that owns each of this rank's groups.
            self._owner = owner
            lo, hi = int(first[ctx.rank]), int(first[ctx.rank + 1])
            here = np.flatnonzero((of_part >= lo) & (of_part < hi))
            self.groups = Groups(of_part[here] - lo, hi - lo)
            self.held_keys = Keys(keys.table.slice(lo, hi - lo), self._schema)
            self.counts = tuple(shares)
            #: The numbers of this rank's groups among all, if all are known here.
            self._mine = mine
            return whole.take(arrow().array(here))

    def _meet_in_ranges(self, both: Any) -> Any:
        """Have each rank know the groups of a range of keys."""
        ctx = self.context
        bounds = cuts(ctx, self._op, both.select(self._schema.names))
        lengths = np.diff(bounds)
        matrix = allgather(ctx, lengths.astype(np.int64)).reshape(ctx.size, ctx.size)
        if self._answer:
            expect(BACK, self._answer * int(lengths.sum() - lengths[ctx.rank]))
        pieces = [both.slice(lo, hi - lo) for lo, hi in zip(bounds[:-1], bounds[1:])]
        arrived = sent(ctx, self._op, pieces, GROUPS)
        with local_step(ctx, self._op):
            self._owner = np.repeat(np.arange(ctx.size), lengths)
            of_part, width, self.held_keys = merged_keys(arrived, self._schema)
            self._mine = None
            self._lengths = matrix[:, ctx.rank]
            self.groups = Groups(of_part, width)
        self.counts = counted(ctx, width)
        return arrived

    def told(self, owned: Any) -> Any:
        """Return what the owners say of this rank's groups, in the order of their keys. Collective.

        owned is a table with a row for each group that this rank owns.
        """
        ctx = self.context
        if ctx.size == 1:
            return owned
        if self._mine is not None:
            whole = gathered_everywhere(ctx, self._op, owned, BACK)
            with local_step(ctx, self._op):
                return taken(whole, self._mine)
        with local_step(ctx, self._op):
            answers = taken(owned, self.groups.of_row)
            ends = np.cumsum(self._lengths).tolist()
        parts = [answers.slice(end - count, count) for end, count in zip(ends, self._lengths.tolist())]
        return sent(ctx, self._op, parts, BACK)

    def routed(self, places: Array) -> Route:
        """Return the way of rows to the owners of their groups, given the place of each row's group here.

        Collective.
        """
        return Route(self.context, self._op, self._owner, self.groups, places)


class Route:
    """The way of rows to the owners of their groups, and of what is made of them back to where the rows are.

    Rows travel in the order of their groups, which the owner knows: how many there are of each says which are whose.
    Making one is collective.

    Parameters
    ----------
    ctx, op
        The ranks, and the name of the call that errors show.
    owner
        The rank that owns each of this rank's groups, in ascending order.
    parts
        The group of each part that this rank has got, in the order of the ranks and of their keys.
    places
        The place of each row's group among this rank's.
    """

    def __init__(self, ctx: Context, op: str, owner: Array, parts: Groups, places: Array) -> None:
        self.context = ctx
        self._op = op
        self._parts = parts
        self._groups: Groups | None = None
        if ctx.size == 1:
            self._groups = Groups(places, parts.width)
            return
        with local_step(ctx, op):
            order, ends = ordered(places, len(owner))
            #: The rows in the order in which they go; None once nothing goes.
            self._order: Array = order
            of_rank = np.append(0, np.cumsum(np.bincount(owner, minlength=ctx.size)))
            self._counts = np.diff(np.append(0, ends)[of_rank])
            sizes = np.diff(ends, prepend=0)
        matrix = allgather(ctx, self._counts).reshape(ctx.size, ctx.size)
        self._arriving = matrix[:, ctx.rank]
        self._is_uneven = int(self._arriving.sum()) * ctx.size > _UNEVEN * int(matrix.sum())
        told = arrow().table({"": sizes.astype(np.uint32 if matrix.max() < 1 << 32 else np.int64)})
        self._sizes = sent(ctx, op, self._slices(told, np.diff(of_rank)), VALUES).column(0).to_numpy()

    @property
    def groups(self) -> Groups:
        """The group of each row that has arrived, in the order of the ranks."""
        if self._groups is None:
            self._groups = Groups(np.repeat(self._parts.of_row, self._sizes), self._parts.width)
        return self._groups

    @staticmethod
    def _slices(table: Any, counts: Array) -> list[Any]:
        ends = np.cumsum(counts).tolist()
        return [table.slice(hi - count, count) for hi, count in zip(ends, counts.tolist())]

    def there(self, table: Any, is_last: bool = False) -> Any:
        """Return the rows that arrive, those of each group in the order of the ranks and of their rows. Collective.

        is_last says that nothing goes there or back afterwards.
        """
        if self.context.size == 1:
            return table
        with local_step(self.context, self._op):
            parts = self._slices(taken(table, self._order), self._counts)
            if is_last:
                self._order = None
        started = slow_paths.clock() if slow_paths.listeners else 0
        arrived = sent(self.context, self._op, parts, VALUES)
        if started and self._is_uneven and arrived.nbytes > _MUCH:
            slow_paths.tell(slow_paths.UNEVEN, words_of(self._op), arrived.nbytes, started)
        return arrived

    def back(self, table: Any) -> Any:
        """Return what the owners have made of the rows, in these rows' order. Collective."""
        if self.context.size == 1:
            return table
        arrived = sent(self.context, self._op, self._slices(table, self._arriving), BACK)
        with local_step(self.context, self._op):
            places = np.empty(len(self._order), np.int64)
            places[self._order] = np.arange(len(self._order))
            return taken(arrived, places)


def beside(keys: Any, parts: Any) -> Any:
    """Return the columns of two tables."""
    return arrow().table([*keys.columns, *parts.columns], names=[*keys.column_names, *parts.column_names])


def merged_keys(table: Any, schema: Any) -> tuple[Array, int, Keys]:
    """Return the number of each row among the distinct keys in order, how many there are, and these."""
    codes = numbered(schema.names, table.select(schema.names).columns)
    if codes.dense:
        return codes.of_row, codes.width, Keys(table_of(codes, None, schema, coded=True), schema)
    there = np.zeros(codes.width, np.bool_)
    there[codes.of_row] = True
    present = np.flatnonzero(there)
    places = np.cumsum(there) - 1
    return places[codes.of_row], len(present), Keys(table_of(codes, present, schema, coded=True), schema)
