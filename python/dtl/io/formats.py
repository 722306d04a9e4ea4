"""What a format of files is to ``load`` and ``save``: arrays that are read from it, and written to it, by blocks."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy as np

from ..exceptions import BackendUnavailableError, InvalidArgumentError
from .blocks import Runs
from .checksums import Checksum

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Spec(NamedTuple):
    """The shape and dtype of an array."""

    shape: tuple[int, ...]
    dtype: Any


class Unit(NamedTuple):
    """How many rows one rank writes at least, and how many before the first of such a number."""

    rows: int = 1
    first: int = 0


#: Names, on the root, a further file of a table that is a folder, of columns that go with those that are there.
Further = Callable[[], str]


class Options(NamedTuple):
    """What a caller may say of a file, beside its path."""

    dtype: Any = None
    shape: tuple[int, ...] | None = None  # of raw elements
    offset: int = 0
    name: str | None = None
    compression: Any = None
    chunks: tuple[int, ...] | None = None
    further: Further | None = None


class Source:
    """An array of a file, open on this rank."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    #: The CRC-32 of the array's bytes that the file names, and those of what was read; None where it names none.
    crc: int | None = None
    sums: Checksum | None = None

    #: Why no container can hold it, where the format knows.
    unheld = ""

    #: The size and time of change of each file that is open, and what else tells it from others.
    states: tuple[Any, ...] = ()

    #: Whether reading more than is wanted costs little: the same on every rank.
    cheap = False

    #: The bytes of a rank's part of a window, where ranks exchange what they read: the same on every rank.
    window = 2 << 20

    def read(self, at: tuple[int, ...], out: Array) -> None:
        """Fill a contiguous array of the file's dtype with the elements from an index in the leading dimensions on."""
        raise NotImplementedError

    def read_runs(self, runs: Runs) -> bool:
        """Fill runs with their elements, and return True; False where that is not this array's way on any rank."""
        return False

    def sum_share(self, rank: int, ranks: int) -> None:
        """Take the checksum of this rank's share of the bytes, where that is not known from reading."""

    def close(self) -> None:
        """Let the file go. A second call does nothing."""


class Sink:
    """A file that is written to, open on this rank."""

    def write(self, name: str, at: tuple[int, ...], elements: Array) -> None:
        """Write elements of an array, from an index in the leading dimensions on."""
        raise NotImplementedError

    def write_runs(self, name: str, runs: Runs) -> bool:
        """Write runs, and return True; False where that is not this file's way on any rank."""
        return False

    def finish(self) -> Any:
        """Bring what was written to the disk, and return what the root is to know of it."""

    def close(self) -> None:
        """Let the file go. A second call does nothing."""


class Format:
    """A format of files."""

    name: str
    suffixes: tuple[str, ...]

    #: Whether a file has arrays by their names, and whether it may be one array without a name.
    named, unnamed = False, True

    #: Whether it has elements of all dtypes that containers hold, and not of those alone that the core knows.
    of_any_dtype = False

    #: Whether the names of arrays are paths in groups, which may not be arrays too.
    grouped = False

    #: Whether it is a folder; and whether its arrays are columns of one table, for which it has functions of its own.
    folder = tabular = False

    #: Whether some files are sparse matrices, which ``dtl.sparse`` reads.
    has_matrices = False

    #: Which of Options this format knows.
    loads: tuple[str, ...] = ("dtype",)
    saves: tuple[str, ...] = ()

    def check(self, options: Options) -> None:
        """Refuse what cannot be written, before anything is."""

    def foreign(self, path: str) -> str | None:
        """Say what in a folder that is to be replaced is not of this format; None where all of it is."""
        raise NotImplementedError

    def holds_matrix(self, path: str) -> bool:
        """Say whether a file of this machine is a sparse matrix: of a format of which some are."""
        raise NotImplementedError

    def sources(self, path: str, options: Options) -> dict[str, Source]:
        """Return the arrays of a file, by name; one without a name has the name ""."""
        raise NotImplementedError

    def create(self, path: str, arrays: dict[str, Spec], options: Options) -> Any:
        """Prepare a file, on the root, and return what every rank is to know of it."""
        raise NotImplementedError

    def sink(self, path: str, layout: Any) -> Sink:
        """Return what this rank writes to."""
        raise NotImplementedError

    def read_columns(self, ctx: Any, op: str, path: str, columns: Any, divided: Any, made: Any) -> Any:
        """Return the columns of a table, given as empty ones. Collective."""
        raise NotImplementedError

    def check_further(self, path: str, written: Any) -> None:
        """Refuse columns that do not go with those of the files of a folder, to which they are to be appended."""

    def write_columns(self, ctx: Any, op: str, path: str, written: Any, options: Options) -> None:
        """Write the columns of a table. Collective."""
        raise NotImplementedError

    def extend(self, path: str, arrays: dict[str, Spec]) -> tuple[Any, Any, Any]:
        """Look, on the root, where rows go that are appended to the arrays of a file.

        Returns what every rank is to know, and what ``withdraw`` and ``confirm`` are to know.
        """
        raise InvalidArgumentError(
            f"append is not for the format {self.name}; it is for npy, raw, hdf5, zarr and tables"
        )

    def withdraw(self, path: str, before: Any) -> None:
        """Undo, on the root, what ``extend`` and writing have done."""

    def confirm(self, path: str, after: Any) -> None:
        """Have the rows belong to the arrays, on the root, when all are on the disk."""

    def units(self, layout: Any) -> dict[str, Unit]:
        """Return how many rows of each array one rank writes at least, such as those of a chunk."""
        return {}

    def takes_turns(self, layout: Any) -> bool:
        """Say whether the ranks write one after the other."""
        return False

    def complete(self, path: str, layout: Any, told: list[Any]) -> None:
        """End a file, on the root, given what each rank's sink told of it when it was finished."""


def needs(package: str, what: str, error: ImportError) -> BackendUnavailableError:
    """Return the error of a package that is not there."""
    return BackendUnavailableError(f"{what} needs {package}: pip install {package} ({error})")


def check_options(options: Options, known: tuple[str, ...], what: str) -> None:
    """Refuse what a format has no use for."""
    for name, value, default in zip(Options._fields, options, Options()):
        if name not in known and not (type(value) is type(default) and value == default):
            raise InvalidArgumentError(f"{name} {value!r} is not for {what}")
