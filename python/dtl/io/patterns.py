"""Several files as one: a path with ``*``, ``?`` or ``[`` stands for all files of such names, one after the other."""

from __future__ import annotations

import contextlib
import glob
import os
import re
from bisect import bisect_right
from typing import Any

import numpy as np

from .._native.named_tuples import replaced
from ..exceptions import FileError, FileNotFoundError, InvalidArgumentError
from .formats import Array, Format, Options, Source, Spec
from .remote import remote_files, suffix_of
from .steps import Paths, is_remote


def files_of(path: str) -> list[str] | None:
    """Return the files that a pattern stands for, numbers in their names in order; None where the path is a file's."""
    if is_remote(path):
        found = remote_files(path)
    elif not glob.has_magic(path) or os.path.exists(path):
        return None
    else:
        found = glob.glob(path)
    if found is None:
        return None
    if not found:
        raise FileNotFoundError(f"no file is called {path!r}")
    return sorted(found, key=natural_order)


def natural_order(name: str) -> list[Any]:
    """Return what sorts names so that numbers in them are in order."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def table_files(path: Paths) -> list[str]:
    """Return the files of a table that is a file, a pattern, or a folder of such files, or several of these."""
    if isinstance(path, tuple):
        return [file for each in path for file in table_files(each)]
    if is_remote(path) or not os.path.isdir(path):
        return files_of(path) or [path]
    found = parts_of(path)
    if not found:
        raise FileNotFoundError(f"the folder {path!r} has no file of a table")
    return found


def parts_of(path: str) -> list[str]:
    """Return the files of a table that is a folder: all but those that other writers keep beside them.

    Such as ``_SUCCESS``, ``_metadata`` and hidden files have names that begin with a dot or an underscore.
    """
    suffix, found = suffix_of(path), []
    for name in sorted(os.listdir(path), key=natural_order):
        file = os.path.join(path, name)
        if name.startswith((".", "_")):
            continue
        if os.path.isdir(file):
            raise FileError(
                f"{path!r} has the folder {name!r}: dtl.read_parquet reads folders that are named by values; the "
                f"pattern {os.path.join(path, '*', '*')!r} reads the files, without the columns that folders stand for"
            )
        if suffix and suffix_of(name) not in (suffix, ""):
            raise FileError(
                f"{path!r} has the file {name!r}; the pattern {os.path.join(path, '*' + suffix)!r} leaves it out"
            )
        found.append(file)
    return found


def next_part(path: str) -> str:
    """Return the name of a further file of a table that is a folder, which is made where there is none."""
    if is_remote(path):
        raise InvalidArgumentError(f"append is not for files elsewhere, such as {path!r}")
    if not os.path.isdir(path):
        if os.path.lexists(path):
            raise InvalidArgumentError(f"{path!r} is a file; tables are appended to a folder, as one more file there")
        with contextlib.suppress(FileExistsError):  # of another job
            os.mkdir(path)
    numbers = [re.fullmatch(r"part-(\d+)", os.path.splitext(name)[0]) for name in os.listdir(path)]
    number = max((int(found[1]) for found in numbers if found), default=-1) + 1
    return os.path.join(path, f"part-{number}{suffix_of(path)}")


def sources_of(of: Format, path: str, options: Options) -> dict[str, Source]:
    """Return the arrays of a file, or of the files of a pattern, joined along dimension 0."""
    files = files_of(path)
    if files is None:
        return of.sources(path, options)
    specs: list[dict[str, Spec]] = []
    states: list[dict[str, Any]] = []
    for file in files:
        opened = of.sources(file, options)
        specs.append({name: Spec(source.shape, source.dtype) for name, source in opened.items()})
        states.append({name: source.states for name, source in opened.items()})
        for source in opened.values():
            source.close()
        if list(specs[-1]) != list(specs[0]):
            raise FileError(f"{file!r} has the arrays {list(specs[-1])}, and {files[0]!r} {list(specs[0])}")
    return {
        name: JoinedSource(of, files, [spec[name] for spec in specs], [state[name] for state in states], options, name)
        for name in specs[0]
    }


class JoinedSource(Source):
    """An array of several files. Each is opened while elements of it are read."""

    def __init__(
        self, of: Format, files: list[str], specs: list[Spec], states: list[Any], options: Options, name: str
    ) -> None:
        for file, spec in zip(files, specs):
            if not spec.shape or spec.shape[1:] != specs[0].shape[1:] or spec.dtype != specs[0].dtype:
                raise FileError(
                    f"the array of {file!r}, {spec.dtype} of shape {spec.shape}, does not go with that of "
                    f"{files[0]!r}, {specs[0].dtype} of shape {specs[0].shape}"
                )
        self._starts = np.cumsum([0, *(spec.shape[0] for spec in specs)]).tolist()
        self._of, self._files, self._name = of, files, name
        self._states = states
        self.states = tuple(state for of_file in states for state in of_file)
        self._options = replaced(options, name=name) if of.named and name else options
        self.shape = (self._starts[-1], *specs[0].shape[1:])
        self.dtype = specs[0].dtype

    def read(self, at: tuple[int, ...], out: Array) -> None:
        """Fill a contiguous array with the elements from an index on."""
        number, done = bisect_right(self._starts, at[0]) - 1, 0
        while done < len(out):
            start, end = self._starts[number], self._starts[number + 1]
            rows = len(out) if len(at) > 1 else min(len(out) - done, end - at[0] - done)
            if rows:
                opened = self._of.sources(self._files[number], self._options)
                try:
                    source = opened.get(self._name)
                    if source is None or source.states != self._states[number]:
                        raise FileError(f"{self._files[number]!r} changed while it was read")
                    source.read((at[0] + done - start, *at[1:]), out[done : done + rows])
                finally:
                    for source in opened.values():
                        source.close()
            done += rows
            number += 1
