"""Read tables as columns: the methods of ``Columns`` that do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from .._native.arguments import listed
from ..containers.layout import Division, division
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition, PartitionLike
from ..runtime.agreement import agree, check_context, collective
from ..runtime.context import Context
from ..runtime.scheduler import in_one_turn
from .arrow import strings_of
from .csv_lines import read_lines
from .progress import shown
from .steps import Paths, paths_of
from .tables import Arrow, Parquet

T = TypeVar("T")


class ReadColumns:
    """The class methods of ``Columns`` that read tables."""

    @classmethod
    @in_one_turn
    @collective
    def read_parquet(
        cls: type[T],
        ctx: Context,
        path: Any,
        columns: Any = None,
        *,
        strings: Any = None,
        partition: PartitionLike = Partition.BLOCK,
        block_size: int | None = None,
        progress: bool | None = None,
    ) -> T:
        """Return the columns of a Parquet file as vectors; each rank reads its rows. Collective.

        Parameters
        ----------
        ctx
            The context. Each rank opens the file itself, and all pass the same arguments.
        path
            The file, a pattern of several files, or a URL, as for :func:`load`; or a folder of files, of which those
            whose names begin with ``_`` or a dot are left out; or a list of these. Several files are one table: each
            has the columns that are read, of the same types.
        columns
            The names of the columns to read; None for all.
        strings
            The names of the columns of text whose vectors are to have the texts themselves, as str of the length of the
            longest; True for all columns of text. The default is codes, of which the list of different texts is on
            every rank: if most texts are different, that list is longer than a rank's part.
        partition, block_size
            How the vectors are divided, as for a :class:`DistributedVector`.
        progress
            Show a progress bar on rank 0, as for :func:`load`.

        Returns
        -------
        Columns
            A mapping of names to vectors. Text is held as codes or as str, and dates and times as int64. A column with
            missing values has a mask.

        Raises
        ------
        FileNotFoundError, FileError
            As for :func:`load`.
        InvalidArgumentError
            If there is no such column.
        InvalidTypeError
            If vectors cannot hold the type of a column, such as lists or decimal numbers.
        CollectiveMismatchError
            If the ranks pass different arguments, or find different files at the path.
        BackendUnavailableError
            If pyarrow is missing: ``pip install pyarrow``.

        Notes
        -----
        Every error is raised on every rank, even if it occurs on one rank only.

        Each rank reads the row groups that contain its rows. If a row group belongs to two ranks, both read it.

        Examples
        --------
        >>> import dtl, numpy as np, os, tempfile
        >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "numbers.parquet")
        ...     dtl.save({"n": dtl.DistributedVector.from_numpy(ctx, np.arange(4))}, path)
        ...     with dtl.Columns.read_parquet(ctx, path) as columns:
        ...         print(columns, columns["n"].gather_to())
        <dtl.Columns: n int64> [0 1 2 3]
        """
        check_context(ctx)
        return _read(cls(), ctx, "read_parquet", Parquet(), path, columns, strings, partition, block_size, progress)

    @classmethod
    @in_one_turn
    @collective
    def read_arrow(
        cls: type[T],
        ctx: Context,
        path: Any,
        columns: Any = None,
        *,
        strings: Any = None,
        partition: PartitionLike = Partition.BLOCK,
        block_size: int | None = None,
        progress: bool | None = None,
    ) -> T:
        """Return the columns of a file of Arrow's IPC format, such as Feather, as vectors. Collective.

        Parameters
        ----------
        ctx, path, columns, strings, partition, block_size, progress
            As for :meth:`Columns.read_parquet`.

        Returns
        -------
        Columns
            As for :meth:`Columns.read_parquet`.

        Raises
        ------
        FileNotFoundError, FileError, InvalidArgumentError, InvalidTypeError, CollectiveMismatchError, \
    BackendUnavailableError
            As for :meth:`Columns.read_parquet`.

        Notes
        -----
        Every error is raised on every rank, even if it occurs on one rank only.

        Each rank reads the batches that contain its rows. Arrow's streams, which are files without an index of their
        batches, are not read.

        Examples
        --------
        >>> import dtl, os, pyarrow, tempfile
        >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "fruit.arrow")
        ...     dtl.save(dtl.Columns.from_arrow(ctx, pyarrow.table({"what": ["plum", "fig"]})), path)
        ...     with dtl.Columns.read_arrow(ctx, path) as columns:
        ...         print(columns, columns.categories["what"])
        <dtl.Columns: what text> ['fig', 'plum']
        """
        check_context(ctx)
        return _read(cls(), ctx, "read_arrow", Arrow(), path, columns, strings, partition, block_size, progress)

    @classmethod
    @in_one_turn
    @collective
    def read_csv(
        cls: type[T],
        ctx: Context,
        path: Any,
        columns: Any = None,
        *,
        delimiter: str = ",",
        dtypes: Any = None,
        strings: Any = None,
        partition: PartitionLike = Partition.BLOCK,
        block_size: int | None = None,
        progress: bool | None = None,
    ) -> T:
        """Return the columns of a CSV file as vectors; each rank reads a part of the lines. Collective.

        Parameters
        ----------
        ctx
            The context. Each rank opens the file itself, and all pass the same arguments.
        path
            As for :func:`Columns.read_parquet`. It is text in UTF-8 that is not
            compressed, and its first row has the names of the columns.
        columns
            The names of the columns to read; None for all.
        delimiter
            The character between values.
        dtypes
            A mapping of names of columns to their dtypes, or to ``str`` for text. The type of any other column is the
            first of int64, uint64, bool, dates, times, times in UTC, float64 and text that all its values have.
            Integers that neither int64 nor uint64 holds are text, because float64 would lose digits.
        strings
            Which columns of text become vectors of str, as for :meth:`Columns.read_parquet`. Columns that it names are
            text.
        partition, block_size
            How the vectors are divided, as for a :class:`DistributedVector`.
        progress
            Show a progress bar on rank 0, as for :func:`load`.

        Returns
        -------
        Columns
            A mapping of names to vectors. Text is held as codes or as str, and dates and times as int64. A column with
            missing values has a mask. A value is missing if its field is empty, or is NA, N/A, null, NULL or None. In a
            column of text, these are text if they are in quotes.

        Raises
        ------
        FileNotFoundError
            If a rank does not find the file.
        FileError
            If a rank cannot read the file, if it is not text in UTF-8, if a row has more or fewer values than the first
            one, or if a value does not have the dtype given for it.
        InvalidArgumentError, InvalidTypeError, CollectiveMismatchError, BackendUnavailableError
            As for :meth:`Columns.read_parquet`.

        Notes
        -----
        Every error is raised on every rank, even if it occurs on one rank only.

        Rows and types do not depend on the number of ranks. A row ends with LF, CR or CRLF outside of quotes, and empty
        lines are no rows. A quote opens a quoted value only at the beginning of the value, and two of them in it stand
        for one; elsewhere, it is a character like others, as for Python's ``csv``. The types are determined from the
        first rows of each rank; if a later value does not match, its rank looks at all of its rows, and all read again.

        Examples
        --------
        >>> import dtl, os, tempfile
        >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "towns.csv")
        ...     with open(path, "w") as file:
        ...         _ = file.write(os.linesep.join(["town,people", "Ulm,126", "Bonn,332", "Ulm,NA", ""]))
        ...     with dtl.Columns.read_csv(ctx, path) as columns:
        ...         print(columns["town"].gather_to(), columns.categories["town"], columns.masks["people"].gather_to())
        [1 0 1] ['Bonn', 'Ulm'] [False False  True]
        """
        check_context(ctx)
        text, names, divided = _arguments(path, columns, partition, block_size)
        if not isinstance(delimiter, str) or len(delimiter.encode("utf-8", "replace")) != 1 or delimiter in '"\r\n\0':
            raise InvalidArgumentError(
                f"delimiter {delimiter!r} is not one character of ASCII other than a quote or newline"
            )
        if dtypes is not None and not isinstance(dtypes, Mapping):
            raise InvalidTypeError(f"dtypes must be a mapping of names, not of type {type(dtypes).__name__}")
        held = strings_of(strings)
        said = {**dict.fromkeys(() if isinstance(held, bool) else held, str), **({} if dtypes is None else dtypes)}
        agree(
            ctx,
            "read_csv",
            f"path {text!r}, columns {names}, delimiter {delimiter!r}, dtypes {said}, strings {held}, {divided}",
        )
        with shown(ctx, "read_csv", progress):
            return read_lines(ctx, "read_csv", text, delimiter, names, said, divided, cls(), held)


def _read(
    made: T,
    ctx: Context,
    op: str,
    of: Parquet | Arrow,
    path: Any,
    columns: Any,
    strings: Any,
    partition: Any,
    block_size: Any,
    progress: bool | None,
) -> T:
    """Return the columns of a file that says how many rows it has. Collective."""
    text, names, divided = _arguments(path, columns, partition, block_size)
    held = strings_of(strings)
    agree(ctx, op, f"path {text!r}, columns {names}, strings {held}, {divided}")
    with shown(ctx, op, progress):
        return of.read_columns(ctx, op, text, names, divided, made, held)


def _arguments(path: Any, columns: Any, partition: Any, block_size: Any) -> tuple[Paths, Any, Division]:
    """Return the arguments that both have."""
    names = None
    if columns is not None:
        if isinstance(columns, (str, bytes)):
            raise InvalidTypeError(f"columns must be a list of names, not {columns!r}")
        try:
            names = tuple(listed(columns))
        except TypeError:
            raise InvalidTypeError(f"columns must be a list of names, not {columns!r}") from None
        for name in names:
            if not isinstance(name, str):
                raise InvalidTypeError(f"the name of a column must be text, not {name!r}")
    return paths_of(path), names, division(partition, block_size)
