"""Zarr, by zarr-python 3: each chunk is read and written by one rank.

Two ranks that write to one chunk would each read it, change it and write it back, and one's elements would be lost. So
the rows are dealt out by whole chunks, whatever the division of the container.

Rows that are appended are written to chunks in a folder of their own. The first of these begins with the last rows of
the store where those do not end with a chunk. When all are on the disk they are moved into the store, where no reader
looks for rows beyond the shape; the new shape comes last.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from typing import Any, NamedTuple

from ..exceptions import FileError, InvalidArgumentError, InvalidTypeError
from .formats import Array, Format, Options, Sink, Source, Spec, Unit, needs
from .remote import holds
from .removal import Made, beside
from .steps import is_remote, sync_folder
from .zarr_layout import foreign_in

#: The bytes of a chunk, about, where nobody says its extents; and the most that are read at a time.
_CHUNK, _PIECE = 2 << 20, 8 << 20

#: How many seconds a call that fails waits at most for what zarr writes in its threads.
_SETTLE = 60.0


def _zarr() -> Any:
    try:
        import zarr  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise needs("zarr", "Zarr", error) from None
    if not hasattr(zarr, "create_array"):
        raise needs("zarr", "Zarr", ImportError(f"zarr {zarr.__version__} is older than 3"))
    return zarr


def _store(zarr: Any, path: str, read_only: bool = False) -> Any:
    """Return what zarr reads and writes a folder by. It may take a path as text for a URL, cut at ``#`` or ``?``."""
    if is_remote(path):
        return zarr.storage.FsspecStore.from_url(path, read_only=read_only)
    return zarr.storage.LocalStore(path, read_only=read_only)


class _Opened:
    """A store that is read, held open: while it is, no other folder can pass for it.

    zarr finds chunks by their path, and takes those that are not there for zeros, also when the store was replaced.
    """

    _folder = -1

    def __init__(self, path: str) -> None:
        self._path = path
        self._folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def state(self, name: str) -> tuple[int, ...]:
        """Return what tells the store, and the folder of an array, from others that have their paths."""
        there, of_array = os.fstat(self._folder), os.stat(_folder_of(self._path, name))
        return 0, 0, there.st_dev, there.st_ino, of_array.st_ino

    def check(self, name: str, state: tuple[int, ...]) -> None:
        """Raise FileError where an array is no longer what it was. That rows were appended does not matter."""
        try:
            same = os.path.samestat(os.fstat(self._folder), os.stat(self._path)) and self.state(name) == state
        except FileNotFoundError:
            same = False
        if not same:
            raise FileError(f"{self._path!r} changed while it was read")

    def __del__(self) -> None:
        if self._folder >= 0:
            os.close(self._folder)


class ChunkedSource(Source):
    """An array of a store."""

    def __init__(self, array: Any, name: str, store: _Opened | None) -> None:
        self._array, self._name, self._store = array, name, store
        self.states = () if store is None else (store.state(name),)
        self.shape, self.dtype = tuple(array.shape), array.dtype
        if self.dtype.kind in "OT":
            self.unheld = "it has text of variable length, or objects"

    def read(self, at: tuple[int, ...], out: Array) -> None:
        """Fill a contiguous array with the elements from an index on."""
        unit = _unit(self._array, len(at) - 1) or 1
        row = max(1, out[:1].nbytes)
        most = max(1, _PIECE // (row * unit)) * unit
        lo, end = at[-1], at[-1] + len(out)
        while lo < end:
            hi = min(end, (lo // unit) * unit + most)  # whole chunks but for the first and the last
            out[lo - at[-1] : hi - at[-1]] = self._array[(*at[:-1], slice(lo, hi))]
            lo = hi
        if self._store is not None:
            self._store.check(self._name, self.states[0])

    def close(self) -> None:
        """Let the store go."""
        self._store = None


class Place(NamedTuple):
    """Where an array is written: its folder, how many rows a chunk has, and how many come before appended ones."""

    folder: str
    unit: int
    start: int | None = None


class ChunkedSink(Sink):
    """Arrays that every rank writes its chunks to."""

    def __init__(self, places: dict[str, Place]) -> None:
        zarr = _zarr()
        self._arrays = {
            name: (zarr.open_array(_store(zarr, at.folder), mode="r+"), 0)
            if at.start is None
            else (_with_all_chunks(zarr, at.folder), at.start)
            for name, at in places.items()
        }

    def write(self, name: str, at: tuple[int, ...], elements: Array) -> None:
        """Write elements, from an index on, which begin with a chunk."""
        array, start = self._arrays[name]
        if elements.size:
            _write_elements(array, (*at[:-1], slice(start + at[-1], start + at[-1] + len(elements))), elements)


class Added(NamedTuple):
    """What is to become of appended rows: the folder of each array's chunks, the array, and what it was."""

    folder: Made
    arrays: list[tuple[str, str, str, bytes]]  # its folder there, the array's, the name and contents of its metadata
    summaries: dict[str, bytes]  # the files of groups that repeat the metadata of their arrays


class Zarr(Format):
    """Zarr, version 3 of the format."""

    name = "zarr"
    suffixes = (".zarr",)
    named = True
    folder = True
    grouped = True
    loads = ("dtype", "name")
    saves = ("compression", "chunks")

    def sources(self, path: str, options: Options) -> dict[str, Source]:
        """Return the arrays of a store, in groups too; the name of an array that is the whole store is ""."""
        zarr = _zarr()
        if is_remote(path):
            if not holds(path):
                raise FileNotFoundError(f"no store is called {path!r}")
        elif not os.path.isdir(path):
            os.stat(path)
            raise FileError(f"{path!r} is no folder, as a Zarr store is")
        opened = None if is_remote(path) else _Opened(path)
        try:
            store = zarr.open(_store(zarr, path, True), mode="r")
        except FileNotFoundError:
            raise FileError(f"{path!r} is no Zarr store") from None
        if isinstance(store, zarr.Array):
            return {"": ChunkedSource(store, "", opened)}
        found: dict[str, Source] = {}
        for name, thing in sorted(store.members(max_depth=None)):
            if isinstance(thing, zarr.Array) and options.name in (None, name):
                found[name] = ChunkedSource(thing, name, opened)
        if options.name is None:
            _check_all_held(path, found)
        return found

    def create(self, path: str, arrays: dict[str, Spec], options: Options) -> Any:
        """Make the arrays, and return how many rows of each a chunk has."""
        zarr = _zarr()
        store, dimensions = _store(zarr, path), _dimensions(arrays)
        if "" not in arrays:
            root = zarr.create_group(store, zarr_format=3)
            for group in sorted({os.path.dirname(name) for name in arrays} - {""}):
                root.require_group(group)
        for name, spec in arrays.items():
            zarr.create_array(
                store,
                name=name or None,
                shape=spec.shape,
                dtype=spec.dtype,
                chunks=chunks_of(spec, options),
                compressors=_codec(zarr, options.compression),
                zarr_format=3,
                dimension_names=dimensions[name],
            )
        return {name: Place(_folder_of(path, name), chunks_of(spec, options)[0]) for name, spec in arrays.items()}

    def foreign(self, path: str) -> str | None:
        """Say what in a folder that is to be replaced is no part of a store."""
        return foreign_in(path)

    def extend(self, path: str, arrays: dict[str, Spec]) -> tuple[Any, Any, Any]:
        """Make a folder for the new chunks, of arrays that are longer, with the rows of the last chunk of the old."""
        zarr = _zarr()
        if not os.path.isdir(path):
            os.stat(path)
            raise FileError(f"{path!r} is no folder, as a Zarr store is")
        final = os.path.realpath(path)
        with Made(beside(final), folder=True) as made:
            places, found = {}, []
            for number, (name, spec) in enumerate(arrays.items()):
                own, there = os.path.join(made.name, str(number)), _folder_of(final, name)
                old = _array(zarr, path, name, there, spec)
                start, unit = old.shape[0], _unit(old, 0, whole=True)
                if unit is None:
                    raise InvalidArgumentError(
                        f"{name!r} of {path!r} has chunks of several sizes: no rows are appended"
                    )
                metadata = "zarr.json" if old.metadata.zarr_format == 3 else ".zarray"
                with open(os.path.join(there, metadata), "rb") as file:
                    before = file.read()
                os.mkdir(own)
                _write(os.path.join(own, metadata), _longer(before, start, spec.shape[0]))
                places[name] = Place(own, unit, start)
                found.append((str(number), there, metadata, before))
                if start % unit:
                    part = slice(start - start % unit, start)
                    _write_elements(_with_all_chunks(zarr, own), part, old[part])
            return places, made, Added(made, found, _summaries(final, arrays))

    def withdraw(self, path: str, before: Made) -> None:
        """Remove the folder of the new chunks."""
        before.remove()

    def confirm(self, path: str, after: Added) -> None:
        """Move the new chunks into the store, and then the new shapes."""
        made = after.folder
        try:
            _sync(made.name)
            for _, there, metadata, before in after.arrays:
                with open(os.path.join(there, metadata), "rb") as file:
                    if file.read() != before:
                        raise FileError(f"{path!r} changed while rows were appended to it")
            for own, there, metadata, _ in after.arrays:
                for folder, _, files in os.walk(os.path.join(made.name, own)):
                    inner = os.path.relpath(folder, made.name)
                    to = os.path.normpath(os.path.join(there, os.path.relpath(inner, own)))
                    os.makedirs(to, exist_ok=True)
                    for name in files:
                        if inner != own or name != metadata:
                            made.move_out(os.path.join(inner, name), os.path.join(to, name))
                    sync_folder(to)
            for own, there, metadata, _ in after.arrays:
                made.move_out(os.path.join(own, metadata), os.path.join(there, metadata))
                sync_folder(there)
            for name, contents in after.summaries.items():
                _write(os.path.join(made.name, "summary"), contents)
                made.move_out("summary", name)
                sync_folder(os.path.dirname(name))
        finally:
            made.remove()

    def sink(self, path: str, layout: dict[str, Place]) -> Sink:
        """Return what this rank writes to."""
        return ChunkedSink(layout)

    def units(self, layout: dict[str, Place]) -> dict[str, Unit]:
        """Return how many rows of each array are one rank's, and how many end the chunk that the rows begin in."""
        return {name: Unit(place.unit, -(place.start or 0) % place.unit) for name, place in layout.items()}

    def complete(self, path: str, layout: dict[str, Place], told: list[Any]) -> None:
        """Bring the folder to the disk, and look whether the arrays are there and not where zarr took a path to be."""
        for name, place in layout.items():
            with open(os.path.join(place.folder, "zarr.json"), "rb") as file:
                if json.load(file)["node_type"] != "array":
                    raise FileError(f"zarr has not written the array {name!r}")
        _sync(path)

    def check(self, options: Options) -> None:
        """Refuse what there is not, before anything is written."""
        _codec(_zarr(), options.compression)


def _check_all_held(path: str, found: dict[str, Source]) -> None:
    """Refuse to read all of a store where a part of it would be left out."""
    held = [name for name, source in found.items() if source.shape and not source.unheld]
    for name, source in found.items():
        if source.unheld and held:
            raise InvalidTypeError(
                f"the array {name!r} of {path!r} is not held: {source.unheld}; the others are loaded by their names: "
                f"{', '.join(held)[:200]}"
            )


def _array(zarr: Any, path: str, name: str, folder: str, spec: Spec) -> Any:
    """Return the array of a store that rows are appended to."""
    try:
        there = zarr.open_array(_store(zarr, folder, True), mode="r")
    except (FileNotFoundError, ValueError):
        what = f"no array {name!r}" if name else "no array without a name"
        raise InvalidArgumentError(f"{path!r} has {what}, to which rows could be appended") from None
    if there.dtype != spec.dtype or there.ndim != len(spec.shape) or there.shape[1:] != spec.shape[1:]:
        raise InvalidArgumentError(
            f"{f'{name!r} of ' * bool(name)}{path!r} has {there.dtype} of shape {there.shape}, to which {spec.dtype} "
            f"of shape {spec.shape} cannot be appended"
        )
    return there


def _unit(array: Any, dimension: int, whole: bool = False) -> int | None:
    """Return the extent of an array's chunks along a dimension, or of its shards; None where they have several."""
    try:
        return int(((array.shards if whole else None) or array.chunks)[dimension])
    except NotImplementedError:
        return None


def _with_all_chunks(zarr: Any, folder: str) -> Any:
    """Return an array whose chunks of zeros are files too, as they may replace what a killed program has left."""
    with zarr.config.set({"array.write_empty_chunks": True}):
        return zarr.open_array(_store(zarr, folder), mode="r+")


def _write_elements(array: Any, where: Any, elements: Array) -> None:
    """Write elements to an array. Where that fails, nothing is written any more when this raises."""
    try:
        array[where] = elements
    except BaseException:
        _settle()
        raise


def _settle() -> None:
    """Wait for the chunks that zarr still writes after it has raised for another, and for which it makes folders."""
    from zarr.core.sync import sync  # type: ignore[import-untyped,import-not-found,unused-ignore]

    async def others() -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        if running:
            await asyncio.wait(running, timeout=_SETTLE)

    sync(others())


def _sync(path: str) -> None:
    """Bring a folder with all that is in it to the disk."""
    for folder, _, files in os.walk(path):
        for name in (*files, ""):
            file = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(file)
            finally:
                os.close(file)


def _folder_of(store: str, name: str) -> str:
    """Return the folder of an array."""
    return os.path.join(store, name) if name else store


def _longer(metadata: bytes, start: int, rows: int) -> bytes:
    """Return an array's metadata, with more rows."""
    described = json.loads(metadata)
    described["shape"] = [start + rows, *described["shape"][1:]]
    return json.dumps(described, indent=2).encode()


def _summaries(store: str, arrays: dict[str, Spec]) -> dict[str, bytes]:
    """Return the files of groups that repeat the metadata of their arrays, as they are with more rows."""
    read: dict[str, Any] = {}
    changed = set()
    for name, spec in arrays.items():
        parts = name.split("/")
        for depth in range(len(parts)):
            rest = "/".join(parts[depth:])
            for base, key in (("zarr.json", rest), (".zmetadata", f"{rest}/.zarray")):
                file = os.path.join(store, *parts[:depth], base)
                if file not in read and os.path.isfile(file):
                    with open(file, "rb") as opened:
                        read[file] = json.load(opened)
                known = read.get(file, {})
                described = (known.get("consolidated_metadata") or known).get("metadata", {})
                if key in described:
                    described[key]["shape"][0] += spec.shape[0]
                    changed.add(file)
    return {file: json.dumps(read[file], indent=2).encode() for file in sorted(changed)}


def _write(path: str, contents: bytes) -> None:
    """Write a file to the disk."""
    with open(path, "wb") as file:
        file.write(contents)
        file.flush()
        os.fsync(file.fileno())


def _dimensions(arrays: dict[str, Spec]) -> dict[str, list[str]]:
    """Return names of the dimensions of arrays, without which xarray opens no store: one name for one extent.

    Where an array has an extent twice, its dimensions still have different names.
    """
    known: dict[int, list[str]] = {}
    found: dict[str, list[str]] = {}
    count = 0
    for name, spec in arrays.items():
        found[name] = []
        for extent in spec.shape:
            free = [each for each in known.setdefault(extent, []) if each not in found[name]]
            if not free:
                free = [f"dim_{count}"]
                known[extent] += free
                count += 1
            found[name].append(free[0])
    return found


def chunks_of(spec: Spec, options: Options) -> tuple[int, ...]:
    """Return the extents of a chunk: rows of about 2 MiB, as they follow from the shape and the dtype alone."""
    if options.chunks is not None:
        if len(options.chunks) != len(spec.shape) or min(options.chunks) < 1:
            raise InvalidArgumentError(f"chunks {options.chunks} for shape {spec.shape}; one extent of 1 or more each")
        return options.chunks
    row = max(1, math.prod(spec.shape[1:]) * int(spec.dtype.itemsize))
    return (max(1, min(spec.shape[0], _CHUNK // row)), *[max(1, extent) for extent in spec.shape[1:]])


def _codec(zarr: Any, compression: Any) -> Any:
    """Return what zarr takes for a compression."""
    if compression is None:
        return "auto"
    if compression is False:
        return None
    codecs = {"zstd": "ZstdCodec", "gzip": "GzipCodec", "blosc": "BloscCodec"}
    if compression not in codecs:
        raise InvalidArgumentError(f"compression {compression!r} is none of 'zstd', 'gzip', 'blosc' and False")
    return getattr(zarr.codecs, codecs[compression])()
