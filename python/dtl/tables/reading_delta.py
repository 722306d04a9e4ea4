"""Tables of Delta Lake: rank 0 reads the log, and each rank its groups of rows of the files of a version."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote

from ..comm.objects import broadcast_object
from ..exceptions import FileError, FileNotFoundError, InvalidArgumentError
from ..io.formats import needs
from ..io.steps import as_file_error, is_remote
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from .reading import Part, asked_for, read_parts, whole_number
from .rows import Rows, arrow, unknown_column

#: Features of a table without which its files do not say what its rows are.
_FEATURES = {"deletionVectors": "deletion vectors", "columnMapping": "a mapping of columns", "v2Checkpoint": ""}


def read_delta(ctx: Context, op: str, path: str, version: Any, columns: Any, filters: Any) -> Rows:
    """Return the rows of a version of a table. Collective."""
    with local_step(ctx, op):
        asked = asked_for(columns, filters)
        wanted = whole_number("version", version)
    agree(ctx, op, f"path {path!r}, version {wanted}, {asked}")
    found = None
    with local_step(ctx, op), as_file_error("read", path):
        lake = _deltalake()
        if ctx.rank == 0:
            found = _files(lake, path, wanted)
            for name in (*(asked.columns or ()), *(asked.beside or ())):
                if name not in found[0].names:
                    raise unknown_column(name, found[0].names)
    schema, keys, parts = broadcast_object(ctx, found, 0)
    return read_parts(ctx, op, parts, keys, asked, schema=schema)


def _deltalake() -> Any:
    """Return the package."""
    try:
        import deltalake  # type: ignore[import-untyped,import-not-found,unused-ignore]
        import deltalake.exceptions  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise needs("deltalake", "read_delta", error) from None
    return deltalake


def _files(lake: Any, path: str, version: int | None) -> tuple[Any, dict[str, Any], list[Part]]:
    """Return the columns of a version, the types of those that no file has, and the files with the values of these."""
    pa = arrow()
    try:
        table = lake.DeltaTable(path)
        if version is not None:
            if not 0 <= version <= table.version():
                raise InvalidArgumentError(f"version {version} of {path!r} outside [0, {table.version()}]")
            table = lake.DeltaTable(path, version=version)
        _check_features(table, path)
        schema = pa.schema(table.schema().to_arrow())
        keys = {name: schema.field(name).type for name in table.metadata().partition_columns}
        rows = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    except lake.exceptions.TableNotFoundError as error:
        raise FileNotFoundError(f"cannot read {path!r}: it is no table of Delta Lake: {error}") from None
    except lake.exceptions.DeltaError as error:
        raise FileError(f"cannot read {path!r}: {error}") from None
    parts = [
        Part(_path_of(path, row["path"]), tuple((name, row[f"partition.{name}"]) for name in keys)) for row in rows
    ]
    return schema, keys, sorted(parts, key=lambda part: part.path)


def _check_features(table: Any, path: str) -> None:
    """Refuse tables whose files say other rows than the table has."""
    features = set(table.protocol().reader_features or ()) & _FEATURES.keys()
    if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
        features.add("columnMapping")
    if "deletionVectors" in features and not any(True for _ in pa_rows(table.deletion_vectors())):
        features.remove("deletionVectors")  # it may have some, and has none
    for feature in sorted(features):
        if _FEATURES[feature]:
            raise FileError(f"{path!r} has {_FEATURES[feature]}, so its files alone do not say its rows: rewrite it")


def pa_rows(reader: Any) -> list[Any]:
    """Return the rows of a stream of Arrow."""
    rows: list[Any] = arrow().RecordBatchReader.from_stream(reader).read_all().to_pylist()
    return rows


def _path_of(path: str, file: str) -> str:
    """Return the path of a file of a table, which the log has as a URL, or as the path of one from the table on."""
    if is_remote(file):
        return file
    return f"{path.rstrip('/')}/{unquote(file)}" if is_remote(path) else os.path.join(path, unquote(file))
