"""Methods by which programs that were written for :class:`dtl.Columns` go on with tables, which readers now return."""

from __future__ import annotations

from typing import Any, TypeVar

from ..runtime.agreement import collective
from .gathering import gathered
from .rows import HasRows, arrow

Self = TypeVar("Self")


class ColumnsMethods(HasRows):
    """What tables have of Columns beside their own methods."""

    __slots__ = ()

    @property
    def times(self) -> dict[str, str]:
        """For each column of dates or times, its NumPy dtype, such as ``datetime64[ns]``. Not collective."""
        types = arrow().types
        found = {field.name: field.type for field in self.rows.schema if types.is_temporal(field.type)}
        return {name: str(arrow().array([], kind).to_numpy(zero_copy_only=False).dtype) for name, kind in found.items()}

    @property
    def zones(self) -> dict[str, str]:
        """For each column of times with a time zone, its name, such as ``Europe/Berlin``. Not collective."""
        kinds = ((field.name, field.type) for field in self.rows.schema)
        return {name: kind.tz for name, kind in kinds if arrow().types.is_timestamp(kind) and kind.tz is not None}

    @collective
    def gather_to(self, root: int = 0) -> Any:
        """Return all rows as a pyarrow.Table on one rank, as :meth:`Table.to_arrow`; None on the others. Collective.

        Raises
        ------
        BoundsError
            If root is outside [0, size).
        """
        return gathered(self.rows, "gather_to", root)

    def close(self) -> None:
        """Do nothing: the memory of rows goes with the last table or column that has them. Not collective."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
