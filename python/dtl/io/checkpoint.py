"""Checkpoints: all that a program needs to continue, in a folder that is written completely or not at all.

The folder has a subfolder for each checkpoint, named by its number. In it, the elements of each container are an
``.npy`` file in global order, the entries of each map are two, other values are pickles, and ``manifest.json`` says
what they are, with the size and CRC-32 of each file. The name of a subfolder begins with a dot until it is complete and
on the disk; then it gets its number.
"""

from __future__ import annotations

import ast
import contextlib
import math
import os
import pickle
import zlib
from collections.abc import Mapping
from typing import Any, Iterator, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from .._lazy import readers
from .._native import log
from .._native.arguments import integer
from .._native.library import bridge, state
from .._native.objects import handle_of, refuse_closed
from ..asynchronous.submit import deferred
from ..comm import collectives
from ..comm.objects import gather_object
from ..containers.base import DistributedContainer
from ..containers.expressions import is_pending
from ..containers.indexing.regions import move_all
from ..containers.interior import division_of, owning_class_of
from ..containers.layout import BLOCK, Division
from ..containers.making import created
from ..containers.map.distributed_map import DistributedMap
from ..containers.sequences import DistributedArray, DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import FileError, FileNotFoundError, InvalidArgumentError, InvalidTypeError
from ..futures.future import Future, wait_until_over
from ..policies import Partition, Placement, PlacementLike, placement_of
from ..runtime import scheduler
from ..runtime.agreement import agree, check_context, collective, local_step, refuse_other_context
from ..runtime.context import Context
from ..runtime.scheduler import in_one_turn
from .blocks import WINDOW, Block, blocks_of, evenly, fill, owning
from .checkpoint_folder import FORMAT, VERSION, VERSION_OF_CONTAINERS, Reading, Writing, drop_others
from .checksums import whole
from .file_copies import FileOfElements
from .flat import FlatSink, FlatSource, make_room, opened
from .formats import Array, Spec
from .names import path_of_name
from .npy import header, padded
from .progress import advance, check_shown, expect, shown
from .steps import file_step, from_root, local_path_of

_CLASSES: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (DistributedVector, DistributedArray, DistributedTensor)
}


#: File systems share whole blocks of so many bytes; of arrays from so many bytes on, that is worth a longer header.
_BLOCK, _LARGE = 4096, 1 << 20


class _Place(NamedTuple):
    """The folder of a call."""

    given: str  # as the program names it
    path: str  # wherever the program may change to meanwhile
    queue: tuple[int, str]  # the context, and the folder as rank 0 knows it, by whichever name the program does


#: The last asynchronous checkpoint that is under way of a context to a folder.
_under_way: WeakValueDictionary[tuple[int, str], Future] = WeakValueDictionary()


class _Part(NamedTuple):
    """An array that the ranks write to a file of a checkpoint: its name and extents, and how to get its blocks."""

    file: str
    spec: Spec
    container: DistributedContainer | None  # the elements in order; None where they are this rank's:
    block: Block | None

    @property
    def nbytes(self) -> int:
        """How many bytes of it this rank holds."""
        if self.container is not None:
            return self.container.local_size * self.container.itemsize
        return 0 if self.block is None else int(self.block.elements.nbytes)

    def file_of(self, elements: Array) -> FileOfElements | None:
        """Return the file that a block is, which is the caller's; None if it is none."""
        c = self.container
        if c is None or is_pending(c) or c.placement_policy is not Placement.DISK or not elements.flags.c_contiguous:
            return None
        return FileOfElements(c) if elements.ctypes.data == c.local_view().ctypes.data else None

    def blocks(self, op: str) -> Iterator[Block]:
        """Yield this rank's blocks. Collective where the container is not in order."""
        if self.container is not None:
            yield from blocks_of(op, self.container)
        elif self.block is not None:
            yield self.block


class _Contents(NamedTuple):
    """What a checkpoint is to hold: the manifest's entries, the arrays, and the pickles of the root."""

    entries: dict[str, dict[str, Any]]
    parts: list[_Part]
    pickles: dict[str, bytes]


def checkpoint(
    path: Any,
    contents: Mapping[str, Any],
    *,
    keep: int = 1,
    ctx: Context | None = None,
    progress: bool | None = None,
) -> str:
    """Write containers and other values to a folder, from which ``restore`` makes them again. Collective.

    Parameters
    ----------
    path
        The folder, which is made if it does not exist. All ranks must be able to reach it.
    contents
        A mapping of names to values. Vectors, arrays, tensors, spans, maps and sparse matrices are the same on every
        rank. Any other value is pickled: that of rank 0 is written, and every rank gets it back.
    keep
        How many checkpoints to keep in the folder, including the new one. The oldest are deleted, but none that is
        being read or is read-only for this user, and nothing that is no checkpoint.
    ctx
        The context; None for that of the containers. Needed if there are no containers.
    progress
        As for :func:`save`.

    Returns
    -------
    str
        The subfolder that was written: ``path/00000001`` and so on.

    Raises
    ------
    FileError
        If a rank cannot write its part. The existing checkpoints are unchanged.
    InvalidArgumentError
        If there is neither a container nor ctx, or if keep is less than 1.
        Or if a name is empty, or has an empty part, ``.`` or ``..`` between slashes.
    InvalidTypeError
        If a name is not a str, or a value cannot be pickled.
    CollectiveMismatchError
        If the ranks pass different containers, names or paths.

    Notes
    -----
    Every error is raised on every rank, even if it occurs on one rank only.

    At every moment, even if the program or the machine stops, the folder has the old checkpoint or the new one,
    complete. Elements are written in C order, and each rank writes its part, as for :func:`save`.

    Several jobs can use one folder at the same time, and it may contain other things. Only subfolders with a manifest
    of DTL count. The call waits for the asynchronous checkpoints of the same context to the same folder.

    Examples
    --------
    >>> import dtl, numpy as np, tempfile
    >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
    ...     x = dtl.DistributedVector.from_numpy(ctx, np.arange(4), partition="cyclic")
    ...     _ = dtl.checkpoint(folder, {"x": x, "step": 7})
    ...     again = dtl.restore(ctx, folder)
    ...     again["step"], again["x"].partition_policy.name, again["x"].gather_to().tolist()
    (7, 'CYCLIC', [0, 1, 2, 3])
    """
    ranks = _ranks(contents, ctx)
    held = bridge.take_turn(ranks, "checkpoint") if ranks.size > 1 else 0
    try:
        place, what = _prepared(ranks, "checkpoint", path, contents, keep, copied=False, progress=progress)
        _await_earlier(place)
        with shown(ranks, "checkpoint", progress):
            return _write(ranks, "checkpoint", place, what, keep)
    finally:
        if held:
            bridge.end_turn(held)


def async_checkpoint(path: Any, contents: Mapping[str, Any], *, keep: int = 1, ctx: Context | None = None) -> Future:
    """Write a checkpoint in the background, and return a future. Collective.

    The call copies the elements and pickles the other values, so you can change all of them when it returns. A thread
    writes the copies. Checkpoints of one context to one folder are written one after the other.

    Parameters
    ----------
    path, contents, keep, ctx
        As for :func:`checkpoint`.

    Returns
    -------
    Future
        Its result is the subfolder that was written. ``get`` raises errors of the thread.

    Raises
    ------
    MemoryError
        If a rank has no memory for the copies. On every rank.
    InvalidArgumentError, InvalidTypeError, CollectiveMismatchError
        As for :func:`checkpoint`.

    Examples
    --------
    >>> import dtl, tempfile
    >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
    ...     x = dtl.DistributedVector(ctx, 4, fill=1.0)
    ...     future = dtl.async_checkpoint(folder, {"x": x})
    ...     x.local_view()[:] = 2
    ...     _ = future.get()
    ...     dtl.restore(ctx, folder)["x"].gather_to().tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    op = "async_checkpoint"
    ranks = _ranks(contents, ctx)
    held = bridge.take_turn(ranks, op) if ranks.size > 1 else 0
    try:
        place, what = _prepared(ranks, op, path, contents, keep, copied=True)
        copies = [part.container for part in what.parts if part.container is not None]
        carrier = copies or [created(DistributedVector, ranks, (0,), np.int8, BLOCK)]
        after = _under_way.get(place.queue)
        future = deferred(op, carrier, lambda stream: _write(stream, op, place, what, keep), after)
        _under_way[place.queue] = future
        return future
    finally:
        if held:
            bridge.end_turn(held)


def _place_of(ctx: Context, op: str, verb: str, given: str) -> _Place:
    """Return the folder that is meant. Collective."""
    with file_step(ctx, op, verb, given):
        path = os.path.abspath(given)
    return _Place(given, path, (handle_of(ctx), from_root(ctx, op, verb, given, lambda: os.path.realpath(path))))


def _await_earlier(place: _Place) -> None:
    """Wait for the asynchronous checkpoints to a folder that the program has made before."""
    last = _under_way.get(place.queue)
    if last is not None and not last.done and not scheduler.in_stream():
        wait_until_over(last)


def _ranks(contents: Any, ctx: Context | None) -> Context:
    """Return the context of a checkpoint: what was passed, or that of the first container."""
    if ctx is not None:
        check_context(ctx)
        return ctx
    if not isinstance(contents, Mapping):
        raise InvalidTypeError(
            f"contents must be a mapping of names, such as {{'x': x}}, not of type {type(contents).__name__}"
        )
    for value in contents.values():
        if _is_divided(value):
            found: Context = value.context
            return found
    raise InvalidArgumentError("ctx is missing: no container says which ranks make the checkpoint")


def _is_divided(value: Any) -> bool:
    """Say whether each rank has a part of a value."""
    return isinstance(value, (DistributedContainer, DistributedMap)) or hasattr(type(value), "__dtl_arrays__")


def _prepared(
    ctx: Context, op: str, path: Any, contents: Any, keep: Any, copied: bool, progress: Any = None
) -> tuple[_Place, _Contents]:
    """Return the folder, and what is to be written, after the ranks have agreed on it. Collective."""
    if state.under_way and isinstance(contents, Mapping):
        scheduler.wait_for(dict(contents))
    with local_step(ctx, op):
        text = local_path_of(path)
        if not isinstance(contents, Mapping):
            raise InvalidTypeError(
                f"contents must be a mapping of names, such as {{'x': x}}, not of type {type(contents).__name__}"
            )
        if integer("keep", keep) < 1:
            raise InvalidArgumentError(f"keep {keep} is less than 1")
        check_shown(progress)
        described = [_described(ctx, name, value) for name, value in contents.items()]
    all_of_it = "; ".join(described)
    agree(ctx, op, f"path {text!r}, keep {keep}: {all_of_it[:500]} ({zlib.crc32(all_of_it.encode()):08x})")
    what = _Contents({}, [], {})
    for number, (name, value) in enumerate(contents.items()):
        if isinstance(value, DistributedContainer):
            _add_container(op, what, name, f"{number}.npy", value, copied)
        elif isinstance(value, DistributedMap):
            _add_map(ctx, op, what, name, str(number), value)
        elif _is_divided(value):
            _add_arrays(what, name, str(number), value, copied)
        else:
            what.entries[name] = {"kind": "value", "file": f"{number}.pickle"}
            with local_step(ctx, op):
                if ctx.rank == 0:
                    what.pickles[f"{number}.pickle"] = _pickled(name, value)
    place = _place_of(ctx, op, "write", text)
    agree(ctx, op)
    return place, what


def _described(ctx: Context, name: Any, value: Any) -> str:
    """Return an entry in words, the same on every rank."""
    path_of_name(name)  # which refuses what is none
    if _is_divided(value):
        if isinstance(value, (DistributedContainer, DistributedMap)):
            refuse_closed(value)
        refuse_other_context(repr(name), value, ctx)
    if isinstance(value, DistributedContainer):
        return f"{name!r} {value.dtype} {value.shape} {division_of(value)}"
    if isinstance(value, DistributedMap):
        return f"{name!r} {value.key_dtype} to {value.value_dtype}"
    if _is_divided(value):
        return f"{name!r} {type(value).__name__} {value.dtype} {value.shape} {value.nnz}"
    return f"{name!r} {type(value).__qualname__}"


def _pickled(name: str, value: Any) -> bytes:
    try:
        return pickle.dumps(value, 4)
    except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise InvalidTypeError(f"{name!r} of type {type(value).__name__} cannot be pickled: {error}") from None


def _add_container(op: str, what: _Contents, name: str, file: str, c: DistributedContainer, copied: bool) -> None:
    """Add a container to what is to be written, or a copy of it in which each rank has a range of rows. Collective."""
    spec, divided = Spec(c.shape, c.dtype), division_of(c)
    sizes: tuple[int, ...] = ()
    if c.partition_policy is Partition.EXPLICIT:
        sizes = tuple(collectives.allgather(c.context, c.local_shape[0]).tolist())
    what.entries[name] = {
        "kind": owning_class_of(c).__name__,
        "file": file,
        "dtype": _dtype_text(c.dtype),
        "shape": c.shape,
        "partition": divided.partition.name,
        "placement": c.placement_policy.name,
        "block_size": divided.block_size,
        "sizes": sizes,
        "grid": divided.grid,
    }
    if copied:
        own = Division(Partition.EXPLICIT, sizes=sizes) if sizes else BLOCK
        where = Placement.DISK if c.placement_policy is Placement.DISK else Placement.HOST
        copy = created(owning(c), c.context, c.shape, c.dtype, own, where)
        move_all(copy, c)
        c = copy
    what.parts.append(_Part(file, spec, c, None))


def _add_map(ctx: Context, op: str, what: _Contents, name: str, file: str, m: DistributedMap) -> None:
    """Add a map's entries, as they are now, to what is to be written. Collective."""
    sizes = collectives.allgather(ctx, m.local_size)
    with local_step(ctx, op):
        both = m.to_numpy()
    at = (int(sizes[: ctx.rank].sum()),)
    what.entries[name] = {
        "kind": "DistributedMap",
        "keys": f"{file}.keys.npy",
        "values": f"{file}.values.npy",
        "key_dtype": _dtype_text(m.key_dtype),
        "value_dtype": m.value_dtype.str,
        "placement": m.placement_policy.name,
        "size": int(sizes.sum()),
    }
    for half, array in zip(("keys", "values"), both):
        spec = Spec((int(sizes.sum()),), array.dtype)
        what.parts.append(_Part(f"{file}.{half}.npy", spec, None, Block(at, array)))


def _add_arrays(what: _Contents, name: str, file: str, value: Any, copied: bool) -> None:
    """Add what consists of arrays of which each rank has a range, or copies of them. Collective."""
    facts, arrays = value.__dtl_arrays__()
    entry = what.entries[name] = {**facts, "arrays": {}}
    for member, (size, before, elements) in arrays.items():
        spec = Spec((size,), elements.dtype)
        entry["arrays"][member] = {"file": f"{file}.{member}.npy", "dtype": _dtype_text(spec.dtype), "size": size}
        block = Block((before,), elements.copy() if copied else elements)
        what.parts.append(_Part(f"{file}.{member}.npy", spec, None, block))


def _write(ctx: Context, op: str, place: _Place, what: _Contents, keep: int) -> str:
    """Write a checkpoint, and return its folder. Collective."""
    writing: list[Writing] = []  # on rank 0
    path = place.given
    try:
        temporary, heads = from_root(ctx, op, "write", path, lambda: _begin(writing, place.path, what))
        files: dict[str, dict[str, int]] = {}
        expect(sum(part.nbytes for part in what.parts))
        for part in what.parts:
            crc, size = _write_part(ctx, op, path, temporary, part, heads[part.file])
            files[part.file] = {"size": size, "crc32": crc}
        made = from_root(ctx, op, "write", path, lambda: _complete(writing[0], what, files, ctx.size))
    except BaseException:
        for one in writing:
            one.abandon()
        raise
    agree(ctx, op)
    folder = os.path.join(path, made)
    if ctx.rank == 0:
        drop_others(place.path, keep)
        nbytes = log.size(sum(file["size"] for file in files.values()))
        log.say("checkpoint", log.INFO, "%s written: %d values, %s", folder, len(what.entries), nbytes)
    return folder


def _begin(writing: list[Writing], path: str, what: _Contents) -> tuple[str, dict[str, int]]:
    """Make a folder with files of the right sizes, and return it, and where the elements begin in each."""
    writing.append(Writing(path))
    temporary = writing[0].folder
    heads = {}
    for part in what.parts:
        head, name = _head(part.spec), os.path.join(temporary, part.file)
        with open(name, "xb"):
            pass
        make_room(name, head, len(head) + _size(part.spec))
        heads[part.file] = len(head)
    for file, data in what.pickles.items():
        _write_whole(os.path.join(temporary, file), data)
    return temporary, heads


def _head(spec: Spec) -> bytes:
    """Return what stands before the elements; those of a large array begin where files can share blocks."""
    head = header(spec)
    return padded(head, _BLOCK) if _size(spec) >= _LARGE else head


def _size(spec: Spec) -> int:
    return math.prod(spec.shape) * int(spec.dtype.itemsize)


def _write_whole(name: str, data: bytes) -> None:
    with open(name, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _write_part(ctx: Context, op: str, path: str, folder: str, part: _Part, offset: int) -> tuple[int, int]:
    """Write an array, and return the checksum and size of its elements, on the root. Collective."""
    sink = None
    try:
        with file_step(ctx, op, "write", path):
            sink = FlatSink(os.path.join(folder, part.file), {"": (offset, part.spec)}, summed=True)
        for at, elements in part.blocks(op):
            with file_step(ctx, op, "write", path):
                file = part.file_of(elements)
                if file is None:
                    sink.write("", at, elements)
                else:
                    with contextlib.closing(file):
                        sink.copy("", at, elements, file)
                advance(elements.nbytes)
        with file_step(ctx, op, "write", path):
            sums = sink.finish()[""]
    finally:
        if sink is not None:
            sink.close()
    agree(ctx, op)
    told = gather_object(ctx, sums, 0)
    size = _size(part.spec)
    with file_step(ctx, op, "write", path):
        crc = 0 if told is None else whole((one for parts in told for one in parts), size)
    return crc, size


def _complete(writing: Writing, what: _Contents, files: dict[str, Any], ranks: int) -> str:
    """Write the manifest, and give the checkpoint its number."""
    for file, data in what.pickles.items():
        files[file] = {"size": len(data), "crc32": zlib.crc32(data)}
    version = VERSION if any("arrays" in entry for entry in what.entries.values()) else VERSION_OF_CONTAINERS
    return writing.complete(
        {"format": FORMAT, "version": version, "ranks": ranks, "entries": what.entries, "files": files}
    )


@in_one_turn
@collective
def restore(
    ctx: Context,
    path: Any,
    *,
    number: int | None = None,
    placement: PlacementLike | None = None,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Return the contents of a checkpoint, on any number of ranks. Collective.

    Parameters
    ----------
    ctx
        The context.
    path
        The folder that was passed to ``checkpoint``.
    number
        The number of the checkpoint; None for the last one.
    placement
        Where the elements of containers and the values of maps are to be; None for where each was when it was saved.
        ``"host"`` restores on a machine without a GPU what was on one.
    progress
        As for :func:`load`.

    Returns
    -------
    dict
        The values by their names, in the order of the checkpoint. Containers have the class and the partition with
        which they were saved, except that a span becomes a vector or a tensor. Local sizes and grids are restored on
        the same number of ranks; on another number, the containers are divided by blocks. So are the rows of sparse
        matrices.

    Raises
    ------
    FileNotFoundError
        If there is no such folder or checkpoint. The error names what else has a number there.
    FileError
        If a file of the checkpoint is missing, truncated or damaged, or if a later version of dtl wrote it.
    BackendUnavailableError
        If elements are to be on a GPU that a rank has not.
    CollectiveMismatchError
        If the ranks pass different arguments.
    MemoryError
        If a rank's part cannot be allocated.

    Notes
    -----
    Every error is raised on every rank, even if it occurs on one rank only.

    The call waits for the asynchronous checkpoints of the same context to the folder. If another job deletes the last
    checkpoint while it is read, the next one is read.

    Values other than containers are unpickled, which can run any code. Restore only files that you trust.

    Examples
    --------
    >>> import dtl, numpy as np, tempfile
    >>> with dtl.Context() as ctx, tempfile.TemporaryDirectory() as folder:
    ...     counts = dtl.DistributedMap(ctx, "U8", np.int64)
    ...     counts.insert_many(["red", "blue"], 3)
    ...     _ = dtl.checkpoint(folder, {"counts": counts})
    ...     int(dtl.restore(ctx, folder)["counts"]["blue"])
    3
    """
    op = "restore"
    check_context(ctx)
    text = local_path_of(path)
    wanted = None if number is None else integer("number", number)
    where = None if placement is None else placement_of(placement)
    check_shown(progress)
    agree(ctx, op, f"path {text!r}, number {wanted}, placement {'as saved' if where is None else where.name}")
    place = _place_of(ctx, op, "read", text)
    _await_earlier(place)
    with shown(ctx, op, progress):
        while True:
            reading: list[Reading] = []  # on rank 0
            try:
                return _restore(ctx, op, place, reading, wanted, where)
            except FileNotFoundError:
                if wanted is not None or not from_root(ctx, op, "read", text, lambda: reading and reading[0].gone):  # noqa: B023
                    raise
            finally:
                for one in reading:
                    one.close()


def _restore(
    ctx: Context, op: str, place: _Place, reading: list[Reading], number: int | None, where: Placement | None
) -> dict[str, Any]:
    """Return the contents of a checkpoint, which stands in reading on rank 0 from when it is found. Collective."""

    def found() -> tuple[str, Any]:
        reading.append(Reading(place.path, number))
        return reading[0].folder, reading[0].manifest

    folder, manifest = from_root(ctx, op, "read", place.given, found)
    made: dict[str, Any] = {}
    try:
        expect(sum(file["size"] for file in manifest["files"].values()) // ctx.size)
        for name, entry in manifest["entries"].items():
            made[name] = _restored(ctx, op, folder, entry, manifest, where)
    except BaseException:
        for value in made.values():
            if isinstance(value, (DistributedContainer, DistributedMap)):
                value.close()
        raise
    if ctx.rank == 0:
        log.say("checkpoint", log.INFO, "%s restored: %d values", folder, len(made))
    return made


def _restored(
    ctx: Context, op: str, folder: str, entry: dict[str, Any], manifest: Any, placement: Placement | None
) -> Any:
    """Return the value of an entry: a container where it is wanted, or where it was. Collective."""
    if entry["kind"] == "value":
        return _restored_value(ctx, op, folder, entry["file"], manifest)
    if entry["kind"] == "DistributedMap":
        return _restored_map(ctx, op, folder, entry, manifest, _place(entry, placement))
    if "arrays" in entry:
        return _restored_of_arrays(ctx, op, folder, entry, manifest)
    spec = Spec(tuple(entry["shape"]), _dtype_of(entry["dtype"]))
    divided = _division(ctx, entry, manifest["ranks"])
    made = created(_CLASSES[entry["kind"]], ctx, spec.shape, spec.dtype, divided, _place(entry, placement))
    return _filled(ctx, op, folder, entry["file"], made, manifest)


def _filled(ctx: Context, op: str, folder: str, file: str, made: Any, manifest: Any) -> Any:
    """Return a new container with the elements of a file. Where that fails, it is closed. Collective."""
    try:
        source = _opened(ctx, op, folder, file, Spec(made.shape, made.dtype), manifest)
        try:

            def read(at: tuple[int, ...], out: Array) -> None:
                with file_step(ctx, op, "read", folder):
                    contiguous = np.ascontiguousarray(out)
                    source.read(at, contiguous)
                    advance(contiguous.nbytes)
                    if contiguous is not out:
                        out[...] = contiguous

            fill(op, made, read)
            _check(ctx, op, folder, file, source)
        finally:
            source.close()
    except BaseException:
        made.close()
        raise
    return made


def _restored_of_arrays(ctx: Context, op: str, folder: str, entry: dict[str, Any], manifest: Any) -> Any:
    """Return a value of another package, made of its arrays. Collective."""

    def read(name: str, sizes: Array) -> Array:
        of = entry["arrays"][name]
        divided = Division(Partition.EXPLICIT, sizes=tuple(sizes.tolist()))
        with file_step(ctx, op, "read", folder):
            if int(sizes.sum()) != of["size"]:
                raise FileError(f"{of['file']} of {folder!r} has {of['size']} elements, in place of {sizes.sum()}")
        made = created(DistributedVector, ctx, (of["size"],), _dtype_of(of["dtype"]), divided)
        with _filled(ctx, op, folder, of["file"], made, manifest):
            return np.array(made.local_view())

    return readers[entry["kind"]](ctx, folder, entry, manifest["ranks"] == ctx.size, read)


def _place(entry: dict[str, Any], placement: Placement | None) -> Placement:
    """Return where to restore a container: where the caller says, or where it was, if the version has written that."""
    return Placement[entry.get("placement", "HOST")] if placement is None else placement


def _dtype_text(dtype: np.dtype[Any]) -> str:
    """Return a dtype as text: of records, the list of their fields."""
    described: Any = dtype.str if np.dtype(dtype.str) == dtype else np.lib.format.dtype_to_descr(dtype)
    return described if isinstance(described, str) else repr(described)


def _dtype_of(text: str) -> np.dtype[Any]:
    """Return the dtype of a text."""
    described: Any = ast.literal_eval(text) if text.startswith("[") else text
    dtype: np.dtype[Any] = np.lib.format.descr_to_dtype(described)
    return dtype


def _division(ctx: Context, entry: dict[str, Any], ranks: int) -> Division:
    """Return how a container is divided that was divided otherwise, maybe among another number of ranks."""
    partition = Partition[entry["partition"]]
    if partition is Partition.EXPLICIT:
        return Division(partition, sizes=tuple(entry["sizes"])) if ranks == ctx.size and entry["sizes"] else BLOCK
    if entry["grid"] is not None:
        return Division(partition, grid=tuple(entry["grid"])) if ranks == ctx.size else BLOCK
    return Division(partition, entry["block_size"])


def _opened(ctx: Context, op: str, folder: str, file: str, spec: Spec, manifest: Any) -> FlatSource:
    """Return the elements of a file. Collective."""
    name = os.path.join(folder, file)
    with file_step(ctx, op, "read", name):
        known = manifest["files"][file]
        if known["size"] != _size(spec):
            raise FileError(f"{file} of {folder!r} has {known['size']} bytes, in place of {_size(spec)}")
        there = opened(name)
        head = next((h for h in (_head(spec), header(spec)) if there.size == len(h) + _size(spec)), header(spec))
        source = FlatSource(name, there, len(head), spec, known["crc32"])
    agree(ctx, op)
    return source


def _check(ctx: Context, op: str, folder: str, file: str, source: FlatSource) -> None:
    """Raise FileError where what the ranks have read is not what was written. Collective."""
    assert source.sums is not None
    agree(ctx, op)
    told = gather_object(ctx, source.sums.parts, 0)
    with file_step(ctx, op, "read", os.path.join(folder, file)):
        if told is not None:
            size = _size(Spec(source.shape, source.dtype))
            if whole((one for parts in told for one in parts), size) != source.crc:
                raise FileError(f"{file} of {folder!r} is damaged: its checksum is not that of what was written")
    agree(ctx, op)


def _restored_value(ctx: Context, op: str, folder: str, file: str, manifest: Any) -> Any:
    """Return a value that was pickled. Collective."""

    def read() -> bytes:
        with open(os.path.join(folder, file), "rb") as stream:
            data = stream.read()
        if manifest["files"][file] != {"size": len(data), "crc32": zlib.crc32(data)}:
            raise FileError(f"{file} of {folder!r} is damaged: its checksum is not that of what was written")
        return data

    data = from_root(ctx, op, "read", os.path.join(folder, file), read)
    with local_step(ctx, op):
        try:
            value = pickle.loads(data)
        except (pickle.UnpicklingError, AttributeError, ImportError, LookupError, TypeError, ValueError) as error:
            raise FileError(f"{file} of {folder!r} cannot be unpickled: {error}") from None
    agree(ctx, op)
    return value


def _restored_map(
    ctx: Context, op: str, folder: str, entry: dict[str, Any], manifest: Any, placement: Placement
) -> Any:
    """Return a map of the entries that were written. Collective."""
    dtypes = [_dtype_of(entry[name]) for name in ("key_dtype", "value_dtype")]
    made = DistributedMap(ctx, *dtypes, placement=placement)
    specs = [Spec((entry["size"],), dtype) for dtype in dtypes]
    sources: list[FlatSource] = []
    try:
        for name, spec in zip(("keys", "values"), specs):
            sources.append(_opened(ctx, op, folder, entry[name], spec, manifest))
        at_once = max(1, WINDOW // sum(spec.dtype.itemsize for spec in specs)) * ctx.size
        for lo in range(0, entry["size"], at_once):
            shares = evenly(ctx.size)(min(at_once, entry["size"] - lo))
            start, count = lo + sum(shares[: ctx.rank]), shares[ctx.rank]
            with file_step(ctx, op, "read", folder):
                both = [np.empty(count, spec.dtype) for spec in specs]
                for source, array in zip(sources, both):
                    if count:
                        source.read((start,), array)
                        advance(array.nbytes)
            made.insert_many(*both)
        for name, source in zip(("keys", "values"), sources):
            _check(ctx, op, folder, entry[name], source)
    except BaseException:
        made.close()
        raise
    finally:
        for source in sources:
            source.close()
    return made
