"""HDF5, by h5py: datasets that lie side by side in the file are read and written by every rank at once.

HDF5 itself lets one process write, unless it was built with MPI. But it says where in the file the elements of a
dataset of contiguous layout lie: the root makes the datasets, and then every rank writes its bytes there. Those that
are chunked or compressed are written by one rank after the other.
"""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InvalidArgumentError
from .flat import FlatSink, FlatSource
from .formats import Array, Format, Options, Sink, Source, Spec, needs
from .remote import open_binary
from .steps import is_remote, open_file


def _h5py() -> Any:
    try:
        import h5py  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise needs("h5py", "HDF5", error) from None
    return h5py


class DatasetSource(Source):
    """A dataset that HDF5 itself reads: a chunked or compressed one."""

    def __init__(self, path: str, name: str, spec: Spec) -> None:
        self.shape, self.dtype = spec
        self._file = _h5py().File(open_binary(path) if is_remote(path) else path, "r")
        self._dataset = self._file[name]

    def read(self, at: tuple[int, ...], out: Array) -> None:
        """Fill a contiguous array with the elements from an index on."""
        if out.size:
            self._dataset.read_direct(out, (*at[:-1], slice(at[-1], at[-1] + len(out))))

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


class DatasetSink(Sink):
    """A file whose datasets HDF5 itself writes: the ranks take turns, in which each opens the file and closes it.

    Starts are the rows of the datasets that were there before those that are written.
    """

    def __init__(self, path: str, starts: dict[str, int]) -> None:
        self._path, self._starts = path, starts

    def write(self, name: str, at: tuple[int, ...], elements: Array) -> None:
        """Write elements, from an index on."""
        if elements.size:
            at = (at[0] + self._starts.get(name, 0), *at[1:])
            with _h5py().File(self._path, "r+") as file:
                file[name][(*at[:-1], slice(at[-1], at[-1] + len(elements)))] = elements

    def finish(self) -> None:
        """Bring what was written to the disk."""
        file = open_file(self._path)
        try:
            os.fsync(file)
        finally:
            os.close(file)


class Rows(NamedTuple):
    """What every rank is to know of a file that HDF5 itself writes: how many rows of a dataset come before its own."""

    starts: dict[str, int]


class Hdf5(Format):
    """HDF5."""

    name = "hdf5"
    suffixes = (".h5", ".hdf5", ".hdf")
    named, unnamed = True, False
    loads = ("dtype", "name")
    saves = ("compression", "chunks")

    def sources(self, path: str, options: Options) -> dict[str, Source]:
        """Return the datasets of a file, in groups too, by their paths."""
        h5py = _h5py()
        open_binary(path).close()
        found: dict[str, tuple[Spec, int | None]] = {}

        def visit(name: str, thing: Any) -> None:
            if isinstance(thing, h5py.Dataset) and thing.shape is not None and options.name in (None, name):
                plain = not (thing.chunks or thing.external or thing.is_virtual or file.userblock_size)
                found[name] = Spec(thing.shape, thing.dtype), thing.id.get_offset() if plain else None

        with h5py.File(open_binary(path) if is_remote(path) else path, "r") as file:
            file.visititems(visit)
        made: dict[str, Source] = {}
        try:
            for name, (spec, offset) in found.items():
                flat = offset is not None and spec.dtype.kind in "biufc"
                made[name] = FlatSource(path, offset or 0, spec) if flat else DatasetSource(path, name, spec)
        except BaseException:
            for source in made.values():
                source.close()
            raise
        return made

    def create(self, path: str, arrays: dict[str, Spec], options: Options) -> Any:
        """Make the datasets, and return where in the file each begins; or that HDF5 is to write them."""
        h5py = _h5py()
        by_hdf5 = options.chunks is not None or options.compression not in (None, False)
        places = {}
        with h5py.File(path, "w") as file:
            for name, spec in arrays.items():
                if by_hdf5:
                    made = {"chunks": options.chunks or True, "compression": options.compression or None}
                    made["maxshape"] = (None, *spec.shape[1:])  # so that rows can be appended
                    empty = not math.prod(spec.shape)  # of which HDF5 has no chunks
                    file.create_dataset(name, spec.shape, spec.dtype, **({} if empty else made))
                    continue
                how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
                how.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
                dataset = file.create_dataset(name, spec.shape, spec.dtype, dcpl=how)
                file.flush()
                places[name] = (dataset.id.get_offset() or 0, spec)
        if not by_hdf5 and os.path.getsize(path) < max(at + _size(spec) for at, spec in places.values()):
            os.truncate(path, max(at + _size(spec) for at, spec in places.values()))
        return Rows({}) if by_hdf5 else places

    def extend(self, path: str, arrays: dict[str, Spec]) -> tuple[Any, Any, Any]:
        """Make the datasets longer, and return how long they were."""
        open_binary(path).close()
        with _h5py().File(path, "r+") as file:
            for name, spec in arrays.items():
                there = file.get(name)
                if not isinstance(there, _h5py().Dataset):
                    raise InvalidArgumentError(f"{path!r} has no dataset {name!r}, to which rows could be appended")
                if there.dtype != spec.dtype or there.ndim != len(spec.shape) or there.shape[1:] != spec.shape[1:]:
                    raise InvalidArgumentError(
                        f"{name!r} of {path!r} has {there.dtype} of shape {there.shape}, to which {spec.dtype} "
                        f"of shape {spec.shape} cannot be appended"
                    )
                longer = there.shape[0] + spec.shape[0]
                if not there.chunks or (there.maxshape[0] is not None and there.maxshape[0] < longer):
                    raise InvalidArgumentError(
                        f"{name!r} of {path!r} cannot grow; HDF5 appends to what was saved with chunks or compression"
                    )
            starts = {name: int(file[name].shape[0]) for name in arrays}
            for name, spec in arrays.items():
                file[name].resize(starts[name] + spec.shape[0], axis=0)
        return Rows(starts), starts, None

    def withdraw(self, path: str, before: dict[str, int]) -> None:
        """Give the datasets the lengths that they had."""
        with _h5py().File(path, "r+") as file:
            for name, rows in before.items():
                file[name].resize(rows, axis=0)

    def sink(self, path: str, layout: Any) -> Sink:
        """Return what this rank writes to."""
        return DatasetSink(path, layout.starts) if isinstance(layout, Rows) else FlatSink(path, layout)

    def takes_turns(self, layout: Any) -> bool:
        """Say whether the ranks write one after the other."""
        return isinstance(layout, Rows)

    def check(self, options: Options) -> None:
        """Refuse what HDF5 does not know, before anything is written."""
        _h5py()
        known = (None, False, "gzip", "lzf", "szip")
        if options.compression not in known:
            raise InvalidArgumentError(f"compression {options.compression!r} is none of 'gzip', 'lzf' and 'szip'")


def _size(spec: Spec) -> int:
    return math.prod(spec.shape) * int(np.dtype(spec.dtype).itemsize)
