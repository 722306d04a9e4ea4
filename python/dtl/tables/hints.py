"""What to use in place of the methods of pandas that tables and columns do not have."""

from __future__ import annotations

import difflib
from typing import Any

#: How alike two names are, of which one is taken for a slip of the other.
_ALIKE = 0.7

_NO_INDEX = "a table has no index: keys are columns, for group_by, merge and sort_values"
_ROWS = "rows are on several ranks: compute with whole columns, or take table.to_arrow(local=True) for this rank's rows"
_TO_PANDAS = "call it of table.to_pandas(), which has all rows on one rank"
_SAVE = "table.save(path) writes Parquet, Arrow or CSV, as the suffix says"
_DOES_NOT_CHANGE = "a table is not changed in place: take what the method returns"

#: The operators that pandas has as methods, too.
_OPERATORS = {
    "add": "+", "radd": "+", "sub": "-", "subtract": "-", "rsub": "-", "mul": "*", "multiply": "*", "rmul": "*",
    "div": "/", "divide": "/", "truediv": "/", "rdiv": "/", "rtruediv": "/", "floordiv": "//", "rfloordiv": "//",
    "mod": "%", "rmod": "%", "pow": "**", "rpow": "**", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=", "divmod": "np.divmod(a, b)", "rdivmod": "np.divmod(a, b)",
}  # fmt: skip

_BOTH = {
    "isnull": "use isna()",
    "notnull": "use notna()",
    "aggregate": "use agg, or the method of the reduction, such as sum()",
    "product": "use prod()",
    "kurtosis": "use kurt()",
    "plot": _TO_PANDAS,
    "hist": _TO_PANDAS,
    "boxplot": _TO_PANDAS,
    "style": _TO_PANDAS,
    "index": _NO_INDEX,
    "set_index": _NO_INDEX,
    "reset_index": "a table has no index, and group_by(...).agg(...) has its keys as columns already",
    "reindex": "use merge with a table of the keys wanted",
    "reindex_like": "use merge with a table of the keys wanted",
    "sort_index": "use sort_values(by)",
    "rename_axis": _NO_INDEX,
    "swaplevel": _NO_INDEX,
    "reorder_levels": _NO_INDEX,
    "droplevel": _NO_INDEX,
    "xs": "rows are chosen by masks: table[table[name] == value]",
    "align": _NO_INDEX,
    "combine_first": "use fillna with a column of the same table",
    "update": _DOES_NOT_CHANGE,
    "set_flags": _DOES_NOT_CHANGE,
    "infer_objects": "columns have types of Arrow's already: astype changes them",
    "convert_dtypes": "columns have types of Arrow's already: astype changes them",
    "asfreq": "use resample(rule, on=name)",
    "at_time": "use masks of column.dt.hour and column.dt.minute",
    "between_time": "use masks of column.dt.hour and column.dt.minute",
    "first_valid_index": _NO_INDEX,
    "last_valid_index": _NO_INDEX,
    "ewm": _TO_PANDAS,
    "at": "use slices, table[3:4], and columns, table[name]",
    "iat": "use slices, table[3:4], and columns, table[name]",
    "take": "rows are chosen by masks and slices, such as table[2:6]",
    "truncate": "rows are chosen by masks and slices, such as table[2:6]",
    "squeeze": "use table[name], or column.to_list()",
    "compare": "use the operators ==, != of columns",
    "to_csv": _SAVE,
    "to_parquet": _SAVE,
    "to_feather": _SAVE,
    "to_json": _TO_PANDAS,
    "to_excel": _TO_PANDAS,
    "to_hdf": _TO_PANDAS,
    "to_pickle": _SAVE,
    "to_sql": _TO_PANDAS,
    "to_string": "print(table), or table.show() for the first and last rows of all",
    "to_markdown": _TO_PANDAS,
    "to_latex": _TO_PANDAS,
    "to_clipboard": _TO_PANDAS,
    "to_xarray": "use table.to_tensor(), or table.to_pandas().to_xarray()",
    "memory_usage": "use nbytes",
    "tz_localize": "use column.dt.tz_localize(zone)",
    "tz_convert": "use column.dt.tz_convert(zone)",
    "to_period": "use column.dt.floor(span)",
    "to_timestamp": "use column.astype('timestamp[us]')",
    "transpose": "use table.to_tensor(), which is transposed by .T",
    "T": "use table.to_tensor(), which is transposed by .T",
    "array": "use to_arrow()",
    "asof": "use merge_asof(other, on=name)",
    "attrs": "a table has nothing but its columns",
    "flags": "a table has nothing but its columns",
    "axes": _NO_INDEX,
    "combine": "use the operators and NumPy's functions of columns",
    "sparse": "columns are Arrow's, which have no sparse ones",
    "transform": "use apply(function)",
}

_TABLE = {
    **_BOTH,
    "mode": "use table[name].mode()",
    **dict.fromkeys(("to_html", "to_iceberg", "to_orc", "to_stata", "to_xml"), _TO_PANDAS),
    "iterrows": _ROWS,
    "itertuples": _ROWS,
    "values": "use table.to_tensor() for numbers on all ranks, or table.to_pandas().to_numpy() for all on one",
    "to_numpy": "use table.to_tensor() for numbers on all ranks, or table.to_pandas().to_numpy() for all on one",
    "to_dict": "use table.to_arrow().to_pydict()",
    "to_records": "use table.to_pandas().to_records()",
    "append": "use concat(other)",
    "join": "use merge(other, on=keys)",
    "isetitem": "use table[name] = values",
    "set_axis": "use rename(columns)",
    "select": "use table[[names]]",
    "stack": _TO_PANDAS,
    "unstack": "use pivot_table(values, index=, columns=)",
    "dot": "use table.to_tensor()",
    "corrwith": "use corr()",
    "from_dict": "use dtl.Table(ctx, columns)",
    "from_records": "use dtl.Table(ctx, columns)",
    "applymap": "use map(function)",
}

_COLUMN = {
    **_BOTH,
    "groupby": "use table.group_by(keys)[name]",
    "index": "a column has no index: rows are numbered from 0 on in their order",
    "reset_index": "a column has no index",
    "values": "use column.to_vector() for all ranks, or column.to_numpy() for all on one",
    "to_dict": "use column.to_list()",
    "tolist": "use to_list()",
    "list": "use column.str.get(i) and column.str.len()",
    "append": "use concat of tables: table[[name]].concat(other)",
    "factorize": "use column.astype('category').cat.codes",
    "item": "use column.to_list()[0]",
    "hasnans": "use column.isna().any()",
    "case_when": "use where(condition, other) or mask(condition, other)",
    "repeat": _TO_PANDAS,
    "searchsorted": "use cut(bins)",
    "autocorr": "use corr of a table with the column and its shift()",
    "corr": "use table.corr([one, other])",
    "cov": "use table.cov([one, other])",
    "dot": "use (one * other).sum()",
    "nlargest": "use table[[name]].nlargest(n, name)",
    "nsmallest": "use table[[name]].nsmallest(n, name)",
    "drop_duplicates": "use unique()",
    "describe": "use table[[name]].describe()",
    "sample": "use table[[name]].sample(n)",
    "resample": "use table.resample(rule, on=name)",
    "items": "use column.to_list()",
    "keys": "a column has no index",
    "loc": "use column[mask]",
    "iloc": "use column[2:6]",
    "insert": "use table[name] = column",
    "add_prefix": _NO_INDEX,
    "add_suffix": _NO_INDEX,
    "argmax": "use idxmax()",
    "argmin": "use idxmin()",
    "drop": "rows are chosen by masks: column[mask]",
    "dtypes": "use dtype",
    "duplicated": "use table.duplicated(name)",
    "filter": "use column[mask]",
    "get": "use slices, column[3:4]",
    "info": "use table.info()",
    "pop": "use del table[name]",
    "set_axis": "a column has no index",
    "struct": "lists and structs are carried, and computed by pyarrow: column.to_arrow(local=True)",
    "from_arrow": "use dtl.from_arrow(ctx, table)",
    "unstack": "use table.pivot_table(values, index=, columns=)",
    "concat": "use table[[name]].concat(other)",
}

_STR = {
    "index": "use find, which is -1 where the text is not found",
    "rindex": "use rfind, which is -1 where the text is not found",
    "extractall": "use findall, which has a list for each text",
    "get_dummies": "use column.str.contains(text) for each text",
    "wrap": "use map(function)",
    "encode": "use column.astype('binary'), which has UTF-8",
    "decode": "use column.astype('string'), which takes UTF-8",
}

_DT = {
    "to_period": "use floor(span), such as dt.floor('M')",
    "to_timestamp": "use column.astype('timestamp[us]')",
    "to_pydatetime": "use column.to_list()",
    "to_pytimedelta": "use column.to_list()",
    "timetz": "use time",
    "freq": "rows of a table have no frequency",
    "weekofyear": "use week",
}

_HINTS: dict[str, dict[str, str]] = {"table": _TABLE, "column": _COLUMN, "str": _STR, "dt": _DT, "cat": {}}


def missing_attribute(what: str, thing: Any, name: str) -> AttributeError:
    """Return the error of an attribute that a table, a column, or one of its ``str``, ``dt`` and ``cat`` has not."""
    return AttributeError(f"{what} has no attribute {name!r}{_hint(what, thing, name)}")


def _hint(what: str, thing: Any, name: str) -> str:
    if name.startswith("_"):  # which Python and libraries ask for, before there are rows, too
        return ""
    columns = thing.columns if what == "table" else []
    if name in columns:
        return f"; the column is {what}[{name!r}]"
    known = _HINTS[what].get(name)
    if known:
        return f": {known}"
    if what in ("table", "column") and name in _OPERATORS:
        return f": use the operator {_OPERATORS[name]} of columns"
    names = [each for each in dir(type(thing)) if not each.startswith("_")]
    close = difflib.get_close_matches(name, [*names, *columns], 3, _ALIKE)
    close = [f"{what}[{each!r}]" if each in columns else each for each in close]
    return f"; did you mean {' or '.join(close)}?" if close else ""
