"""Chains of calls of tables, drawn at random: on several ranks as on one, and as pandas and Polars have them.

Each step is made of a table that is divided among the ranks in a drawn way, and of the same table on one rank, which
every rank makes by itself. Where pandas or Polars has the call, it is made of a frame of the rows before, too.
"""

from __future__ import annotations

import datetime
import decimal
import os
import random
from typing import Any, Callable

import pandas as pd
import polars as pl
import pyarrow as pa
from table_oracles import Step, frame_of_pandas, frame_of_polars, unlike_frames, unlike_one_rank

import dtl

NAN = float("nan")
NOON = datetime.datetime(2024, 2, 29, 12)
CATEGORY = pa.dictionary(pa.int32(), pa.string())

#: Values of each type, of which tables are made.
VALUES: dict[Any, list[Any]] = {
    pa.int64(): [3, 1, None, -2, 2**40, 7],
    pa.int8(): [-128, 127, 0, None, 1],
    pa.uint64(): [2**63, 0, None, 5],
    pa.float64(): [1.5, None, 0.25, -0.0, 0.0, -2.25, NAN],
    pa.float32(): [1.5, None, NAN, 0.25, -3.0],
    pa.bool_(): [True, False, None],
    pa.string(): ["b", "", None, "a", "\u00e9", "ab"],
    CATEGORY: ["b", "a", None, "c"],
    pa.date32(): [datetime.date(2020, 2, 29), datetime.date(1969, 1, 1), None],
    pa.timestamp("us"): [NOON + datetime.timedelta(hours=hours) for hours in (0, 1, 1.5, 49, -30)],
    pa.timestamp("ms", "Europe/Berlin"): [
        datetime.datetime(2024, 3, 31, hour, 30, tzinfo=datetime.timezone.utc) for hours in [0] for hour in (0, 1, 2)
    ],
    pa.duration("ms"): [datetime.timedelta(1), datetime.timedelta(-3, 5), None, datetime.timedelta(0)],
    pa.decimal128(12, 2): [decimal.Decimal("1.50"), decimal.Decimal("-3.25"), None],
    pa.null(): [None],
}

#: The names of columns, of which each table has some; k and l are those that tables are merged by.
NAMES = "klxyz"


def _beside_nan(x: Any, made: Any) -> Any:
    """Return a quantile as NumPy has it, which is NaN where a value is; for Polars, NaN is the greatest number."""
    return pl.when(x.is_nan().any()).then(NAN).otherwise(made)


#: The aggregates, each as Polars has it.
AGGREGATES: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "min": lambda x: x.min(),
    "max": lambda x: x.max(),
    "count": lambda x: x.count(),
    "size": lambda x: pl.len(),
    "median": lambda x: _beside_nan(x, x.median()),
    "quantile(0.3)": lambda x: _beside_nan(x, x.quantile(0.3, "linear")),
    "nunique": lambda x: x.drop_nulls().n_unique(),
    "first": lambda x: x.drop_nulls().first(),
    "last": lambda x: x.drop_nulls().last(),
    "var": lambda x: x.var(),
    "std": lambda x: x.std(),
    "any": lambda x: x.any(),
    "all": lambda x: x.all(),
    "prod": lambda x: x.product(),
    "list": lambda x: x,
}


def chain(
    ctx: dtl.Context,
    alone: dtl.Context,
    rng: random.Random,
    name: str,
    folders: tuple[str, str],
    begins: Callable[[str], None] = lambda words: None,
) -> str | None:
    """Make a drawn table, and one call after the other of it; return what is wrong then.

    Parameters
    ----------
    ctx, alone
        All ranks, and this one.
    rng
        What draws.
    name
        What the chain is, for reports.
    folders
        The paths, but for their suffix, of files of all ranks, and of this one.
    begins
        What is called before each step.
    """
    kinds = {each: rng.choice(list(VALUES)) for each in NAMES}
    seeds = rng.random(), rng.random()
    table, one = (made_of(each, random.Random(seeds[0]), kinds) for each in (ctx, alone))
    keys = {"k": kinds["k"], "l": kinds["l"], "w": pa.int64()}
    others = {id(each): made_of(each, random.Random(seeds[1]), keys) for each in (ctx, alone)}
    done: list[str] = [f"{one.to_arrow().to_pydict()} of {one.dtypes}"]
    for _ in range(rng.choice([1, 2, 4, 6])):
        step = next(filter(None, (rng.choice(STEPS)(rng, one, others) for _ in range(5))), None)
        if step is None:  # none of those that were drawn suits the columns
            continue
        done.append(step.words)
        begins(f"{name}: {done[-1]}")
        before = one.to_arrow()
        table, failed = _tried(step, table, folders[0])
        one, alone_failed = _tried(step, one, folders[1])
        if (failed, alone_failed) != (None, None):
            return f"{failed} on {ctx.size} ranks, {alone_failed} on one: {done}" if failed != alone_failed else None
        wrong = unlike_one_rank(table, one) or unlike_frames(step, before, one.to_arrow())
        if wrong:
            return f"{wrong} after {done}"
    return None


def made_of(ctx: dtl.Context, rng: random.Random, kinds: dict[str, Any]) -> dtl.Table:
    """Return a table of drawn rows, divided in a drawn way, of which each rank has its own categories."""
    count = rng.choice([0, 1, 2, 5, 12, 40])
    few = rng.choice([1, 2, 99])  # all keys are equal, or some
    columns = {}
    for name, kind in kinds.items():
        known = VALUES[kind][:few] if name in "kl" else VALUES[kind]
        values = pa.array([rng.choice(known) for _ in range(count)], kind.value_type if kind == CATEGORY else kind)
        columns[name] = values
    whole = pa.table(columns)
    ends = [*sorted(rng.randint(0, count) for _ in range(7)), count]
    ends = [0, *ends[: ctx.size - 1], count]
    mine = whole.slice(ends[ctx.rank], ends[ctx.rank + 1] - ends[ctx.rank])
    for name, kind in kinds.items():
        if kind == CATEGORY:
            mine = mine.set_column(mine.column_names.index(name), name, mine[name].dictionary_encode())
    return dtl.Table.from_arrow(ctx, mine)


def _tried(step: Step, table: Any, folder: str) -> tuple[Any, str | None]:
    """Return what a step makes, or the class and text of what it raises."""
    try:
        return step.made(table, folder), None
    except dtl.DTLError as error:
        return None, f"{type(error).__name__} ({error.cause if hasattr(error, 'cause') else error})"


def _columns(one: Any, test: Callable[[Any], bool] = lambda kind: True) -> list[str]:
    return [name for name, kind in one.dtypes.items() if test(kind)]


def _keys(one: Any) -> list[str]:
    """Return the columns whose values are compared: no lists, and no computed floats, whose last bits may differ."""
    return [
        name
        for name, kind in one.dtypes.items()
        if not pa.types.is_nested(kind) and (name in NAMES or not pa.types.is_floating(kind))
    ]


def _number(kind: Any) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _chosen(rng: random.Random, names: list[str], most: int = 2) -> list[str]:
    return rng.sample(names, min(len(names), rng.randint(1, most)))


def _new(name: str, call: Callable[[Any], Any], of_polars: Callable[[Any], Any] | None, words: str) -> Step:
    """Return the step that adds what a call makes of a column; pandas' has the same name."""
    return Step(
        f"n = {name}{words}",
        lambda t, _: t.assign(n=call(t[name])),
        lambda f: f.assign(n=call(f[name])),
        None if of_polars is None else lambda f: f.with_columns(of_polars(pl.col(name)).alias("n")),
    )


# ---- Rows ----


def _filtered(rng: random.Random, one: Any, _: Any) -> Step | None:
    name = rng.choice(one.columns)
    way = rng.choice(["isna", "notna", "value", "less"])
    if way in ("isna", "notna"):
        is_null = pl.col(name).is_null() if way == "isna" else pl.col(name).is_not_null()
        return Step(
            f"[{name}.{way}()]",
            lambda t, _: t[getattr(t[name], way)()],
            lambda f: f[getattr(f[name], way)()],
            lambda f: f.filter(is_null),
        )
    values = [value for value in one[[name]].to_arrow()[name].to_pylist() if value is not None]
    if not values or isinstance(values[0], bool) or name not in _keys(one):
        return None
    value = rng.choice(values)
    equal = way == "value" or isinstance(value, str)
    known = value == value  # noqa: PLR0124 - Polars has NaN equal to itself, and DTL does not

    def compared(of: Any, other: Any = value) -> Any:
        return of == other if equal else of < other

    return Step(
        f"[{name} {'==' if equal else '<'} {value!r}]",
        lambda t, _: t[compared(t[name])],
        lambda f: f[compared(f[name])],
        (lambda f: f.filter(compared(pl.col(name), pl.lit(value, f.schema[name])))) if known else None,
    )


def _sorted(rng: random.Random, one: Any, _: Any) -> Step | None:
    by = _chosen(rng, _keys(one))
    if not by:
        return None
    up, where = [rng.random() < 0.5 for _ in by], rng.choice(["first", "last"])
    numbers = not any(pa.types.is_dictionary(one.dtypes[name]) for name in by)
    return Step(
        f"sort_values({by}, ascending={up}, na_position={where!r})",
        lambda t, _: t.sort_values(by, ascending=up, na_position=where),
        (lambda f: f.sort_values(by, ascending=up, na_position=where, kind="stable")) if numbers else None,
        lambda f: _in_order(f, by, up, where),
    )


def _in_order(frame: Any, by: list[str], up: list[bool] | None = None, where: str = "last") -> Any:
    """Return a frame of Polars in order; NaN is beside null, as pandas has it."""
    keys: list[Any] = []
    falling: list[bool] = []
    for name, each in zip(by, up or [True] * len(by)):
        missing = pl.col(name).is_null().cast(pl.Int8) * 2
        if frame.schema[name].is_float():
            missing = missing + pl.col(name).is_nan().fill_null(False).cast(pl.Int8)
        keys, falling = [*keys, missing, pl.col(name)], [*falling, where == "first", not each]
    return frame.sort(keys, descending=falling, maintain_order=True)


def _distinct(rng: random.Random, one: Any, _: Any) -> Step | None:
    subset = _chosen(rng, _keys(one))
    keep: Any = rng.choice(["first", "last", False])
    if not subset:
        return None
    return Step(
        f"drop_duplicates({subset}, keep={keep!r})",
        lambda t, _: t.drop_duplicates(subset, keep=keep),
        lambda f: f.drop_duplicates(subset, keep=keep),
        lambda f: f.unique(subset, keep=keep or "none", maintain_order=True),
    )


def _part(rng: random.Random, one: Any, _: Any) -> Step | None:
    count = len(one)
    begin, end, step = rng.randint(-count - 1, count + 1), rng.randint(-count - 1, count + 1), rng.choice([1, 1, 2, -1])
    if step < 0:
        return Step(f"head({begin})", lambda t, _: t.head(begin), lambda f: f.head(begin), lambda f: f.head(begin))
    which = slice(begin, end, step)
    return Step(f"[{begin}:{end}:{step}]", lambda t, _: t[which], lambda f: f[which], lambda f: f[which])


def _behind(rng: random.Random, one: Any, _: Any) -> Step | None:
    if len(one) > 200:
        return None
    return Step(
        "concat(itself)", lambda t, _: t.concat(t), lambda f: pd.concat([f, f]), lambda f: pl.concat([f, f])
    )  # fmt: skip


def _without_null(rng: random.Random, one: Any, _: Any) -> Step | None:
    names, how = _chosen(rng, one.columns), rng.choice(["any", "all"])
    missing = [pl.col(name).is_null() for name in names]
    lost = pl.any_horizontal(missing) if how == "any" else pl.all_horizontal(missing)
    return Step(
        f"dropna({names}, how={how!r})",
        lambda t, _: t.dropna(names, how=how),
        lambda f: f.dropna(subset=names, how=how),
        lambda f: f.filter(~lost),
    )


def _largest(rng: random.Random, one: Any, _: Any) -> Step | None:
    names = [name for name in _columns(one, _number) if name in _keys(one)]
    if not names:
        return None
    name, n, way = rng.choice(names), rng.choice([0, 1, 3, 100]), rng.choice(["nlargest", "nsmallest"])
    return Step(
        f"{way}({n}, {name!r})",
        lambda t, _: getattr(t, way)(n, name),
        None,
        lambda f: _in_order(f, [name], [way == "nsmallest"]).head(n),
    )


def _saved(rng: random.Random, one: Any, _: Any) -> Step | None:
    suffix = rng.choice(["parquet", "arrow"])

    def made(table: Any, folder: str) -> Any:
        path = f"{folder}.{suffix}"
        table.save(path)
        loaded = dtl.load(table.context, path)
        table.context.barrier()
        if table.context.is_root:
            os.unlink(path)
        return loaded

    return Step(f"save and load of {suffix}", made, lambda f: f, lambda f: f)


# ---- Groups ----


def _grouped(rng: random.Random, one: Any, _: Any) -> Step | None:
    keys = _chosen(rng, _keys(one))
    rest = [name for name in one.columns if name not in keys]
    if not keys or not rest:
        return None
    named = {}
    for place in range(rng.choice([1, 3])):
        name = rng.choice(rest)
        named[f"r{len(one.columns)}{place}"] = name, rng.choice(_known(one.dtypes[name], rng))
    dropna = rng.random() < 0.5
    plain = all(how not in ("size", "list", "first", "last", "nunique", "quantile(0.3)") for _, how in named.values())
    # Means of decimals are decimals in pandas, rounded to their places.
    plain = plain and not any(pa.types.is_decimal(one.dtypes[name]) for name, _ in named.values())

    def by_pandas(frame: Any) -> Any:
        return frame.groupby(keys, as_index=False, dropna=dropna, observed=True).agg(**named)

    def by_polars(frame: Any) -> Any:
        some = frame.drop_nulls(keys) if dropna else frame
        wanted = {name: AGGREGATES[how](pl.col(of)) for name, (of, how) in named.items()}
        return _in_order(some.group_by(keys, maintain_order=True).agg(**wanted), keys)

    keyed = not any(pa.types.is_dictionary(one.dtypes[key]) for key in keys)
    return Step(
        f"group_by({keys}, dropna={dropna}).agg({named})",
        lambda t, _: t.group_by(keys, dropna=dropna).agg(**named),
        by_pandas if plain and keyed else None,
        by_polars if all(_as_polars(one.dtypes[name], how) for name, how in named.values()) else None,
    )


def _known(kind: Any, rng: random.Random) -> list[str]:
    """Return the aggregates of a type; of one in ten columns all, for errors."""
    if _number(kind) or rng.random() < 0.1:
        return list(AGGREGATES)
    exact = ["sum", "mean", "median", "var", "std"] if pa.types.is_decimal(kind) else []
    if pa.types.is_boolean(kind):
        exact = ["sum", "mean", "any", "all"]
    elif pa.types.is_temporal(kind):
        exact = ["mean", "median", *(["sum"] if pa.types.is_duration(kind) else [])]
    return [*exact, "min", "max", "count", "size", "nunique", "first", "last", "list"]


def _as_polars(kind: Any, how: str) -> bool:
    """Say whether Polars has an aggregate of a type, and with the same result."""
    if how in ("count", "size", "first", "last", "nunique", "list", "min", "max"):
        return not pa.types.is_nested(kind) or how in ("count", "size", "first", "last", "list")
    if pa.types.is_null(kind):
        return False
    if how == "sum" or pa.types.is_boolean(kind):
        return how in ("sum", "mean", "any", "all")
    # Means and quantiles of times and of decimals are rounded in other ways.
    return _number(kind)


def _within(rng: random.Random, one: Any, _: Any) -> Step | None:
    keys, names = _chosen(rng, _keys(one)), _columns(one, _number)
    names = [name for name in names if name not in keys and name in _keys(one)]
    if not keys or not names:
        return None
    name, way = rng.choice(names), rng.choice(["cumsum", "rank", "shift", "cumcount", "transform"])
    words = ("mean",) if way == "transform" else ()
    dropna = rng.random() < 0.5
    of = pl.col(name)
    made = {
        "cumsum": of.cum_sum(),
        "rank": of.rank("average"),
        "shift": of.shift(1),
        "cumcount": pl.int_range(pl.len()),
        "transform": of.mean(),
    }[way].over(keys)
    if dropna:
        made = pl.when(pl.all_horizontal(pl.col(key).is_not_null() for key in keys)).then(made)
    return Step(
        f"n = group_by({keys}, dropna={dropna})[{name!r}].{way}{words}",
        lambda t, _: t.assign(n=getattr(t.group_by(keys, dropna=dropna)[name], way)(*words)),
        None,
        lambda f: f.with_columns(made.alias("n")),
    )


def _counted(rng: random.Random, one: Any, _: Any) -> Step | None:
    names = _chosen(rng, [name for name in _keys(one) if name != "count"])
    if not names or "count" in names:
        return None

    def by_polars(frame: Any) -> Any:
        counts = frame.drop_nulls(names).group_by(names).len("count")
        return _in_order(counts, ["count", *names], [False, *[True] * len(names)])

    return Step(f"value_counts({names})", lambda t, _: t.value_counts(names), None, by_polars)


def _pivoted(rng: random.Random, one: Any, _: Any) -> Step | None:
    def plain(kind: Any) -> bool:
        return pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_dictionary(kind)

    across = _columns(one, plain)
    index = [name for name in _keys(one) if name in NAMES]
    values = _columns(one, _number)
    if not (across and index and values):
        return None
    column, row, value = rng.choice(across), rng.choice(index), rng.choice(values)
    how = rng.choice(["sum", "min", "max", "mean", "count", "first"])
    if len({column, row, value}) < 3:
        return None

    def by_polars(frame: Any) -> Any:
        groups = frame.drop_nulls([row, column]).group_by([row, column]).agg(AGGREGATES[how](pl.col(value)))
        wide = _in_order(groups, [column]).pivot(column, index=row, values=value, maintain_order=True)
        return None if groups.is_empty() else _in_order(wide, [row])

    return Step(
        f"pivot_table({value!r}, index={row!r}, columns={column!r}, aggfunc={how!r})",
        lambda t, _: t.pivot_table(value, index=row, columns=column, aggfunc=how),
        None,
        by_polars,
    )


def _resampled(rng: random.Random, one: Any, _: Any) -> Step | None:
    times = _columns(one, pa.types.is_timestamp)
    rest = [name for name in one.columns if name not in times]
    if not times or not rest:
        return None
    time, rule = rng.choice(times), rng.choice(["1h", "2h", "1D"])
    name, how = rng.choice(rest), rng.choice(["count", "first", "last", "size", "max"])

    def by_polars(frame: Any) -> Any:
        spans = frame.drop_nulls([time]).with_columns(pl.col(time).dt.truncate(rule.lower()))
        if spans.is_empty():
            return None
        unit = spans[time].dtype.time_unit
        whole = pl.datetime_range(spans[time].min(), spans[time].max(), rule.lower(), time_unit=unit, eager=True)
        groups = spans.group_by(time).agg(r=AGGREGATES[how](pl.col(name)))
        made = whole.alias(time).to_frame().join(groups, on=time, how="left", maintain_order="left")
        return made.with_columns(pl.col("r").fill_null(0)) if how in ("count", "size") else made

    return Step(
        f"resample({rule!r}, on={time!r}).agg(r={name, how})",
        lambda t, _: t.resample(rule, on=time).agg(r=(name, how)),
        None,
        # Polars rounds hours as clocks show them, and pandas and DTL count them from the first midnight.
        by_polars if _as_polars(one.dtypes[name], how) and (rule == "1h" or not one.dtypes[time].tz) else None,
    )


# ---- Two tables ----


def _merged(rng: random.Random, one: Any, others: Any) -> Step | None:
    keys = [name for name in ("k", "l") if name in one.columns]
    if not keys or "w" in one.columns:
        return None
    keys = _chosen(rng, keys)
    other = others[id(one.context)]
    if any(other.dtypes[key] != one.dtypes[key] for key in keys):
        return None
    how = rng.choice(["inner", "left", "right", "outer", "semi", "anti", "cross"])
    if how == "cross" and len(one) > 40:
        return None
    by = {} if how == "cross" else {"on": keys}
    rows = other.to_arrow()
    alike = how in ("inner", "left") and not any(pa.types.is_dictionary(one.dtypes[key]) for key in keys)
    return Step(
        f"merge({rows.to_pydict()}, {how!r}, {keys})",
        lambda t, _: t.merge(others[id(t.context)], how=how, **by),
        (lambda f: f.merge(frame_of_pandas(rows), how=how, **by)) if alike else None,
        lambda f: _joined(f, frame_of_polars(rows), how, [] if how == "cross" else keys),
    )


def _joined(frame: Any, other: Any, how: str, keys: list[str]) -> Any:
    """Return a join of Polars with pandas' names and order of columns, and DTL's order of rows."""
    if how in ("semi", "anti"):
        return frame.join(other, on=keys, how=how, nulls_equal=True, maintain_order="left")
    both = [name for name in frame.columns if name in other.columns and name not in keys]
    left = frame.rename({name: f"{name}_x" for name in both})
    right = other.rename({name: f"{name}_y" for name in both})
    names = [*left.columns, *(name for name in right.columns if name not in keys)]
    if how == "cross":
        return left.join(right, how="cross", maintain_order="left_right").select(names)
    order: Any = "right_left" if how == "right" else "left_right"
    kind: Any = "full" if how == "outer" else how
    return left.join(right, on=keys, how=kind, nulls_equal=True, coalesce=True, maintain_order=order).select(names)


def _nearest(rng: random.Random, one: Any, others: Any) -> Step | None:
    other = others[id(one.context)]
    if "k" not in one.columns or "w" in one.columns or "l_y" in one.columns or other.dtypes["k"] != one.dtypes["k"]:
        return None
    kind = one.dtypes["k"]
    if not (pa.types.is_timestamp(kind) or pa.types.is_integer(kind)):
        return None
    by = ["l"] if "l" in one.columns and other.dtypes["l"] == one.dtypes["l"] and rng.random() < 0.5 else None
    direction, exact = rng.choice(["backward", "forward"]), rng.random() < 0.7
    way: dict[str, Any] = {"on": "k", "by": by, "direction": direction, "allow_exact_matches": exact}

    def ordered(table: Any) -> Any:
        return table.dropna(["k"]).sort_values("k")

    def by_polars(frame: Any) -> Any:
        left, right = (_in_order(each.drop_nulls(["k"]), ["k"]) for each in (frame, frame_of_polars(other.to_arrow())))
        if by and (left["l"].null_count() or right["l"].null_count() or left["l"].dtype.is_float()):
            return None
        both = ["l"] if by is None and "l" in left.columns else []
        left, right = (
            left.rename({each: f"{each}_x" for each in both}),
            right.rename({each: f"{each}_y" for each in both}),
        )
        return left.join_asof(
            right, on="k", by=by, strategy=direction, allow_exact_matches=exact, check_sortedness=False
        )

    return Step(
        f"merge_asof({other.to_arrow().to_pydict()}, {way})",
        lambda t, _: ordered(t).merge_asof(ordered(others[id(t.context)]), **way),
        None,
        by_polars,
    )


# ---- Columns ----


def _assigned(rng: random.Random, one: Any, _: Any) -> Step | None:
    names = _columns(one, _number)
    if not names:
        return None
    a, b = rng.choice(names), rng.choice(names)
    way = rng.choice(["times", "fillna", "plus", "where"])
    if way == "times":
        return Step(f"n = {a} * 2", lambda t, _: t.assign(n=t[a] * 2))
    if way == "fillna":
        return _new(a, lambda x: x.fillna(0), lambda x: x.fill_null(0), ".fillna(0)")
    if way == "where":
        if one.dtypes[a] != one.dtypes[b]:
            return None
        return Step(
            f"n = {a}.where({a} > {b}, {b})",
            lambda t, _: t.assign(n=t[a].where(t[a] > t[b], t[b])),
            None,
            lambda f: f.with_columns(n=pl.when(_greater(f, a, b)).then(pl.col(a)).otherwise(pl.col(b))),
        )
    alike = one.dtypes[a] == one.dtypes[b]
    return Step(
        f"n = {a} + {b}",
        lambda t, _: t.assign(n=t[a] + t[b]),
        None,
        (lambda f: f.with_columns(n=pl.col(a) + pl.col(b))) if alike else None,
    )


def _greater(frame: Any, a: str, b: str) -> Any:
    """Return where a value is greater than another, as NumPy has it; for Polars, NaN is the greatest number."""
    greater = pl.col(a) > pl.col(b)
    return greater & ~pl.col(a).is_nan() if frame.schema[a].is_float() else greater


def _sequence(rng: random.Random, one: Any, _: Any) -> Step | None:
    way = rng.choice(["shift", "cumsum", "diff", "rolling"])
    names = one.columns if way == "shift" else _columns(one, _number)
    if not names:
        return None
    name, by = rng.choice(names), rng.choice([1, -1, 2, -3, 50])
    if way == "shift":
        return _new(name, lambda x: x.shift(by), lambda x: x.shift(by), f".shift({by})")
    if way == "diff":
        wide = not pa.types.is_unsigned_integer(one.dtypes[name])  # of which Polars makes signed ones
        made = Step(f"n = {name}.diff({by})", lambda t, _: t.assign(n=t[name].diff(by)))
        return made._replace(by_polars=lambda f: f.with_columns(n=pl.col(name).diff(by))) if wide else made
    if way == "rolling":
        size, how = rng.choice([1, 2, 5]), rng.choice(["sum", "mean", "min", "max"])
        of_polars = getattr(pl.col(name).cast(pl.Float64), f"rolling_{how}")(size)
        return Step(
            f"n = {name}.rolling({size}).{how}()",
            lambda t, _: t.assign(n=getattr(t[name].rolling(size), how)()),
            None,
            lambda f: f.with_columns(n=of_polars),
        )
    of_polars = pl.col(name).cum_sum()
    return Step(
        f"n = {name}.cumsum()", lambda t, _: t.assign(n=t[name].cumsum()), None, lambda f: f.with_columns(n=of_polars)
    )


#: Calls of columns of some types, as Polars has them.
CALLS: list[tuple[Callable[[Any], bool], str, Callable[[Any], Any], Callable[[Any], Any] | None]] = [
    (_number, ".clip(0, 3)", lambda x: x.clip(0, 3), lambda x: x.clip(0, 3)),
    (_number, ".clip(x.shift(1))", lambda x: x.clip(x.shift(1)), None),
    (_number, ".isin([0, 3])", lambda x: x.isin([0, 3]), lambda x: ((x == 0) | (x == 3)).fill_null(False)),
    (_number, ".between(0, 3, 'left')", lambda x: x.between(0, 3, "left"), lambda x: x.is_between(0, 3, "left")),
    (_number, ".ffill()", lambda x: x.ffill(), lambda x: x.forward_fill()),
    (_number, ".bfill(limit=1)", lambda x: x.bfill(limit=1), lambda x: x.backward_fill(1)),
    (pa.types.is_boolean, " inverted", lambda x: ~x, lambda x: ~x),
    (pa.types.is_date, ".dt.year", lambda x: x.dt.year, lambda x: x.dt.year()),
    (pa.types.is_temporal, ".ffill()", lambda x: x.ffill(), lambda x: x.forward_fill()),
    *((pa.types.is_timestamp, f".dt.{part}", *of) for part, of in {
        "month": (lambda x: x.dt.month, lambda x: x.dt.month()),
        "hour": (lambda x: x.dt.hour, lambda x: x.dt.hour()),
        "minute": (lambda x: x.dt.minute, lambda x: x.dt.minute()),
        "dayofweek": (lambda x: x.dt.dayofweek, lambda x: x.dt.weekday() - 1),
        "dayofyear": (lambda x: x.dt.dayofyear, lambda x: x.dt.ordinal_day()),
        "quarter": (lambda x: x.dt.quarter, lambda x: x.dt.quarter()),
        "floor('h')": (lambda x: x.dt.floor("h"), lambda x: x.dt.truncate("1h")),
        "strftime('%d.%m.%Y %H:%M')": (
            lambda x: x.dt.strftime("%d.%m.%Y %H:%M"), lambda x: x.dt.strftime("%d.%m.%Y %H:%M")
        ),
    }.items()),
    *((pa.types.is_string, f".str.{name}", *of) for name, of in {
        "upper()": (lambda x: x.str.upper(), lambda x: x.str.to_uppercase()),
        "len()": (lambda x: x.str.len(), lambda x: x.str.len_chars()),
        "contains('^a')": (lambda x: x.str.contains("^a"), lambda x: x.str.contains("^a")),
        "startswith('a')": (lambda x: x.str.startswith("a"), lambda x: x.str.starts_with("a")),
        "replace('b', 'bb')": (
            lambda x: x.str.replace("b", "bb", regex=False), lambda x: x.str.replace_all("b", "bb", literal=True)
        ),
        "slice(0, 1)": (lambda x: x.str.slice(0, 1), lambda x: x.str.slice(0, 1)),
        "pad(3)": (lambda x: x.str.pad(3), lambda x: x.str.pad_start(3)),
    }.items()),
    (pa.types.is_string, " + '-' + x", lambda x: x + "-" + x, lambda x: x + "-" + x),
    (pa.types.is_string, ".isin(['a', ''])", lambda x: x.isin(["a", ""]),
     lambda x: x.is_in(["a", ""]).fill_null(False)),
    (pa.types.is_dictionary, ".isin(['a'])", lambda x: x.isin(["a"]), lambda x: x.is_in(["a"]).fill_null(False)),
    (pa.types.is_decimal, " + x", lambda x: x + x, lambda x: x + x),
    (pa.types.is_duration, " + x", lambda x: x + x, lambda x: x + x),
]  # fmt: skip


def _called(rng: random.Random, one: Any, _: Any) -> Step | None:
    name = rng.choice(one.columns)
    calls = [each for each in CALLS if each[0](one.dtypes[name])]
    if not calls:
        return None
    _, words, call, of_polars = rng.choice(calls)
    return _new(name, call, of_polars, words)


def _reduced(rng: random.Random, one: Any, _: Any) -> Step | None:
    name = rng.choice(one.columns)
    kind = one.dtypes[name]
    left_out = ("size", "first", "last", "list", "quantile(0.3)")
    how = rng.choice([each for each in _known(kind, rng) if each not in left_out])
    if not _as_polars(kind, how) or pa.types.is_nested(kind):
        return None
    return Step(
        f"{name}.{how}()",
        lambda t, _: dtl.Table(t.context, {"r": [getattr(t[name], how)()]}),
        None,
        lambda f: f.select(r=AGGREGATES[how](pl.col(name))),
    )


STEPS: list[Callable[[random.Random, Any, Any], Step | None]] = [
    _filtered, _sorted, _distinct, _part, _behind, _without_null, _largest, _saved, _grouped, _grouped, _within,
    _counted, _pivoted, _resampled, _merged, _merged, _nearest, _assigned, _sequence, _called, _called, _reduced,
]  # fmt: skip
