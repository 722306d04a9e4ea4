"""Chains of calls of tables, drawn at random: on several ranks as on one, and as pandas has them.

Each step is made of a table that is divided among the ranks in a drawn way, and of the same table on one rank, which
every rank makes by itself. Where pandas has the call, it is made of a frame of the rows before, too.
"""

from __future__ import annotations

import datetime
import decimal
import math
import os
import random
import sys
from typing import Any, Callable, NamedTuple

import pandas as pd
import pyarrow as pa
import rank
from jobs import drawn

import dtl

CASES = 100_000

#: The most that a trial takes.
SECONDS = 25.0

NAN = float("nan")
NOON = datetime.datetime(2024, 2, 29, 12)
CATEGORY = pa.dictionary(pa.int32(), pa.string())

#: Values of each type, of which tables are made.
VALUES: dict[Any, list[Any]] = {
    pa.int64(): [3, 1, None, -2, 2**40, 7],
    pa.int8(): [-128, 127, 0, None, 1],
    pa.float64(): [1.5, None, 0.25, -0.0, 0.0, -2.25, NAN],
    pa.bool_(): [True, False, None],
    pa.string(): ["b", "", None, "a", "\u00e9", "ab"],
    CATEGORY: ["b", "a", None, "c"],
    pa.date32(): [datetime.date(2020, 2, 29), datetime.date(1969, 1, 1), None],
    pa.timestamp("us"): [NOON + datetime.timedelta(hours=hours) for hours in (0, 1, 1.5, 49, -30)],
    pa.timestamp("ms", "Europe/Berlin"): [
        datetime.datetime(2024, 3, 31, hour, 30, tzinfo=datetime.timezone.utc) for hours in [0] for hour in (0, 1, 2)
    ],
    pa.decimal128(12, 2): [decimal.Decimal("1.50"), decimal.Decimal("-3.25"), None],
}

#: The names of columns, of which each table has some; k and l are those that tables are merged by.
NAMES = "klxyz"

AGGREGATES = ("sum", "mean", "min", "max", "count", "size", "median", "nunique", "first", "last", "var", "list")


class Step(NamedTuple):
    """A call of a drawn chain.

    Parameters
    ----------
    words
        What it is, for reports.
    made
        What makes the table that comes next, of a table and of the folder for files.
    by_pandas
        The same of a frame; None where pandas has no such call.
    """

    words: str
    made: Callable[[Any, str], Any]
    by_pandas: Callable[[Any], Any] | None = None


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job of many chains, and return what it was and what went wrong."""
    return drawn("chains", "chains of calls of tables", CASES, seed, python, seconds)


def main() -> None:
    """Make the chains of a seed from one number on: the program of a rank."""
    seed, number = int(sys.argv[1]), int(sys.argv[2])
    with dtl.Context() as ctx, ctx.split(ctx.rank) as alone:
        log = rank.Log(ctx)
        for case in range(number, CASES):
            log.begin(case, f"chain {case} of seed {seed}")
            chain(ctx, alone, random.Random(f"{seed} {case}"), f"chain {case} of seed {seed}", log)
        log.begin(CASES, "the end")


def chain(ctx: dtl.Context, alone: dtl.Context, rng: random.Random, name: str, log: rank.Log) -> None:
    """Make a drawn table, and one call after the other of it."""
    kinds = {each: rng.choice(list(VALUES)) for each in NAMES}
    seeds = rng.random(), rng.random()
    table, one = (made_of(each, random.Random(seeds[0]), kinds) for each in (ctx, alone))
    keys = {"k": kinds["k"], "l": kinds["l"], "w": pa.int64()}
    others = {id(each): made_of(each, random.Random(seeds[1]), keys) for each in (ctx, alone)}
    done: list[str] = [f"{one.to_arrow().to_pydict()} of {one.dtypes}"]
    for _ in range(rng.choice([1, 2, 4, 6])):
        step = rng.choice(STEPS)(rng, one, others)
        if step is None:
            continue
        done.append(step.words)
        log.at(f"{name}: {done[-1]}")
        before = one
        table, failed = _tried(step, table, rank.FOLDER / "of-all")
        one, alone_failed = _tried(step, one, rank.FOLDER / f"of-{ctx.rank}")
        if (failed, alone_failed) != (None, None):
            if failed != alone_failed:
                log.found(f"{name}: {failed} on {ctx.size} ranks, {alone_failed} on one: {done}")
            return
        wrong = _unlike(table, one) or _unlike_pandas(step, before, one)
        if wrong:
            log.found(f"{name}: {wrong} after {done}")
            return


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


def _tried(step: Step, table: Any, folder: Any) -> tuple[Any, str | None]:
    """Return what a step makes, or the class and text of what it raises."""
    try:
        return step.made(table, str(folder)), None
    except dtl.DTLError as error:
        return None, f"{type(error).__name__} ({error.cause if hasattr(error, 'cause') else error})"


def _unlike(table: Any, one: Any) -> str | None:
    """Return how the rows of all ranks differ from those of one; None if they do not."""
    if not isinstance(table, dtl.Table):
        return None if same(table, one) else f"{table!r} on all ranks, {one!r} on one"
    rows = dtl.broadcast_object(table.context, table.to_arrow())
    return _different(rows, one.to_arrow(), "on all ranks", "on one", schema=True)


def _unlike_pandas(step: Step, before: Any, one: Any) -> str | None:
    """Return how the rows differ from those of pandas; None if they do not, or if pandas has no such call."""
    if step.by_pandas is None or any(map(_has_odd_floats, before.to_arrow().columns)):
        return None
    frame = before.to_arrow().to_pandas(types_mapper=_pandas_type)
    try:
        made = step.by_pandas(frame)
        rows = pa.Table.from_pandas(made, preserve_index=False) if isinstance(made, pd.DataFrame) else made
    except (NotImplementedError, TypeError, ValueError, AttributeError, pa.ArrowException):
        return None  # pandas does not have the call for such types
    if not isinstance(one, dtl.Table):
        return None if same(rows, one) else f"{rows!r} by pandas, {one!r} by DTL"
    return _different(rows, one.to_arrow(), "by pandas", "by DTL", schema=False)


def _pandas_type(kind: Any) -> Any:
    return None if pa.types.is_dictionary(kind) else pd.ArrowDtype(kind)


def _has_odd_floats(column: Any) -> bool:
    """Say whether a column has NaN, which pandas has take turns with null, or -0.0, which it tells from 0.0."""
    return pa.types.is_floating(column.type) and any(
        math.isnan(value) or (value == 0 and math.copysign(1, value) < 0) for value in column.drop_null().to_pylist()
    )


def _different(left: Any, right: Any, of_left: str, of_right: str, schema: bool) -> str | None:
    if left.column_names != right.column_names:
        return f"columns {left.column_names} {of_left}, {right.column_names} {of_right}"
    if schema and left.schema.types != right.schema.types:
        return f"types {left.schema.types} {of_left}, {right.schema.types} {of_right}"
    for name in left.column_names:
        values, others = left[name].to_pylist(), right[name].to_pylist()
        if not same(values, others):
            return f"{name!r} is {values} {of_left}, {others} {of_right}"
    return None


def same(one: Any, other: Any) -> bool:
    """Say whether two values are equal, floats but for rounding."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if one is None or other is None or one is pd.NA or other is pd.NA:
        return (one is None or one is pd.NA) == (other is None or other is pd.NA)
    if isinstance(one, float) or isinstance(other, float):
        one, other = float(one), float(other)
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(one) and math.isnan(other))
    return bool(one == other)


# ---- Steps ----


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


def _filtered(rng: random.Random, one: Any, _: Any) -> Step | None:
    name = rng.choice(one.columns)
    way = rng.choice(["isna", "notna", "value", "less"])
    if way in ("isna", "notna"):
        return Step(f"[{name}.{way}()]", lambda t, _: t[getattr(t[name], way)()], lambda f: f[getattr(f[name], way)()])
    values = [value for value in one[[name]].to_arrow()[name].to_pylist() if value is not None]
    if not values or isinstance(values[0], bool) or name not in _keys(one):
        return None
    value = rng.choice(values)
    if way == "value" or isinstance(value, str):
        return Step(f"[{name} == {value!r}]", lambda t, _: t[t[name] == value], lambda f: f[f[name] == value])
    return Step(f"[{name} < {value!r}]", lambda t, _: t[t[name] < value], lambda f: f[f[name] < value])


def _assigned(rng: random.Random, one: Any, _: Any) -> Step | None:
    names = _columns(one, _number)
    if not names:
        return None
    a, b = rng.choice(names), rng.choice(names)
    way = rng.choice(["times", "fillna", "plus"])
    if way == "times":
        return Step(f"n = {a} * 2", lambda t, _: t.assign(n=t[a] * 2), None)
    if way == "fillna":
        return Step(f"n = {a}.fillna(0)", lambda t, _: t.assign(n=t[a].fillna(0)), lambda f: f.assign(n=f[a].fillna(0)))
    return Step(f"n = {a} + {b}", lambda t, _: t.assign(n=t[a] + t[b]), None)


def _grouped(rng: random.Random, one: Any, _: Any) -> Step | None:
    keys = _chosen(rng, _keys(one))
    rest = [name for name in one.columns if name not in keys]
    if not keys or not rest:
        return None
    named = {f"r{place}": (rng.choice(rest), rng.choice(AGGREGATES)) for place in range(rng.choice([1, 3]))}
    dropna = rng.random() < 0.5
    plain = all(how not in ("size", "list", "first", "last", "nunique") for _, how in named.values())
    # Means of decimals are decimals in pandas, rounded to their places.
    plain = plain and not any(pa.types.is_decimal(one.dtypes[name]) for name, _ in named.values())

    def by_pandas(frame: Any) -> Any:
        return frame.groupby(keys, as_index=False, dropna=dropna, observed=True).agg(**named)

    keyed = not any(pa.types.is_dictionary(one.dtypes[key]) for key in keys)
    return Step(
        f"group_by({keys}, dropna={dropna}).agg({named})",
        lambda t, _: t.group_by(keys, dropna=dropna).agg(**named),
        by_pandas if plain and keyed else None,
    )


def _merged(rng: random.Random, one: Any, others: Any) -> Step | None:
    keys = [name for name in ("k", "l") if name in one.columns]
    if not keys or "w" in one.columns:
        return None
    keys = _chosen(rng, keys)
    if any(others[id(one.context)].dtypes[key] != one.dtypes[key] for key in keys):
        return None
    how = rng.choice(["inner", "left", "right", "outer", "semi", "anti"])
    if how in ("inner", "left") and not any(pa.types.is_dictionary(one.dtypes[key]) for key in keys):
        right = others[id(one.context)].to_arrow().to_pandas(types_mapper=_pandas_type)
        by_pandas = lambda f: f.merge(right, on=keys, how=how)  # noqa: E731 - a step's
    else:
        by_pandas = None
    return Step(
        f"merge({others[id(one.context)].to_arrow().to_pydict()}, {how!r}, {keys})",
        lambda t, _: t.merge(others[id(t.context)], how=how, on=keys),
        by_pandas,
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
    )


def _distinct(rng: random.Random, one: Any, _: Any) -> Step | None:
    subset = _chosen(rng, _keys(one))
    keep: Any = rng.choice(["first", "last", False])
    if not subset:
        return None
    return Step(
        f"drop_duplicates({subset}, keep={keep!r})",
        lambda t, _: t.drop_duplicates(subset, keep=keep),
        lambda f: f.drop_duplicates(subset, keep=keep),
    )


def _sequence(rng: random.Random, one: Any, _: Any) -> Step | None:
    way = rng.choice(["shift", "cumsum", "diff", "rolling"])
    names = one.columns if way == "shift" else _columns(one, _number)
    if not names:
        return None
    name, by = rng.choice(names), rng.choice([1, -1, 2, -3, 50])
    if way == "shift":
        return Step(
            f"n = {name}.shift({by})",
            lambda t, _: t.assign(n=t[name].shift(by)),
            lambda f: f.assign(n=f[name].shift(by)),
        )
    if way == "diff":
        return Step(f"n = {name}.diff({by})", lambda t, _: t.assign(n=t[name].diff(by)), None)
    if way == "rolling":
        size, how = rng.choice([1, 2, 5]), rng.choice(["sum", "mean", "min", "max"])
        return Step(
            f"n = {name}.rolling({size}).{how}()", lambda t, _: t.assign(n=getattr(t[name].rolling(size), how)()), None
        )
    return Step(f"n = {name}.cumsum()", lambda t, _: t.assign(n=t[name].cumsum()), None)


def _within(rng: random.Random, one: Any, _: Any) -> Step | None:
    keys, names = _chosen(rng, _keys(one)), _columns(one, _number)
    names = [name for name in names if name not in keys]
    if not keys or not names:
        return None
    names = [name for name in names if name in _keys(one)]
    if not names:
        return None
    name, way = rng.choice(names), rng.choice(["cumsum", "rank", "shift", "cumcount", "transform"])
    words = ("mean",) if way == "transform" else ()
    dropna = rng.random() < 0.5
    return Step(
        f"n = group_by({keys}, dropna={dropna})[{name!r}].{way}{words}",
        lambda t, _: t.assign(n=getattr(t.group_by(keys, dropna=dropna)[name], way)(*words)),
    )


def _part(rng: random.Random, one: Any, _: Any) -> Step | None:
    count = len(one)
    begin, end, step = rng.randint(-count - 1, count + 1), rng.randint(-count - 1, count + 1), rng.choice([1, 1, 2, -1])
    if step < 0:
        return Step(f"head({begin})", lambda t, _: t.head(begin), lambda f: f.head(begin))
    return Step(f"[{begin}:{end}:{step}]", lambda t, _: t[begin:end:step], lambda f: f[begin:end:step])


def _resampled(rng: random.Random, one: Any, _: Any) -> Step | None:
    times = _columns(one, pa.types.is_timestamp)
    rest = [name for name in one.columns if name not in times]
    if not times or not rest:
        return None
    time, rule = rng.choice(times), rng.choice(["1h", "2h", "1d"])
    named = {"r": (rng.choice(rest), rng.choice(["count", "first", "last", "size", "max"]))}
    return Step(f"resample({rule!r}, on={time!r}).agg({named})", lambda t, _: t.resample(rule, on=time).agg(**named))


def _behind(rng: random.Random, one: Any, _: Any) -> Step | None:
    if len(one) > 200:
        return None
    return Step("concat(itself)", lambda t, _: t.concat(t), lambda f: pd.concat([f, f]))


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

    return Step(f"save and load of {suffix}", made, lambda f: f)


def _counted(rng: random.Random, one: Any, _: Any) -> Step | None:
    names = _chosen(rng, [name for name in _keys(one) if name != "count"])
    if not names or "count" in names:
        return None
    return Step(f"value_counts({names})", lambda t, _: t.value_counts(names))


def _without_null(rng: random.Random, one: Any, _: Any) -> Step | None:
    names, how = _chosen(rng, one.columns), rng.choice(["any", "all"])
    return Step(
        f"dropna({names}, how={how!r})",
        lambda t, _: t.dropna(names, how=how),
        lambda f: f.dropna(subset=names, how=how),
    )


def _largest(rng: random.Random, one: Any, _: Any) -> Step | None:
    names = [name for name in _columns(one, _number) if name in _keys(one)]
    if not names:
        return None
    name, n, way = rng.choice(names), rng.choice([0, 1, 3, 100]), rng.choice(["nlargest", "nsmallest"])
    return Step(f"{way}({n}, {name!r})", lambda t, _: getattr(t, way)(n, name))


STEPS: list[Callable[[random.Random, Any, Any], Step | None]] = [
    _filtered, _assigned, _grouped, _grouped, _merged, _merged, _sorted, _distinct, _sequence, _within, _part,
    _resampled, _behind, _saved, _counted, _without_null, _largest,
]  # fmt: skip

if __name__ == "__main__":
    main()
