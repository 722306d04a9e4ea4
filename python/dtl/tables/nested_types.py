"""Values within lists, structs and maps, in forms that all of Arrow's functions know: no views, categories and runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..io.meaning import is_run_end_encoded
from .rows import arrow


def is_nested(kind: Any) -> bool:
    """Say whether a column is of lists, structs or maps; pyarrow 14 does not count lists of one length."""
    types = arrow().types
    return bool(types.is_nested(kind) or types.is_fixed_size_list(kind))


def inner_type(kind: Any) -> Any:
    """Return the type of values within others, or of a column that has such."""
    pa = arrow()
    types = pa.types
    if types.is_dictionary(kind) or is_run_end_encoded(pa, kind):
        return inner_type(kind.value_type)
    if types.is_struct(kind):
        return pa.struct([field.with_type(inner_type(field.type)) for field in kind])
    if types.is_map(kind):
        key, item = (field.with_type(inner_type(field.type)) for field in (kind.key_field, kind.item_field))
        return pa.map_(key, item, kind.keys_sorted)
    if is_nested(kind) and hasattr(kind, "value_field"):
        return _inner_list(kind)
    views = {"string_view": pa.string, "binary_view": pa.binary}
    return views[str(kind)]() if str(kind) in views else kind


def _inner_list(kind: Any) -> Any:
    """Return the type of lists of values in their form; views of lists stay what they are if their values do."""
    pa = arrow()
    field = kind.value_field.with_type(inner_type(kind.value_type))
    if field.type == kind.value_type:
        return kind
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(field, kind.list_size)
    return pa.large_list(field) if str(kind).startswith("large") else pa.list_(field)


def inner_values(array: Any, kind: Any) -> Any:
    """Return an array whose values are of the type that ``inner_type`` says."""
    pa = arrow()
    types = pa.types
    if array.type == kind:
        return array
    if types.is_dictionary(array.type):
        return inner_values(array.dictionary, kind).take(array.indices)
    if is_run_end_encoded(pa, array.type):
        return inner_values(decoded_runs(array), kind)
    mask = array.is_null() if array.null_count else None
    if types.is_struct(kind):
        parts = [inner_values(array.field(i), field.type) for i, field in enumerate(kind)]
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=mask)
    if types.is_list(kind) or types.is_large_list(kind):
        # Not by a cast: pyarrow 26 loses values of views of lists behind a null.
        lengths = pa.compute.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False)
        width, whole = (np.int64, pa.LargeListArray) if types.is_large_list(kind) else (np.int32, pa.ListArray)
        offsets = pa.array(np.append(0, np.cumsum(lengths)).astype(width))
        return whole.from_arrays(offsets, inner_values(array.flatten(), kind.value_type), type=kind, mask=mask)
    return array.cast(kind)


def decoded_runs(array: Any) -> Any:
    """Return the values of an array of runs, which Arrow decodes of some types alone."""
    pa = arrow()
    try:
        return pa.compute.run_end_decode(array)
    except pa.ArrowNotImplementedError:
        places = np.arange(array.offset, array.offset + len(array))
        return array.values.take(pa.array(np.searchsorted(array.run_ends.to_numpy(), places, "right")))
