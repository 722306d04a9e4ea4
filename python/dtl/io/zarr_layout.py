"""What belongs to a Zarr store, by the rules of the format: so that nothing else goes when a store is replaced."""

from __future__ import annotations

import json
import os
import re
from typing import Any, Callable, Iterable, NamedTuple

#: The files of a store that are no chunks, and those that say that a folder is an array or a group.
_ABOUT = {"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"}
_NODES = {"zarr.json", ".zarray", ".zgroup"}

#: The names of chunks, or of their folders: "c", "c.0.1", "0.1", "0". Then those that zarr has begun to write, and
#: locks of jobs that were killed, which had the lock of an array or group here.
_CHUNK = re.compile(r"(c|c\.\d+(\.\d+)*|\d+(\.\d+)*)(\.[0-9a-f]{32}\.partial)?")
_BEGUN = re.compile(r"(zarr|c|c\.\d+(\.\d+)*|\d+(\.\d+)*|\.z\w+)\.[0-9a-f]{32}\.partial|\..+\.dtl-lock")


class Listing(NamedTuple):
    """What is in a folder: the names of files, of folders, and of what is neither, such as links."""

    files: list[str]
    folders: list[str]
    others: list[str]


def foreign_in(folder: str) -> str | None:
    """Say what in a folder is no part of a Zarr store; None where all of it is."""

    def listed(where: str) -> Listing:
        found = Listing([], [], [])
        with os.scandir(os.path.join(folder, where)) as entries:
            for entry in entries:
                kind = 0 if entry.is_file(follow_symlinks=False) else 1 if entry.is_dir(follow_symlinks=False) else 2
                found[kind].append(entry.name)
        return found

    def read(name: str) -> bytes:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()

    return foreign(listed, read)


def foreign(listed: Callable[[str], Listing], read: Callable[[str], bytes]) -> str | None:
    """Say what is no part of a Zarr store; None where all of it is.

    Functions list a folder and read a file, by their paths in the store.
    """
    return _in_node(listed, read, "")


def _in_node(listed: Callable[[str], Listing], read: Callable[[str], bytes], where: str) -> str | None:
    """Say what in a folder is foreign, which should be an array or a group."""
    found = listed(where)
    kind = _kind(found, read, where)
    if kind is None:
        return f"{where or 'it'!r} is no Zarr array or group" if where else "it is no Zarr store"
    chunks = _CHUNK if kind == "array" else None
    for name in (*found.others, *found.files):
        known = name in _ABOUT or _BEGUN.fullmatch(name) or (chunks and chunks.fullmatch(name))
        if name in found.others or not known:
            return f"{_joined(where, name)!r} there is no part of a Zarr store"
    for name in found.folders:
        inner = _joined(where, name)
        if chunks is None:
            problem = _in_node(listed, read, inner)
        else:
            problem = _in_chunks(listed, inner) if chunks.fullmatch(name) else f"{inner!r} there is no part of an array"
        if problem is not None:
            return problem
    return None


def _in_chunks(listed: Callable[[str], Listing], where: str) -> str | None:
    """Say what in a folder of an array is no chunk."""
    found = listed(where)
    for name in (*found.others, *found.files, *found.folders):
        if name in found.others or not _CHUNK.fullmatch(name):
            return f"{_joined(where, name)!r} there is no chunk of an array"
    for name in found.folders:
        problem = _in_chunks(listed, _joined(where, name))
        if problem is not None:
            return problem
    return None


def _kind(found: Listing, read: Callable[[str], bytes], where: str) -> str | None:
    """Return "array" or "group" as the metadata of a folder say; None where there are none."""
    there: Iterable[str] = _NODES.intersection(found.files)
    for name in sorted(there, key=("zarr.json", ".zarray", ".zgroup").index):
        try:
            described: Any = json.loads(read(_joined(where, name)))
        except ValueError:
            return None
        if not isinstance(described, dict) or described.get("zarr_format") not in (2, 3):
            return None
        if name != "zarr.json":
            return "array" if name == ".zarray" else "group"
        kind = described.get("node_type")
        return kind if kind in ("array", "group") else None
    return None


def _joined(where: str, name: str) -> str:
    return f"{where}/{name}" if where else name
