"""Tables and their columns, with right arguments, in the manner of hostile.py."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import numpy as np
from hostile_draws import Rows

import dtl

#: Calls without an argument that may be wrong, and those of Python's protocols, which have tests of their own.
WITHOUT = {
    "Column.__init__", "Column.__iter__", "Column.categories", "Column.__len__", "Column.count", "Column.dropna",
    "Column.isna", "Column.notna", "Column.to_vector", "Operators.abs",
    "Table.describe", "Table.explain",
    "Table.__contains__", "Table.__delitem__", "Table.__iter__", "Table.__len__", "Table.items", "Table.keys",
    "ChoosingMethods.copy", "ColumnsMethods.close",
    "ColumnWise.isna", "ColumnWise.notna", "ColumnWise.abs", "ColumnRowMethods.explode",
    "ValueMethods.copy", "ValueMethods.idxmax", "ValueMethods.idxmin",
    "HasRows.of", "TableGroupBy.__init__", "ColumnRowMethods.unique",
    "Resampler.__init__", "Resampler.__getitem__",
    "Resampler.size", "Windows.__init__", "Rolling.__init__", "Expanding.__init__",
    "Windows.sum", "Windows.mean", "Windows.min", "Windows.max", "Windows.count",
    "ValueMethods.interpolate", "ColumnWise.interpolate",
    "TableGroupBy.__getitem__", "GroupRowMethods.__iter__", "TableGroupBy.size",
    "GroupMethods.count", "GroupMethods.nunique",
    "ColumnGroupBy.__init__",
}  # fmt: skip


_RUNNING = ("cumsum", "cumprod", "cummin", "cummax")


def table_of(ctx: dtl.Context) -> Any:
    """Return a small table, the same for each call; without pyarrow, nothing, of which all calls fail."""
    with contextlib.suppress(dtl.BackendUnavailableError):
        return dtl.Table(ctx, {"v": [1.0, 2.0, None], "n": [3, 1, 2], "text": ["a", None, "b"]})
    return dtl.Table


def _some_rows(group: Any) -> bool:
    return len(group) > 0


def _group_methods(groups: Any) -> Rows:
    """Return aggregates of groups with their options."""
    skipping, least = {"skipna": True, "numeric_only": True}, {"min_count": 1}
    options: dict[str, dict[str, Any]] = {
        **{name: {**skipping, **least} for name in ("sum", "prod", "min", "max", "first", "last")},
        **{name: skipping for name in ("mean", "median")},
        **{name: skipping for name in ("skew", "kurt", "idxmax", "idxmin")},
        **{name: {**skipping, "ddof": 0} for name in ("var", "std", "sem")},
        **{name: {"skipna": True} for name in ("any", "all")},
        "quantile": {"q": 0.5, "interpolation": "lower", "numeric_only": True},
    }
    of_rows: dict[str, dict[str, Any]] = {
        **{name: {"n": 1} for name in ("head", "tail")},
        "nth": {"n": 1, "dropna": "any"},
        **{name: {"skipna": False} for name in _RUNNING},
        **{name: {"ascending": True} for name in ("cumcount", "ngroup")},
        **{name: {"periods": 1} for name in ("diff", "pct_change")},
        **{name: {"limit": 1} for name in ("ffill", "bfill")},
    }
    return {
        **{f"GroupMethods.{name}": (getattr(groups, name), each) for name, each in options.items()},
        **{f"GroupRowMethods.{name}": (getattr(groups, name), each) for name, each in of_rows.items()},
    }


def _listed(table: Any) -> Any:
    """Return the small table with a column of lists."""
    return table.assign(l=[[1, 2], [], [3]])


def _timed(table: Any) -> Any:
    """Return the small table with a column of times."""
    return table.assign(time=np.datetime64("2024-01-01T00:30:00"))


def rows(ctx: dtl.Context, folder: str) -> Rows:
    """Return the collective calls. In the folder, there are a table v.parquet and others."""
    if ctx.is_root:
        with open(f"{folder}/v.json", "w", encoding="utf-8") as file:
            file.write('{"v": 1}\\n{"v": 2}\\n')
    t = table_of(ctx)
    whole = {"v": [1.0, 2.0], "n": 3}
    v = t["v"] if isinstance(t, dtl.Table) else t
    skips = {"skipna": True}
    numbers = t[["v", "n"]] if isinstance(t, dtl.Table) else t
    of_all = {"numeric_only": True, **skips}
    ranking = {"method": "dense", "ascending": False, "na_option": "top", "pct": True}
    counting = {"normalize": False, "sort": True, "ascending": False, "dropna": True}
    return {
        "Column.__getitem__": (v._filter, {"mask": [True, False, True]}),
        **{f"Column.{name}": (getattr(v, name), skips) for name in ("sum", "prod", "mean", "min", "max", "median")},
        **{f"Column.{name}": (getattr(v, name), skips) for name in ("any", "all")},
        **{f"Column.{name}": (getattr(v, name), skips) for name in ("skew", "kurt")},
        **{f"Column.{name}": (getattr(v, name), {"ddof": 1, **skips}) for name in ("var", "std", "sem")},
        **{
            f"ColumnWise.{name}": (getattr(numbers, name), {"axis": 0, **of_all})
            for name in ("sum", "prod", "mean", "min", "max", "any", "all")
        },
        **{f"ColumnWise.{name}": (getattr(numbers, name), {"ddof": 1, **of_all}) for name in ("var", "std", "sem")},
        **{f"ColumnWise.{name}": (getattr(numbers, name), of_all) for name in ("skew", "kurt")},
        "ColumnWise.count": (numbers.count, {"axis": 0, "numeric_only": True}),
        "ColumnWise.median": (numbers.median, of_all),
        "ColumnWise.quantile": (numbers.quantile, {"q": 0.5, **of_all}),
        "ColumnWise.idxmax": (numbers.idxmax, {"numeric_only": True}),
        "ColumnWise.idxmin": (numbers.idxmin, {"numeric_only": True}),
        "ColumnWise.agg": (numbers.agg, {"how": {"v": "sum"}}),
        "ColumnWise.where": (numbers.where, {"condition": v.isna(), "other": 1}),
        "ColumnWise.mask": (numbers.mask, {"condition": v.isna(), "other": 1}),
        "ColumnWise.replace": (numbers.replace, {"to_replace": [1], "value": [2]}),
        "ColumnWise.map": (numbers.map, {"f": {1: 2}}),
        "ColumnWise.apply": (numbers.apply, {"f": lambda row, more: len(row) + more, "axis": 1, "args": (1,)}),
        **{f"ColumnWise.{name}": (getattr(numbers, name), {"limit": 1}) for name in ("ffill", "bfill")},
        **{f"ColumnWise.{name}": (getattr(numbers, name), {"periods": 1}) for name in ("diff", "pct_change")},
        "ColumnWise.shift": (numbers.shift, {"periods": 1, "fill_value": 2}),
        "ColumnWise.rank": (numbers.rank, {"numeric_only": True, **ranking}),
        **{f"ColumnWise.{name}": (getattr(numbers, name), of_all) for name in _RUNNING},
        **{f"ColumnRowMethods.{name}": (getattr(v, name), skips) for name in _RUNNING},
        "ColumnWise.nunique": (numbers.nunique, {"dropna": True}),
        "ChoosingMethods.query": (t.query, {"expr": "n > @least", "local_dict": {"least": 1}}),
        "ChoosingMethods.eval": (t.eval, {"expr": "n * @factor", "local_dict": {"factor": 2}}),
        "ChoosingMethods.insert": (t.copy().insert, {"loc": 0, "column": "m", "value": 1}),
        "ChoosingMethods.equals": (lambda other: t.equals(other), {"other": t}),  # noqa: PLW0108 - by its name
        "Column.nunique": (v.nunique, {"dropna": True}),
        "Column.astype": (v.astype, {"dtype": "float32"}),
        "Column.to_category": (t["text"].to_category, {"categories": ["a", "b", "c"], "ordered": True}),
        "ValueMethods.where": (v.where, {"condition": v.isna(), "other": 1.0}),
        "ValueMethods.mask": (v.mask, {"condition": v.isna(), "other": 1.0}),
        "ValueMethods.map": (v.map, {"f": {1.0: 2.0}}),
        "ValueMethods.apply": (v.apply, {"f": lambda value, more: value + more, "args": (1,)}),
        "ValueMethods.to_numeric": (t["text"].to_numeric if isinstance(t, dtl.Table) else t, {"errors": "coerce"}),
        "ValueMethods.to_datetime": (
            t["text"].to_datetime if isinstance(t, dtl.Table) else t,
            {"format": "%Y", "errors": "coerce"},
        ),
        "ValueMethods.replace": (v.replace, {"to_replace": [1.0], "value": [0.5]}),
        "ValueMethods.ffill": (v.ffill, {"limit": 1}),
        "ValueMethods.bfill": (v.bfill, {"limit": 1}),
        "ValueMethods.pct_change": (v.pct_change, {"periods": 1}),
        "ValueMethods.argsort": (v.argsort, {"ascending": True, "na_position": "last"}),
        "ValueMethods.mode": (v.mode, {"dropna": True}),
        "ValueMethods.agg": (v.agg, {"how": ["sum", "max"]}),
        "ValueMethods.equals": (lambda other: v.equals(other), {"other": v}),  # noqa: PLW0108 - by its name
        "ValueMethods.to_list": (v.to_list, {"root": 0}),
        "ValueMethods.to_numpy": (v.to_numpy, {"root": 0}),
        "ValueMethods.gather_to": (v.gather_to, {"root": 0}),
        "Column.fillna": (v.fillna, {"value": 0.5}),
        "Column.head": (v.head, {"n": 2}),
        "Column.quantile": (v.quantile, {"q": 0.5, **skips}),
        "Column.tail": (v.tail, {"n": 2}),
        "Column.to_arrow": (v.to_arrow, {"root": 0}),
        "Column.to_pandas": (v.to_pandas, {"root": 0}),
        "Table.__init__": (functools.partial(dtl.Table, ctx), {"data": whole}),
        "ReadMethods.from_arrow": (functools.partial(dtl.from_arrow, ctx), {"table": t}),
        "Table.__getitem__": (t._filter, {"mask": [True, False, True]}),
        "Table.__setitem__": (lambda value: t.assign(m=0).__setitem__("m", value), {"value": [3, 2, 1]}),
        "Table.assign": (t.assign, {"m": [3, 2, 1]}),
        "Table.astype": (t[["v", "n"]].astype, {"dtype": {"n": "float32"}}),
        "Table.dropna": (t.dropna, {"subset": ["v"], "how": "any"}),
        "Table.fillna": (t.fillna, {"value": {"v": 0.5}}),
        "Table.head": (t.head, {"n": 2}),
        "Table.info": (t.info, {"root": 0}),
        "Table.batches": (t.batches, {"rows": 2}),
        "Table.sample": (t.sample, {"n": 2, "frac": None, "replace": False, "seed": 1}),
        "ReadMethods.read_arrow": (
            functools.partial(dtl.read_arrow, ctx),
            {"path": f"{folder}/v.arrow", "columns": ["v"], "placement": "host"},
        ),
        "ReadMethods.read_csv": (
            functools.partial(dtl.read_csv, ctx),
            {
                "path": f"{folder}/v.csv",
                "sep": ",",
                "header": 0,
                "names": None,
                "usecols": None,
                "dtype": None,
                "parse_dates": None,
                "decimal": ".",
                "thousands": None,
                "comment": None,
                "skiprows": 0,
                "na_values": None,
                "encoding": "utf-8",
                "columns": None,
                "dtypes": None,
                "placement": "host",
            },
        ),
        "ReadMethods.read_json": (
            functools.partial(dtl.read_json, ctx),
            {"path": f"{folder}/v.json", "columns": ["v"]},
        ),
        "ReadMethods.read_parquet": (
            functools.partial(dtl.read_parquet, ctx),
            {"path": f"{folder}/v.parquet", "columns": ["v"], "filters": [("v", ">", 0)], "placement": "host"},
        ),
        "ReadMethods.read_delta": (
            functools.partial(dtl.read_delta, ctx),
            {"path": f"{folder}/delta", "version": 1, "columns": ["v"], "filters": [("v", ">", 0)]},
        ),
        "ReadMethods.read_iceberg": (
            functools.partial(dtl.read_iceberg, ctx),
            {"table": "a.b", "catalog": "none", "snapshot": 1, "columns": ["v"], "filters": "v > 0"},
        ),
        "ReadMethods.read_sql": (
            functools.partial(dtl.read_sql, ctx),
            {"query": "SELECT 1 AS v", "connection": f"sqlite:///{folder}/v.db", "partition_on": "v"},
        ),
        "Table.save": (
            functools.partial(t.save, f"{folder}/t.parquet"),
            {"format": "parquet", "compression": None},
        ),
        "Table.to_columns": (t.to_columns, {"strings": ["text"], "partition": "block", "block_size": None}),
        "Table.show": (t.show, {"root": 0}),
        "Table.tail": (t.tail, {"n": 2}),
        "Table.to_arrow": (t.to_arrow, {"root": 0}),
        "ColumnsMethods.gather_to": (t.gather_to, {"root": 0}),
        "Table.to_polars": (t.to_polars, {"root": 0}),
        "Table.to_pandas": (t.to_pandas, {"root": 0}),
        "ColumnRowMethods.sort_values": (v.sort_values, {"ascending": True, "na_position": "last"}),
        "ColumnRowMethods.value_counts": (v.value_counts, counting),
        "ColumnRowMethods.rank": (v.rank, ranking),
        "RowMethods.sort_values": (t.sort_values, {"by": ["n"], "ascending": [True], "na_position": "last"}),
        "RowMethods.nlargest": (t.nlargest, {"n": 2, "by": "n"}),
        "RowMethods.nsmallest": (t.nsmallest, {"n": 2, "by": "n"}),
        "RowMethods.duplicated": (t.duplicated, {"subset": ["n"], "keep": "last"}),
        "RowMethods.drop_duplicates": (t.drop_duplicates, {"subset": ["n"], "keep": "last"}),
        "JoinMethods.merge_asof": (
            functools.partial(t.sort_values("n").merge_asof, t.sort_values("n")[["n", "v"]]),
            {
                "on": "n",
                "left_on": None,
                "right_on": None,
                "by": None,
                "left_by": None,
                "right_by": None,
                "suffixes": ("_x", "_y"),
                "tolerance": 1,
                "allow_exact_matches": True,
                "direction": "backward",
            },
        ),
        "JoinMethods.merge": (
            functools.partial(t.merge, t[["n", "text"]]),
            {
                "how": "left",
                "on": ["n"],
                "left_on": None,
                "right_on": None,
                "suffixes": ("_x", "_y"),
                "validate": "1:1",
                "indicator": "of",
            },
        ),
        "JoinMethods.concat": (lambda other: t.concat(other), {"other": t}),  # noqa: PLW0108 - by its name
        "RowMethods.pivot_table": (
            t.pivot_table,
            {"values": ["v"], "index": "n", "columns": "text", "aggfunc": "sum", "fill_value": None},
        ),
        "RowMethods.to_tensor": (t[["n"]].to_tensor, {"columns": ["n"]}),
        "RowMethods.corr": (t.corr, {"columns": ["v", "n"]}),
        "RowMethods.cov": (t.cov, {"columns": ["v", "n"]}),
        "Resampler.agg": (_timed(t).resample("1h", on="time").agg, {"how": {"n": "sum"}}),
        "RowMethods.crosstab": (t.crosstab, {"index": ["n"], "columns": "text"}),
        "ColumnRowMethods.cut": (v.cut, {"bins": [0.0, 1.5, 3.0], "labels": ["low", "high"], "right": True}),
        "ColumnRowMethods.qcut": (v.qcut, {"q": [0.0, 0.5, 1.0], "labels": ["low", "high"]}),
        "ColumnRowMethods.shift": (v.shift, {"periods": 1, "fill_value": 0.5}),
        "ColumnRowMethods.diff": (v.diff, {"periods": 1}),
        "RowMethods.value_counts": (t.value_counts, {"subset": ["n"], **counting}),
        "RowMethods.melt": (
            t.melt,
            {"id_vars": ["text"], "value_vars": ["v", "n"], "var_name": "of", "value_name": "number"},
        ),
        "RowMethods.pivot": (
            t.dropna().pivot if isinstance(t, dtl.Table) else t,
            {"columns": "text", "index": "n", "values": ["v"]},
        ),
        "TableGroupBy.get_group": (t.group_by(["n", "text"]).get_group, {"name": (3, "a")}),
        "RowMethods.get_dummies": (
            t.get_dummies,
            {
                "prefix": ["of"],
                "prefix_sep": "_",
                "dummy_na": True,
                "columns": ["text"],
                "drop_first": True,
                "dtype": "int8",
            },
        ),
        "ColumnRowMethods.get_dummies": (v.get_dummies, {"dummy_na": True, "drop_first": True, "dtype": "int8"}),
        "RowMethods.explode": (_listed(t).explode, {"column": ["l"]}),
        **_group_methods(t.group_by("n")["v"]),
        "ColumnGroupBy.agg": (t.group_by("n")["v"].agg, {"how": "sum"}),
        "GroupRowMethods.shift": (t.group_by("n")["v"].shift, {"periods": 1, "fill_value": 0.5}),
        "ColumnGroupBy.nlargest": (t.group_by("n")["v"].nlargest, {"n": 2}),
        "ColumnGroupBy.nsmallest": (t.group_by("n")["v"].nsmallest, {"n": 2}),
        "GroupRowMethods.rank": (t.group_by("n")["v"].rank, ranking),
        "Windows.var": (v.rolling(2).var if isinstance(v, dtl.Column) else v, {"ddof": 0}),
        "Windows.std": (v.rolling(2).std if isinstance(v, dtl.Column) else v, {"ddof": 0}),
        "GroupRowMethods.filter": (t.group_by("n").filter, {"function": _some_rows}),
        "GroupRowMethods.apply": (t.group_by("n").apply, {"function": len}),
        "GroupRowMethods.transform": (t.group_by("n")[["v"]].transform, {"how": "sum"}),
        "TableGroupBy.agg": (t.group_by("n").agg, {"how": {"v": "sum"}}),
    }


def local(ctx: dtl.Context) -> Rows:
    """Return the calls that are not collective."""
    t = table_of(ctx)
    v = t["v"] if isinstance(t, dtl.Table) else t
    return {
        "Column.between": (v.between, {"left": 0, "right": 1.5, "inclusive": "both"}),
        "Column.isin": (v.isin, {"values": [1.0, 2.0]}),
        "Column.round": (v.round, {"decimals": 1}),
        "Column.clip": (v.clip, {"lower": 1.5, "upper": 3}),
        "Column.rename": (v.rename, {"name": "w"}),
        "ValueMethods.pipe": (v.pipe, {"f": len}),
        "ValueMethods.to_frame": (v.to_frame, {"name": "w"}),
        "ColumnWise.isin": (t[["v", "n"]].isin, {"values": {"v": [1.0]}}),
        "ColumnWise.round": (t.round, {"decimals": {"v": 1}}),
        "ColumnWise.clip": (t[["v", "n"]].clip, {"lower": 1, "upper": 2}),
        "ChoosingMethods.select_dtypes": (t.select_dtypes, {"include": "number", "exclude": "bool"}),
        "ChoosingMethods.filter": (t.filter, {"items": ["v"], "like": None, "regex": None}),
        "ChoosingMethods.get": (t.get, {"key": "v"}),
        "ChoosingMethods.pop": (t.copy().pop, {"name": "v"}),
        "ChoosingMethods.add_prefix": (t.add_prefix, {"prefix": "a"}),
        "ChoosingMethods.add_suffix": (t.add_suffix, {"suffix": "a"}),
        "ChoosingMethods.pipe": (t.pipe, {"f": len}),
        "Table.drop": (t.drop, {"columns": ["v"]}),
        **{
            f"{kind}.{name}": (getattr(of, name), {"min_periods": 1, **more})
            for kind, of in (
                ("ColumnRowMethods", v),
                ("ColumnWise", t[["v"]]),
                ("GroupRowMethods", t.group_by("n")["v"]),
            )
            for name, more in (("expanding", {}), ("rolling", {"window": 2}))
        },
        "RowMethods.resample": (_timed(t).resample, {"rule": "1h", "on": "time"}),
        "Table.groupby": (
            t.groupby,
            {"by": ["n"], "as_index": False, "sort": True, "observed": True, "dropna": True},
        ),
        "Table.group_by": (t.group_by, {"by": ["n"], "dropna": True}),
        "Table.rename": (t.rename, {"columns": {"v": "w"}}),
    }
