"""The names of arrays in a file: which there may be, the same in every format, whatever a library makes of others."""

from __future__ import annotations

from typing import Any, Iterable

from .._native.arguments import listed
from ..exceptions import InvalidArgumentError, InvalidTypeError

#: The bytes that a name in a file system may have, and those that a name in an archive of NumPy's may have.
_OF_FILE, _OF_MEMBER = 255, 60000

#: How many groups and arrays may be within each other where they are folders.
_DEEP = 100

#: What begins or is the name of something of Zarr's own.
_RESERVED, _ZARR_FILES = "__", ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")


def check_name(name: Any, what: str = "array") -> str:
    """Refuse what cannot be the name of anything in a file, such as of a column: a name without parts."""
    if not isinstance(name, str):
        raise InvalidTypeError(f"the name of {_a(what)} must be text, not {name!r}")
    if name in ("", ".", "..") or "\0" in name:
        raise InvalidArgumentError(f"{name!r} is no name of {_a(what)}")
    try:
        size = len(name.encode())
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"{name!r} is no name of {_a(what)}: {error.reason}") from None
    if size > _OF_MEMBER:
        raise InvalidArgumentError(f"the name {name[:40]!r}… of {_a(what)} has {size} bytes; at most {_OF_MEMBER}")
    return name


def check_column(name: Any) -> str:
    """Refuse what cannot be the name of a column. It may be empty, as pandas writes the column of the index."""
    return "" if isinstance(name, str) and not name else check_name(name, "column")


def path_of_name(name: Any, folders: bool = False) -> str:
    """Return the path of an array within a file, without the ``/`` that stands for the file's root.

    Where groups are folders of a file system, some further names are refused.
    """
    checked = name[1:] if isinstance(name, str) and name[:1] == "/" else name
    if checked in ("", ".", ".."):
        raise InvalidArgumentError(f"{name!r} is no name of an array")
    check_name(checked)
    parts = checked.split("/")
    if folders and len(parts) > _DEEP:
        raise InvalidArgumentError(
            f"{name[:40]!r}… is no name of a Zarr array: it has {len(parts)} parts, above {_DEEP}"
        )
    for part in parts:
        if part in ("", ".", ".."):
            raise InvalidArgumentError(f"{name!r} is no name of an array: it has the part {part!r}")
        if not folders:
            continue
        if part.startswith(_RESERVED) or part in _ZARR_FILES or "\\" in part or not part.strip("."):
            raise InvalidArgumentError(f"{name!r} is no name of a Zarr array: it has the part {part!r}")
        if len(part.encode()) > _OF_FILE:
            raise InvalidArgumentError(
                f"{name[:40]!r}… is no name of a Zarr array: a part has {len(part.encode())} bytes, and the name of a "
                f"folder at most {_OF_FILE}"
            )
    return str(checked)


def paths_of_names(names: Iterable[Any], groups: bool, folders: bool) -> list[str]:
    """Return the paths of arrays within a file. Two for one array are refused, and arrays that are groups of others."""
    paths: dict[str, Any] = {}
    for name in names:
        path = path_of_name(name, folders)
        if path in paths:
            raise InvalidArgumentError(f"{paths[path]!r} and {name!r} are names of one array")
        paths[path] = name
    for path in paths if groups else ():
        parts = path.split("/")
        for depth in range(1, len(parts)):
            group = "/".join(parts[:depth])
            if group in paths:
                raise InvalidArgumentError(f"{paths[group]!r} cannot be an array and hold the array {paths[path]!r}")
    return list(paths)


def _a(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"


def names_in(what: str, names: Any) -> list[str]:
    """Return the names of columns, given as one or as a list."""
    if isinstance(names, bytes):
        raise InvalidTypeError(f"{what} must be a name or a list of names, not {names!r}")
    try:
        found = [names] if isinstance(names, str) else list(listed(names))
    except TypeError:
        raise InvalidTypeError(f"{what} must be a name or a list of names, not {names!r}") from None
    for name in found:
        if not isinstance(name, str):
            raise InvalidTypeError(f"the name of a column must be text, not {name!r}")
    return found
