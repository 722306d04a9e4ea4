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

from .._native.kinds import kind_of
from ..exceptions import FileError, InvalidArgumentError
from .flat import FlatSink, FlatSource, LocalFile, check_unchanged
from .formats import Array, Format, Options, Sink, Source, Spec, needs
from .hdf5_writing import writable
from .remote import RemoteFile, open_binary
from .steps import as_file_error, is_remote, open_file

#: The most bytes that HDF5 writes at a time.
_PIECE = 8 << 20


def _h5py() -> Any:
    try:
        import h5py  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise needs("h5py", "HDF5", error) from None
    return h5py


class OpenFile:
    """A file as HDF5 has it open, and as ranks read it themselves. All datasets share it, and it is closed once."""

    def __init__(self, path: str) -> None:
        self.path = path
        open_binary(path).close()
        self.h5 = _h5py().File(open_binary(path) if is_remote(path) else path, "r")
        try:
            self.raw: Any = RemoteFile(path) if is_remote(path) else _as_opened(self.h5)
        except BaseException:
            self.h5.close()
            raise

    def close(self) -> None:
        """Let the file go, with all its datasets."""
        self.h5.close()
        self.raw.close()


def _as_opened(file: Any) -> LocalFile:
    """Return the very file that HDF5 has open, which may have another path by now."""
    return LocalFile(file.filename, os.dup(file.id.get_vfd_handle()))


class DatasetSource(Source):
    """A dataset that HDF5 itself reads."""

    def __init__(self, file: OpenFile, dataset: Any, spec: Spec, unheld: str = "") -> None:
        self.shape, self.dtype = spec
        self.unheld = unheld
        self.states = (file.raw.state,)
        self._file, self._dataset = file, dataset

    def read(self, at: tuple[int, ...], out: Array) -> None:
        """Fill a contiguous array with the elements from an index on."""
        if out.size:
            self._dataset.read_direct(out, (*at[:-1], slice(at[-1], at[-1] + len(out))))
            check_unchanged(self._file.path, self._file.raw)

    def close(self) -> None:
        """Let the file go, with all its datasets."""
        self._file.close()


class DatasetSink(Sink):
    """A file whose datasets HDF5 itself writes: the ranks take turns, in which each opens the file and closes it.

    Starts are the rows of the datasets that were there before those that are written.
    """

    def __init__(self, path: str, starts: dict[str, int]) -> None:
        self._path, self._starts = path, starts

    def write(self, name: str, at: tuple[int, ...], elements: Array) -> None:
        """Write elements, from an index on."""
        at = (at[0] + self._starts.get(name, 0), *at[1:])
        done = 0
        while elements.size and done < len(elements):
            with writable(_h5py(), self._path, "r+") as file:
                dataset = file[name]
                lo, unit = at[-1] + done, dataset.chunks[len(at) - 1]
                most = max(1, _PIECE // max(1, elements[:1].nbytes * unit)) * unit
                hi = min(at[-1] + len(elements), lo // unit * unit + most)  # whole chunks but for the first and last
                dataset[(*at[:-1], slice(lo, hi))] = elements[done : hi - at[-1]]
            done = hi - at[-1]

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
    grouped = True
    loads = ("dtype", "name")
    saves = ("compression", "chunks")

    def sources(self, path: str, options: Options) -> dict[str, Source]:
        """Return the datasets of a file, in groups too, by their paths."""
        made: dict[str, Source] = {}
        file = OpenFile(path)
        try:
            found = _datasets(file.h5) if options.name is None else _dataset(file.h5, options.name)
            for name, dataset in found.items():
                with as_file_error(f"read {name!r} of", path):
                    made[name] = _source(file, dataset)
        except BaseException:
            for source in made.values():
                source.close()
            file.close()
            raise
        if not made:
            file.close()
        elif all(isinstance(source, FlatSource) for source in made.values()):
            file.h5.close()
        return made

    def create(self, path: str, arrays: dict[str, Spec], options: Options) -> Any:
        """Make the datasets, and return where in the file each begins; or that HDF5 is to write them."""
        h5py = _h5py()
        by_hdf5 = options.chunks is not None or options.compression not in (None, False)
        places = {}
        with writable(h5py, path, "w") as file:
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
        with writable(_h5py(), path, "r+") as file:
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
        with as_file_error("write", path), writable(_h5py(), path, "r+") as file:
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


def _dataset(file: Any, name: str) -> dict[str, Any]:
    """Return the dataset of a name, which may lead there by links of any kind; none where there is no such name."""
    if not name or name not in file:
        return {}
    try:
        found = file[name]
    except (KeyError, OSError, RuntimeError) as error:
        raise FileError(f"{name!r} leads to no dataset: {error.args[0]}") from None
    if not isinstance(found, _h5py().Dataset):
        raise InvalidArgumentError(f"{name!r} of {file.filename!r} is a group, of which each dataset has a name")
    return {name: found}


def _datasets(file: Any) -> dict[str, Any]:
    """Return the datasets of a file by their paths.

    A dataset is there by each of its names, links too. A group that has several is there by one of them: so this ends
    where links lead back, and no soft or external link hides what is there without it. Links to nothing are left out.
    """
    h5py = _h5py()
    found, links = {}, [("", file)]
    entered = set()
    while links:
        path, thing = links.pop(0)
        if isinstance(thing, h5py.Dataset):
            found[path] = thing
            continue
        within = [(path, thing)]
        while within:
            path, thing = within.pop()
            if isinstance(thing, h5py.Dataset):
                found[path] = thing
            if not isinstance(thing, h5py.Group) or thing.id in entered:
                continue
            entered.add(thing.id)
            for name in sorted(thing, reverse=True):
                there = f"{path}/{name}" if path else name
                soft = not isinstance(thing.get(name, getlink=True), h5py.HardLink)
                try:
                    (links if soft else within).append((there, thing[name]))
                except (KeyError, OSError, RuntimeError) as error:
                    if not soft:
                        raise FileError(f"{there!r} cannot be opened: {error.args[0]}") from None
    return dict(sorted(found.items()))


def _source(file: OpenFile, dataset: Any) -> Source:
    """Return what reads a dataset: this rank itself, if the elements lie in the file as NumPy has them in memory.

    They do if they are contiguous and of the type that h5py makes of their dtype. Others of the same dtype, such as
    integers of 12 bits, are not the same bytes, and HDF5 converts them.
    """
    try:
        spec = Spec(dataset.shape or (), dataset.dtype)
    except TypeError as error:
        return DatasetSource(file, dataset, Spec((), np.dtype(object)), str(error))
    if dataset.shape is None:
        return DatasetSource(file, dataset, spec, "it is a null dataset, which has no shape")
    its_file = dataset.file  # which is another one where an external link leads there
    if is_remote(file.path) and (its_file != file.h5 or dataset.external or _of_other_files(dataset)):
        # HDF5 opens other files by the functions that read this one, and so takes this one for them.
        return DatasetSource(file, dataset, spec, f"its elements are in another file than {file.path!r}")
    plain = not (dataset.chunks or dataset.external or dataset.is_virtual or its_file.userblock_size)
    offset = dataset.id.get_offset() if plain and kind_of(spec.dtype).is_number else None
    if offset is None or not dataset.id.get_type().equal(_h5py().h5t.py_create(spec.dtype, logical=True)):
        return DatasetSource(file, dataset, spec)
    return FlatSource(file.path, file.raw if its_file == file.h5 else _as_opened(its_file), offset, spec)


def _of_other_files(dataset: Any) -> bool:
    """Say whether elements of a dataset are those of datasets of other files."""
    return bool(dataset.is_virtual) and any(source.file_name != "." for source in dataset.virtual_sources())


def _size(spec: Spec) -> int:
    return math.prod(spec.shape) * int(np.dtype(spec.dtype).itemsize)
