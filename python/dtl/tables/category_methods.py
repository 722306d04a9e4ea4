"""What columns of categories have of their own: ``table["size"].cat``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Generic, NoReturn, TypeVar

from .._native.arguments import flag, listed
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import agree, collective, local_step
from ..runtime.context import Context
from . import categories as categories_of
from .by_rows import in_pieces
from .hints import missing_attribute
from .making import is_scalar
from .rows import Rows, arrow

#: Column, which this module does not import: column.py imports it.
C = TypeVar("C")


class Categories(Generic[C]):
    """Functions of a column of categories, as ``table["size"].cat``, named as pandas names them. All are collective.

    Examples
    --------
    >>> import dtl
    >>> with dtl.Context() as ctx:
    ...     size = dtl.Table(ctx, {"size": ["m", "s", None, "m"]})["size"].astype("category")
    ...     size = size.cat.set_categories(["s", "m", "l"], ordered=True)
    ...     print(size.cat.categories, size.cat.codes.to_list(), size.max())
    ['s', 'm', 'l'] [1, 0, -1, 1] m
    """

    __slots__ = ("_made", "_rows")

    def __init__(self, rows: Rows, made: Callable[[Rows], C]) -> None:
        kind = rows.schema.types[0]
        if not arrow().types.is_dictionary(kind):
            raise InvalidTypeError(
                f"cat is of columns of categories; {rows.names[0]!r} is of {kind}: astype('category') comes before"
            )
        self._rows, self._made = rows, made

    if not TYPE_CHECKING:  # a type checker knows the methods that there are

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_attribute("cat", self, name)

    @property
    def _context(self) -> Context:
        """The ranks, which hear of a call that fails here."""
        return self._rows.context

    @property
    def ordered(self) -> bool:
        """Whether the categories have an order, in which they are compared and sorted."""
        return bool(self._rows.schema.types[0].ordered)

    @property
    def categories(self) -> list[Any]:
        """The categories, the same on every rank; in their order, if they have one."""
        return self._categories()

    @collective
    def _categories(self) -> list[Any]:
        return categories_of.categories_of(self._rows, "categories")

    @property
    def codes(self) -> C:
        """The places of the values in :attr:`categories`, as int32; -1 for null."""
        return self._codes()

    @collective
    def _codes(self) -> C:
        pa, rows = arrow(), categories_of.unified(self._rows, "codes")

        def of_piece(some: Any) -> Any:
            return pa.chunked_array([chunk.indices.fill_null(-1) for chunk in some.chunks], pa.int32())

        made = in_pieces(rows, "codes", [rows.local.column(0)], of_piece)
        return self._made(rows.like(pa.table([made], names=rows.names)))

    @collective
    def set_categories(self, new_categories: Any, *, ordered: bool | None = None) -> C:
        """Return the column with other categories: values that are none of them become null.

        Parameters
        ----------
        new_categories
            A list of values, the same on every rank.
        ordered
            Whether the list is in the order of the values; None for as they are.
        """
        return self._changed("set_categories", lambda _: _list(new_categories), ordered)

    @collective
    def reorder_categories(self, new_categories: Any, *, ordered: bool | None = None) -> C:
        """Return the column with the same categories in another order. As :meth:`set_categories`."""

        def reordered(known: list[Any]) -> list[Any]:
            wanted = _list(new_categories)
            if len(wanted) != len(known) or any(each not in known for each in wanted):
                raise InvalidArgumentError(f"{wanted} are not the categories {known} in another order")
            return wanted

        return self._changed("reorder_categories", reordered, ordered)

    @collective
    def add_categories(self, new_categories: Any) -> C:
        """Return the column with further categories, one or a list, behind the others."""

        def added(known: list[Any]) -> list[Any]:
            more = _several(new_categories)
            for each in more:
                if each in known:
                    raise InvalidArgumentError(f"{each!r} is one of the categories {known} already")
            return known + more

        return self._changed("add_categories", added)

    @collective
    def remove_categories(self, removals: Any) -> C:
        """Return the column without some categories, one or a list: their values become null."""

        def left(known: list[Any]) -> list[Any]:
            out = _several(removals)
            for each in out:
                if each not in known:
                    raise InvalidArgumentError(f"{each!r} is none of the categories {known}")
            return [each for each in known if each not in out]

        return self._changed("remove_categories", left)

    @collective
    def remove_unused_categories(self) -> C:
        """Return the column with those categories alone that it has values of."""
        there = categories_of.used(self._rows, "remove_unused_categories")
        return self._changed("remove_unused_categories", lambda known: [each for each in known if each in there])

    @collective
    def rename_categories(self, new_categories: Any) -> C:
        """Return the column with other names of its categories.

        Parameters
        ----------
        new_categories
            A list of as many, a mapping of some to others, or a function that returns the new name of each.
        """

        def renamed(known: list[Any]) -> list[Any]:
            if isinstance(new_categories, Mapping):
                return [new_categories.get(each, each) for each in known]
            wanted = [new_categories(each) for each in known] if callable(new_categories) else _list(new_categories)
            if len(wanted) != len(known):
                raise InvalidArgumentError(f"there are {len(known)} categories, and {len(wanted)} names")
            return wanted

        return self._changed("rename_categories", renamed, None, True)

    @collective
    def as_ordered(self) -> C:
        """Return the column with its categories as ones that are compared and sorted in their order."""
        return self._changed("as_ordered", lambda known: known, True)

    @collective
    def as_unordered(self) -> C:
        """Return the column with its categories without an order."""
        return self._changed("as_unordered", lambda known: known, False)

    def _changed(self, op: str, f: Callable[[list[Any]], list[Any]], ordered: Any = None, rename: bool = False) -> C:
        """Return the column with a function of its categories: the values by name, or in the places of others."""
        known = categories_of.categories_of(self._rows, op)
        with local_step(self._rows.context, op):
            order = self.ordered if ordered is None else bool(flag("ordered", ordered))
            wanted = f(list(known))
            text = f"{wanted}, ordered {order}"
        agree(self._rows.context, op, text)
        return self._made(categories_of.recategorized(self._rows, op, known if rename else wanted, wanted, order))


def _list(given: Any) -> list[Any]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InvalidTypeError(f"categories must be a list, not {given!r}")
    return list(listed(given))


def _several(given: Any) -> list[Any]:
    return [given] if is_scalar(given) else _list(given)
