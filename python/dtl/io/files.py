"""Load containers from files, and save them to files."""

from __future__ import annotations

import contextlib
import functools
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._lazy import readers
from .._native import callsite
from .._native.arguments import flag, integer, stored_number
from .._native.kinds import kind_of
from .._native.library import bridge, state
from .._native.named_tuples import replaced
from .._native.named_types import native_of
from .._native.objects import refuse_closed
from ..algorithms.exchange import share
from ..comm.objects import gather_object
from ..containers.base import DistributedContainer, check_container
from ..containers.expressions import compute_before_use, raw
from ..containers.indexing.regions import move_all
from ..containers.interior import check_numbers, division_of
from ..containers.layout import BLOCK, Division, division, integers
from ..containers.making import created, mapped_of
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import FileError, InvalidArgumentError, InvalidTypeError
from ..policies import Partition, PartitionLike, Placement, PlacementLike, placement_of
from ..runtime import scheduler
from ..runtime.agreement import agree, check_context, collective, local_step, refuse_other_context
from ..runtime.context import Context
from ..runtime.scheduler import algorithm, computed_on_devices, in_one_turn
from .blocks import blocks_of, fill, fill_from_all, is_computed_in_windows, may_read_all, pieces, runs_of
from .checksums import whole
from .columns import Columns
from .csv_lines import Csv
from .flat import FlatSource
from .formats import Array, Format, Options, Sink, Source, Spec, Unit, check_options
from .hdf5 import Hdf5
from .locks import held_by_root
from .matrix_market import MatrixMarket
from .meaning import meaning_of, named_vectors
from .names import check_column, paths_of_names
from .npy import Npy, Raw
from .npz import Npz
from .patterns import next_part, sources_of
from .progress import STEP, advance, expect, is_shown, shown
from .remote import replacement, suffix_of
from .same_files import check_same_files
from .steps import file_step, from_root, is_remote, path_of
from .tables import Arrow, Parquet, Written
from .zarr_store import Zarr

FORMATS: tuple[Format, ...] = (Npy(), Npz(), Raw(), Hdf5(), Zarr(), Parquet(), Arrow(), Csv(), MatrixMarket())

#: The bytes that are converted at a time, where a file's dtype is not the container's.
_PIECE = 4 << 20


@in_one_turn
@collective
def load(
    ctx: Context,
    path: Any,
    *,
    format: str | None = None,
    name: str | None = None,
    dtype: Any = None,
    shape: Any = None,
    offset: int = 0,
    partition: PartitionLike = Partition.BLOCK,
    block_size: int | None = None,
    grid: Any = None,
    placement: PlacementLike = Placement.HOST,
    rows: slice | None = None,
    progress: bool | None = None,
    mapped: bool = False,
) -> Any:
    """Return a container with the elements of a file, or a table, of which each rank reads its part. Collective.

    Parameters
    ----------
    ctx
        The context. Each rank opens the file itself, and all pass the same arguments.
    path
        The file. A path with ``*``, ``?`` or ``[`` means all files with matching names, concatenated along dimension 0
        in the order of their names; ``part-10`` comes after ``part-9``. A URL that fsspec supports, such as
        ``https://…`` or ``s3://…``, is not a pattern: ``?`` is part of it.
    format
        "npy", "npz", "raw", "hdf5", "zarr", "parquet", "arrow", "csv" or "mtx". None takes it from the path's suffix:
        ``.npy``; ``.npz``; ``.bin``, ``.raw`` or ``.dat``; ``.h5``, ``.hdf5`` or ``.hdf``; ``.zarr``; ``.parquet`` or
        ``.pq``; ``.arrow`` or ``.feather``; ``.csv``; ``.mtx`` of Matrix Market.
    name
        In formats with several arrays, the array to load, such as "group/x" in HDF5; None for all of them. If
        a container cannot hold one of them, such as text, HDF5 files are read without it, with a warning, and Zarr
        stores are refused. Of a table, the column that becomes a vector; None for the table.
    dtype
        The dtype of the container; None for that of the file. Elements are cast by NumPy's rule "same_kind". For raw
        files, it is the dtype of the elements in the file, and must be given.
    shape
        For raw files only: the shape of the elements. None for one dimension, as long as the file allows.
    offset
        For raw files only: the byte at which the elements begin.
    partition, block_size, grid
        How the container is divided, as for a :class:`DistributedTensor`. It does not matter how many ranks wrote the
        file, or whether NumPy did.
    placement
        Where the elements are to be, as for a :class:`DistributedTensor`. What goes to a GPU is read in pieces.
    rows
        Of a table only: a slice of its rows, such as ``slice(100, 200)``. Groups of rows that it does not need are not
        read, and CSV has the types of these rows. None for all rows.
    progress
        Show a progress bar of tqdm on rank 0 if the call takes more than 2 seconds. None shows it if standard error is
        a terminal and tqdm is installed.
    mapped
        Have the file be the container's memory, without reading it: of ``.npy`` and raw files, and of datasets of HDF5
        that are contiguous, in C order, with the byte order of this machine. The placement is PLACEMENT_DISK. What is
        written to the container stays in memory, and does not reach the file. Or have an Arrow file that is not
        compressed be the memory of a table's rows, which are looked through once, since no call checks them later.

    Returns
    -------
    DistributedVector, DistributedTensor, dict, Table or csr_array
        A sparse matrix of a file of Matrix Market, and of an ``.npz`` file that SciPy or :func:`save` has written of
        one, if no name is given: its rows are divided by blocks, or by local sizes. Otherwise a vector if there is one
        dimension, and a tensor if there are more. For a format with several arrays and no name, a
        dictionary of these; but for a Zarr store that is a single array, that array. Arrays that containers cannot
        hold are not in the dictionary, and rank 0 warns of each. For a table and no name, a :class:`Table`, whose rows
        lie one rank's after the other's: it has no other partition, and is on the host or on disk.

    Raises
    ------
    FileNotFoundError
        If a rank does not find the file.
    FileError
        If a rank cannot read the file, or if the file has another format, is truncated or damaged, or changes
        meanwhile.
    InvalidArgumentError
        If the format is unknown, containers cannot hold the dtype, or the elements cannot be divided in this way.
    InvalidTypeError
        If the elements cannot be cast to dtype, or if the column of that name has text, times or missing values, which
        a table holds.
    BackendUnavailableError
        If the package that reads the format, or fsspec for a URL, is missing; the text names it.
    CollectiveMismatchError
        If the ranks pass different arguments, or find different files at the path. Ranks that have the same file
        systems compare device, inode, size and time of change, and others the size.
    MemoryError
        If a rank's part cannot be allocated.

    Notes
    -----
    Every error is raised on every rank, even if it occurs on one rank only. So is its ``errno``.

    A mapped file has to stay as it is. If another program makes it shorter, calls that use its elements raise
    FileError, on every rank if they are collective; what ``local_view()`` returns reads as zero where the file ends.
    If another program writes to it, the elements may change.

    Each rank uses memory for its part, and a few MiB. An array in Fortran order takes longer, because it is reordered
    while it is read. If an array is compressed, every rank decompresses it up to the end of its part. The checksums of
    an ``.npz`` file are verified, but not if the path is a pattern of several files.

    Examples
    --------
    >>> import dtl, numpy as np, os, tempfile
    >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "squares.npy")
    ...     np.save(path, np.arange(6) ** 2)
    ...     vec = dtl.load(ctx, path, partition="cyclic")
    ...     print(vec.gather_to())
    [ 0  1  4  9 16 25]
    """
    check_context(ctx)
    text = path_of(path)
    of = format_of(format, text)
    divided = division(partition, block_size, grid)
    where = placement_of(placement)
    kept = None if dtype is None else _dtype(dtype)
    if name is not None and not isinstance(name, str):
        raise InvalidTypeError(f"name must be text, not {name!r} of type {type(name).__name__}")
    extents = None if shape is None else integers("shape", shape)
    options = Options(kept, extents, integer("offset", offset), name)
    check_options(options, of.loads, f"the format {of.name}")
    if options.offset < 0 or any(extent < 0 for extent in extents or ()):
        raise InvalidArgumentError(f"offset {options.offset} or shape {extents} is negative")
    _check_rows(rows, of, name, divided, where)
    if flag("mapped", mapped):
        where = _mapped_placement(of, text, name, where)
    said = f"path {text!r}, format {of.name}, {divided}, {options}, placement {where.name}, rows {rows}"
    agree(ctx, "load", f"{said}, mapped" if mapped else said)
    with shown(ctx, "load", progress):
        if of.tabular and name is None:
            return readers["table"](ctx, of.name, text, rows, where, bool(mapped))
        if name is None and _holds_matrix(ctx, of, text):
            return readers["matrix"](ctx, of.name, text, divided, kept, where)
        if of.tabular:
            return _numbers(of.read_columns(ctx, "load", text, (name,), divided, Columns()), text, name, where)
        return read_file(ctx, "load", text, of, divided, options, where, bool(mapped))


def _holds_matrix(ctx: Context, of: Format, path: str) -> bool:
    """Say whether a file is a sparse matrix. Collective for formats of which some are."""
    if not of.has_matrices or is_remote(path):
        return False
    return bool(from_root(ctx, "load", "read", path, lambda: of.holds_matrix(path)))


def _mapped_placement(of: Format, path: str, name: str | None, placement: Placement) -> Placement:
    """Return the placement of what is mapped, of files that can be."""
    if (of.tabular and (of.name != "arrow" or name is not None)) or of.name == "npz" or is_remote(path):
        raise InvalidArgumentError(
            f"{path!r} is not mapped: .npy, raw and contiguous HDF5 files of this machine are, and tables of Arrow; "
            "load it without mapped=True"
        )
    if of.tabular:
        return placement
    if placement not in (Placement.HOST, Placement.DISK):
        raise InvalidArgumentError(f"what is mapped is on the host, and not on {placement.name}")
    return Placement.DISK


def _check_rows(rows: Any, of: Format, name: str | None, divided: Division, placement: Placement) -> None:
    """Refuse rows of what is no table, and tables that are divided or placed as containers are."""
    if rows is not None and not isinstance(rows, slice):
        raise InvalidTypeError(f"rows must be a slice, such as slice(100, 200), not {rows!r}")
    whole = of.tabular and name is None
    if rows is not None and not whole:
        raise InvalidArgumentError(f"rows {rows} are for a whole table, not for {name or of.name!r}")
    if whole and (divided != BLOCK or placement not in (Placement.HOST, Placement.DISK)):
        raise InvalidArgumentError(
            f"a table has its rows one rank's after the other's on the host or on disk, not divided by {divided} on "
            f"{placement.name}: with name=, load returns a column as a vector, which may be"
        )


def _numbers(columns: Columns, path: str, name: Any, placement: Placement) -> Any:
    """Return the vector of a column, where numbers are all that it has. Collective."""
    for problem, where in (("text", columns.categories), ("missing values", columns.masks), ("times", columns.times)):
        if where:
            columns.close()
            raise InvalidTypeError(
                f"the column {next(iter(where))!r} of {path!r} has {problem}, which a vector has not: load without "
                "name= returns the table"
            )
    return columns[name] if placement is Placement.HOST else _placed(columns[name], placement)


def _placed(vec: DistributedVector, placement: Placement) -> DistributedVector:
    """Return a vector with the elements of one on the host, which it closes. Collective."""
    with vec:
        made = created(DistributedVector, vec.context, vec.shape, vec.dtype, division_of(vec), placement)
        try:
            move_all(made, vec)
        except BaseException:
            made.close()
            raise
    return made


def _dtype(dtype: Any) -> np.dtype[Any]:
    """Return a dtype that containers hold, in the byte order that was said."""
    try:
        resolved = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError) as error:
        raise InvalidArgumentError(f"unknown dtype {dtype!r}: {error}") from None
    stored_number(native_of(resolved))
    checked: np.dtype[Any] = resolved
    return checked


def format_of(name: Any, path: str) -> Format:
    """Return the format of that name, or that the path's suffix says."""
    suffix = suffix_of(path)
    for of in FORMATS:
        if name == of.name if name is not None else suffix in of.suffixes:
            return of
    names = ", ".join(of.name for of in FORMATS)
    if name is not None:
        raise InvalidArgumentError(f"format {name!r} is none of {names}")
    raise InvalidArgumentError(f"the suffix {suffix!r} of {path!r} is of no format; say which: format= one of {names}")


def read_file(
    ctx: Context,
    op: str,
    path: str,
    of: Format,
    divided: Division,
    options: Options,
    placement: Placement = Placement.HOST,
    mapped: bool = False,
) -> Any:
    """Return what is in a file, after the ranks have agreed on the call. Collective."""
    opened: dict[str, Source] = {}
    made: dict[str, Any] = {}
    try:
        with file_step(ctx, op, "read", path):
            opened = sources_of(of, path, options)
            if options.name is not None and options.name not in opened and options.name.startswith("/"):
                options = replaced(options, name=options.name[1:])  # of which the / is the root of the file
                opened = sources_of(of, path, options)
            if options.name is not None and options.name not in opened:
                raise InvalidArgumentError(f"{path!r} has no array {options.name!r}")
            sources = _holdable(ctx, path, opened, options)
            targets = {name: _target(name, source, options) for name, source in sources.items()}
        agree(ctx, op, _described(path, sources))
        check_same_files(ctx, op, path, [state for source in sources.values() for state in source.states])
        for name, source in sources.items():
            if mapped:
                made[name] = _mapped(ctx, path, name, source, divided, targets[name])
            else:
                made[name] = _read(ctx, op, path, name, source, divided, targets[name], placement)
    except BaseException:
        for c in made.values():
            c.close()
        raise
    finally:
        for source in opened.values():
            source.close()
    return next(iter(made.values())) if options.name is not None or list(made) == [""] else made


def _holdable(ctx: Context, path: str, sources: dict[str, Source], options: Options) -> dict[str, Source]:
    """Return the arrays that containers can hold: those beside them are left out where nobody asks for them by name."""
    held, refused = {}, {}
    for name, source in sources.items():
        try:
            _check_held(name, source)
            held[name] = source
        except InvalidArgumentError as error:
            refused[name] = error
    if refused and (options.name is not None or not held):
        raise next(iter(refused.values()))
    for name, why in refused.items():
        if ctx.rank == 0:
            callsite.warn(f"{path!r} is read without {name!r}: {why}", UserWarning)
    return held


def _what(name: str) -> str:
    return f"the array {name!r}" if name else "the array"


def _check_held(name: str, source: Source) -> None:
    """Refuse an array that no container can hold."""
    if source.unheld:
        raise InvalidTypeError(f"{_what(name)} is not held: {source.unheld}")
    if not source.shape:
        raise InvalidArgumentError(f"{_what(name)} has no dimensions; containers have one or more")
    if max(source.shape) >= 1 << 63:
        raise InvalidArgumentError(f"{_what(name)} has shape {source.shape}; containers have extents below 2**63")
    try:
        stored_number(native_of(source.dtype))
    except InvalidArgumentError as error:
        raise type(error)(f"{_what(name)} is not held: {error}") from None


def _target(name: str, source: Source, options: Options) -> np.dtype[Any]:
    """Return the dtype of the container for an array."""
    wanted = source.dtype if options.dtype is None else options.dtype
    target: np.dtype[Any] = native_of(wanted)
    stored_number(target)
    if not kind_of(target).stays(source.dtype, target):
        raise InvalidTypeError(f"{_what(name)} of {source.dtype} may not be cast to {target}")
    return target


def _described(path: str, sources: dict[str, Source]) -> str:
    """Return what a rank has found in a file, for the error of ranks that found something else."""
    arrays = ", ".join(f"{name} {source.dtype} {source.shape} {source.crc}" for name, source in sources.items())
    return f"found in {path!r}: {arrays[:200]} ({zlib.crc32(arrays.encode()):08x})"


def _mapped(ctx: Context, path: str, name: str, source: Source, divided: Division, dtype: np.dtype[Any]) -> Any:
    """Return a container whose memory is that of an array in a file. Collective."""
    with file_step(ctx, "load", "map", path):
        if not isinstance(source, FlatSource) or source.dtype != dtype or source.crc is not None:
            of = f"{_what(name)} of {source.dtype}"
            raise InvalidArgumentError(
                f"{of} is mapped if its elements lie side by side in C order, in the byte order of this machine and as "
                f"{dtype}; load it without mapped=True"
            )
        place = source.place()
        if place[1] % dtype.alignment:  # which is the same for all parts: an element's size is a multiple of it
            raise InvalidArgumentError(
                f"{_what(name)} of {dtype} begins at byte {place[1]}: elements are mapped from byte 0 or a multiple of "
                f"{dtype.alignment} on; load it without mapped=True"
            )
    kind: Any = DistributedVector if len(source.shape) == 1 else DistributedTensor
    return mapped_of(kind, ctx, source.shape, dtype, divided, place)


def _read(
    ctx: Context,
    op: str,
    path: str,
    name: str,
    source: Source,
    divided: Division,
    dtype: np.dtype[Any],
    placement: Placement,
) -> Any:
    """Return a container of an array. Collective."""
    verb = f"read {name!r} of" if name else "read"
    kind: Any = DistributedVector if len(source.shape) == 1 else DistributedTensor
    made = created(kind, ctx, source.shape, dtype, divided, placement)
    try:

        def read(at: tuple[int, ...], out: Array) -> None:
            with file_step(ctx, op, verb, path):
                for place, piece in pieces(at, out, STEP) if is_shown() else ((at, out),):
                    _read_as(source, place, piece)
                    advance(piece.nbytes)

        expect(made.local_view().nbytes)
        runs = runs_of(made)
        with file_step(ctx, op, verb, path):
            done = runs is not None and source.read_runs(runs)
        if not done:
            if source.cheap and may_read_all(made):
                fill_from_all(made, read)
            else:
                fill(op, made, read, source.window)
        if source.sums is not None:
            with file_step(ctx, op, verb, path):
                source.sum_share(ctx.rank, ctx.size)
            _check_sums(ctx, op, verb, path, source)
        agree(ctx, op)
    except BaseException:
        made.close()
        raise
    return made


def _read_as(source: Source, at: tuple[int, ...], out: Array) -> None:
    """Read elements in the dtype of an array, whose memory may have gaps."""
    if source.dtype == out.dtype and out.flags.c_contiguous:
        source.read(at, out)
        return
    for place, piece in pieces(at, out, _PIECE):
        part = np.empty(piece.shape, source.dtype)
        source.read(place, part)
        piece[...] = part


def _check_sums(ctx: Context, op: str, verb: str, path: str, source: Source) -> None:
    """Raise FileError where what the ranks have read is not what was written. Collective."""
    agree(ctx, op)
    told = gather_object(ctx, source.sums.parts if source.sums is not None else [], 0)
    with file_step(ctx, op, verb, path):
        if told is not None:
            size = math.prod(source.shape) * source.dtype.itemsize
            if whole((part for parts in told for part in parts), size) != source.crc:
                raise FileError("it is damaged: its checksum is not that of what was written")


@algorithm
@computed_on_devices
def save(
    c: Any,
    path: Any,
    *,
    format: str | None = None,
    compression: Any = None,
    chunks: Any = None,
    append: bool = False,
    progress: bool | None = None,
) -> None:
    """Write the elements of a container to a file; each rank writes its part. Collective.

    The new file replaces an old one only when it is complete. Until then, and if the call fails or the program is
    killed, the old file is unchanged.

    Parameters
    ----------
    c
        A container, the same on every rank, divided in any way; or a sparse matrix, as ``.npz`` of SciPy or as ``.mtx``
        of Matrix Market. For a format with several arrays, also a mapping of
        names to containers; in HDF5 and Zarr "group/x" is in a group, and "/x" is "x". For a table format, vectors of
        one size, a :class:`Table`, as :meth:`Table.save` writes it, or :class:`Columns` with their text and missing
        values. A column of these keeps its texts or times, also in another mapping: ``{**columns, "more": vector}``.
        Formats that are no tables refuse it.
    path
        The file, in a folder that all ranks can write to; or a URL that fsspec supports. A file for a URL is written on
        the machine of rank 0 first, and sent when it is complete.
    format
        As for :func:`load`.
    compression
        For HDF5 "gzip", "lzf" or "szip"; for Zarr "zstd", "gzip" or "blosc"; for Parquet "snappy", "gzip", "brotli",
        "lz4" or "zstd"; for Arrow "lz4" or "zstd". False means no compression. None means none for HDF5 and Arrow,
        "snappy" for Parquet, and zarr's own default for Zarr.
    chunks
        For HDF5 and Zarr, the extents of a chunk. None makes a contiguous dataset in HDF5, and chunks of whole rows of
        about 2 MiB in Zarr.
    append
        Add to an existing file, instead of writing a new one:

        - ``.npy``: rows are added to the array. The array in the file is unchanged until all of them are on the disk.
        - raw: elements are added at the end.
        - HDF5: rows are added to the datasets of these names, which must have been saved with chunks or compression. If
          the program is killed meanwhile, datasets may be longer or the file may be damaged, since HDF5 keeps no copy.
        - Zarr: rows are added to the arrays of these names, with their chunks and compression. A reader finds each
          array as it was, or with all new rows.
        - table formats: the path is a folder, to which a file ``part-0.parquet`` and so on is added. ``load`` reads the
          folder as one table. The columns must have the names, and but for CSV the types, of those that are there.

        While another job adds to the file, the call waits, for ten minutes at most.
    progress
        As for :func:`load`.

    Raises
    ------
    FileError
        If a rank cannot write its part, for example because the disk is full, or if the path is what is not replaced:
        a device, a FIFO, a socket, or a folder; for Zarr, a folder with anything that is no part of a store.
    FileNotFoundError
        If the folder of the path does not exist.
    InvalidArgumentError
        If the format is unknown, if it holds one array and several are given, if columns are appended to others, or if
        a name is empty, has an empty, "." or ".." part, or is not one that the format may have.
    InvalidTypeError
        If c is not a container or path not a path, if a table would have complex numbers, or if the format does not
        have the elements: dates, bytes, records and float16 are for "npy", "npz" and "raw", and str for tables, too.
    BackendUnavailableError
        As for :func:`load`.
    CollectiveMismatchError
        If the ranks pass different containers or paths.

    Notes
    -----
    Every error is raised on every rank, even if it occurs on one rank only. Nothing is left of the new file.

    The elements are written in C order, whatever the partition, so NumPy and any number of ranks can read the file. If
    the elements of a rank are not a range of rows, as with PARTITION_CYCLIC or a grid, the ranks exchange them in
    windows of 2 MiB first, so that each writes long ranges.

    Of a container on disk that is an expression still, such as ``np.sqrt(x * x + y * y)``, the operands are read once,
    and what is computed goes to the file in windows of 4 MiB. It is not kept: who uses the container later computes it
    again. So it is if each rank's elements are a range of rows, and the format has no chunks.

    Examples
    --------
    >>> import dtl, numpy as np, os, tempfile
    >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.arange(4), partition="cyclic")
    ...     dtl.save(vec, os.path.join(folder, "numbers.npy"))
    ...     np.load(os.path.join(folder, "numbers.npy")).tolist()
    [0, 1, 2, 3]
    """
    if hasattr(c, "__dtl_save__"):
        c.__dtl_save__(path, format, compression, chunks, append)
        return
    named = isinstance(c, (Mapping, Columns))
    arrays = dict(named_vectors(c) if isinstance(c, Columns) else c) if named else {"": c}
    known = next((value for value in arrays.values() if isinstance(value, DistributedContainer)), None)
    check_container("c", known if named and known is not None else c)
    assert known is not None
    ctx = known.context
    with local_step(ctx, "save"):
        text = path_of(path)
        of = format_of(format, text)
        arrays = _containers_to_save(arrays, of, named)
        if compression is not None and compression is not False and not isinstance(compression, str):
            raise InvalidTypeError(f"compression must be the name of one, not of type {type(compression).__name__}")
        options = Options(compression=compression, chunks=None if chunks is None else integers("chunks", chunks))
        flag("append", append)
        check_options(options, of.saves, f"the format {of.name}")
        of.check(options)
        if append and not of.tabular and options != Options():
            raise InvalidArgumentError("compression and chunks are not for append=True: they stay as they are")
        masks = c.masks if isinstance(c, Columns) else {}
        if not of.tabular:
            _check_numbers(arrays, masks, of)
        written = Written(arrays, masks) if of.tabular else None
    if state.under_way:
        scheduler.wait_for(arrays)
    held = bridge.take_turn(ctx, "save") if ctx.size > 1 else 0
    try:
        words = f"path {text!r}, format {of.name}, names {list(arrays)}, {options}, append {append}"
        also = tuple([raw(c) if is_computed_in_windows(c) else c for c in arrays.values()])
        share(raw(known), "save", words, also=also, anywhere=True)
        with shown(ctx, "save", progress):
            if of.tabular:
                further = functools.partial(_further_file, of, text, written) if append else None
                name = text if further is None else from_root(ctx, "save", "write", text, further)
                of.write_columns(ctx, "save", name, written, replaced(options, further=further))
            elif append:
                append_to_file(ctx, "save", text, of, arrays)
            else:
                write_file(ctx, "save", text, of, arrays, options)
    finally:
        if held:
            bridge.end_turn(held)


def _containers_to_save(arrays: dict[Any, Any], of: Format, named: bool) -> dict[str, DistributedContainer]:
    """Return the containers to save by their names."""
    if named and not of.named:
        raise InvalidArgumentError(f"the format {of.name} holds one array, without a name; save {len(arrays)} of them")
    if not named and not of.unnamed:
        arrays = {"data": arrays[""]}
    if named:
        if of.tabular:
            arrays = {check_column(name): value for name, value in arrays.items()}
        else:
            arrays = dict(zip(paths_of_names(arrays, of.grouped, of.folder), arrays.values()))
    first = next(iter(arrays.values())).context
    for name, value in arrays.items():
        check_container(name or "c", value)
        refuse_closed(value)
        if not (of.of_any_dtype or (of.tabular and kind_of(value.dtype).is_str)):
            check_numbers(value, f"save in the format {of.name}")
        refuse_other_context(repr(name), value, first)
    return arrays


def _further_file(of: Format, path: str, written: Written | None) -> str:
    """Return the name of a further file of a table, the columns of which go with those that are there."""
    of.check_further(path, written)
    return next_part(path)


def _check_numbers(arrays: dict[str, Any], masks: dict[str, Any], of: Format) -> None:
    """Refuse columns whose numbers would lose their meaning in a format of arrays, such as dates and codes of text."""
    for name, vec in arrays.items():
        meaning = meaning_of(vec)
        what = "codes of text" if meaning.texts is not None else meaning.time and f"numbers that count {meaning.time}"
        what = "missing values" if name in masks else what
        if what:
            raise InvalidTypeError(
                f"{name or 'the vector'!r} is a column with {what}, of which the format {of.name} would have the "
                "numbers alone: save it as a table, such as .parquet, or save a copy() of the vector"
            )


def write_file(ctx: Context, op: str, path: str, of: Format, arrays: dict[str, Any], options: Options) -> None:
    """Write containers to a file, after the ranks have agreed on the call. Collective."""
    with replacement(ctx, op, path, of.foreign if of.folder else None) as new:
        specs = {name: Spec(c.shape, c.dtype) for name, c in arrays.items()}
        layout = from_root(ctx, op, "write", path, lambda: of.create(new.name, specs, options))
        everyones = _write_parts(ctx, op, path, new.name, of, arrays, layout, new.alone)
        with file_step(ctx, op, "write", path):
            if everyones is not None:
                of.complete(new.name, layout, everyones)
        new.commit()


def append_to_file(ctx: Context, op: str, path: str, of: Format, arrays: dict[str, Any]) -> None:
    """Write the elements of containers after those of a file, which knows of them when they are there. Collective."""
    with local_step(ctx, op):
        if is_remote(path):
            raise InvalidArgumentError(f"append is not for files elsewhere, such as {path!r}")
    specs = {name: Spec(c.shape, c.dtype) for name, c in arrays.items()}
    changes: list[Any] = []  # on the root

    def extend() -> Any:
        layout, *after = of.extend(path, specs)
        changes.extend(after)
        return layout

    with held_by_root(ctx, op, path):
        try:
            layout = from_root(ctx, op, "write", path, extend)
            _write_parts(ctx, op, path, path, of, arrays, layout)
            agree(ctx, op)
        except BaseException:
            if changes:
                with contextlib.suppress(OSError):
                    of.withdraw(path, changes[0])
            raise
        with file_step(ctx, op, "write", path):
            if changes:
                of.confirm(path, changes[1])
        agree(ctx, op)


def _write_parts(
    ctx: Context, op: str, path: str, name: str, of: Format, arrays: dict[str, Any], layout: Any, alone: bool = False
) -> list[Any] | None:
    """Write each rank's parts, and return what the ranks tell of them, on the root. Collective.

    Where the root is to be alone, it gets the parts of the others and writes all.
    """
    units = of.units(layout)
    turns = ctx.size if of.takes_turns(layout) and not alone else 0
    sink = Sink()
    try:
        with file_step(ctx, op, "write", path):
            if ctx.rank == 0 or not alone:
                sink = of.sink(name, layout)
        expect(sum(c.nbytes if alone else c.local_size * c.itemsize for c in arrays.values()))
        for key, c in arrays.items():
            runs = None if alone else runs_of(c)
            with file_step(ctx, op, "write", path):
                done = runs is not None and sink.write_runs(key, runs)
            if done:
                continue
            unit, first = units.get(key, Unit())
            if turns:
                compute_before_use(c)  # of which each rank then has one block
            for at, elements in blocks_of(op, c, unit, alone, first):
                if alone and ctx.rank:
                    continue
                for turn in range(turns):
                    with file_step(ctx, op, "write", path):
                        if turn == ctx.rank:
                            sink.write(key, at, elements)
                    agree(ctx, op)
                split = is_shown() and not turns and key not in units
                with file_step(ctx, op, "write", path):
                    for place, piece in pieces(at, elements, STEP) if split else ((at, elements),):
                        if not turns:
                            sink.write(key, place, piece)
                        advance(piece.nbytes)
        with file_step(ctx, op, "write", path):
            told = sink.finish()
    finally:
        sink.close()
    agree(ctx, op)
    everyones = gather_object(ctx, told, 0)
    return everyones[:1] if alone and everyones is not None else everyones
