"""Calls with options, written alike for pandas and DTL, on random tables of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_from_pandas import plain

import dtl

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")
pd = pytest.importorskip("pandas", "3", reason="compared with pandas 3")

#: Numbers of rows of the tables.
ROWS = (0, 1, 43)

RANKS = [
    f"method={method!r}, ascending={up}, na_option={option!r}, pct={pct}"
    for number, method in enumerate(("average", "min", "max", "first", "dense"))
    for up, option, pct in ((number % 2 == 0, "top", True), (number % 2 == 1, "bottom", False), (True, "keep", True))
]

WINDOWED = ("sum", "mean", "min", "max", "count", "var", "std")

#: Calls of t, a frame or a table.
CALLS = [
    *(f"t[['x', 'y']].{name}(skipna={skipna})" for name in ("cumsum", "cummax") for skipna in (True, False)),
    *(f"t['x'].{name}(skipna=False)" for name in ("cumprod", "cummin")),
    *(f"t.groupby('k')['x'].{name}(skipna=False)" for name in ("cumsum", "cumprod", "cummin", "cummax")),
    "t.cumsum(numeric_only=True)",
    "t.groupby('k')[['x', 'y']].transform('cumsum', skipna=False)",
    *(f"t['x'].rank({options})" for options in RANKS),
    *(f"t.groupby('k')['x'].rank({options})" for options in RANKS),
    "t.rank(numeric_only=True, pct=True)",
    "t.groupby('k')['y'].transform(lambda each: (each - each.mean()) / each.std())",
    "t.groupby('k')[['x', 'y']].transform(lambda each: each.fillna(each.max()))",
    "t.groupby('k')['y'].transform(lambda each, by, more: each.max() * by + more, 2, more=3)",
    "t.groupby('k')['y'].transform('std', ddof=0)",
    "t.groupby('k')['y'].transform('quantile', 0.3)",
    "t.groupby('k')['x'].transform('shift', 2)",
    "t.groupby('k', as_index=False)[['x', 'y']].agg('std', ddof=0)",
    "t.groupby('k', as_index=False)['y'].agg('quantile', 0.3)",
    "t.groupby('k', as_index=False)['x'].agg('sum', min_count=8)",
    "t.groupby('k', as_index=False)['y'].agg(low='min', high='max')",
    *(f"t[['x', 'y']].rolling({window}).{name}()" for name in WINDOWED for window in ("3", "7, min_periods=1")),
    *(f"t['y'].expanding({least}).{name}()" for name in WINDOWED for least in ("", "3")),
    *(
        f"t.groupby('k')['y'].{windows}.{name}().droplevel(0).reindex(t.index)"
        for name in WINDOWED
        for windows in ("rolling(2)", "rolling(5, min_periods=1)", "expanding()", "expanding(4)")
    ),
    "t['y'].rolling(4).std(ddof=0)",
    "t.groupby('k')['y'].rolling(9, min_periods=2).var(ddof=0).droplevel(0).reindex(t.index)",
    "(t[['x', 'y']] - t[['x', 'y']].min()) / (t[['x', 'y']].max() - t[['x', 'y']].min())",
    "1 - t[['x', 'y']] * 2 + t[['y', 'x']][['x', 'y']]",
    "(t[['x', 'y']] >= 3) | (t[['x', 'y']] == 0)",
    "-t[['x']] // 2",
    "t.isna().sum() / (len(t) + 1)",
    "np.select([t['x'].fillna(9) < 3, t['x'].fillna(9) < 6], ['s', 'm'], default='l')",
    "np.select([t['y'].fillna(1.0) < 0.2, t['x'].fillna(9) < 6], [t['y'], t['x']], default=0.5)",
    "np.where(t['x'].fillna(9) < 3, t['x'].fillna(9), 0.5)",
    "t.sort_values(['k', 'y'], key=lambda each: each.str.len() if each.name == 'k' else -each, kind='stable')",
    "t.groupby(t['x'] // 3, as_index=False)['y'].sum()",
    "t.groupby(['k', t['x'] > 4], as_index=False)['y'].max()",
    "t.groupby('k', as_index=False)['x'].agg(len)",
    "t.groupby('k', as_index=False)['x'].agg(list)",
    "t.drop_duplicates(['k', 'x']).dropna().pivot(index='x', columns='k', values='y').reset_index()",
    "pd.to_numeric(t['k'].replace({'a': '12', 'b': '-1.5e2', 'c': ''}), errors='coerce')",
    "pd.to_numeric(t['k'].replace({'a': '12', 'b': ' 7 ', 'c': '-8'}))",
    "pd.to_datetime(t['k'].replace({'a': '02/Jan/2024:10:20:30', 'b': '', 'c': '31/Feb/2024:00:00:00'}),"
    " format='%d/%b/%Y:%H:%M:%S', errors='coerce')",
    "pd.to_datetime(t['k'].replace({'a': '2024-02-29', 'b': '2023-02-29', 'c': '1999-12-31'}), errors='coerce')",
    "pd.get_dummies(t)",
    "pd.get_dummies(t, columns=['k', 'x'], prefix=['K', 'X'], prefix_sep='-', dtype=int)",
    "pd.get_dummies(t[['k', 'y']], drop_first=True, dummy_na=True)",
    "pd.get_dummies(t['k'], dummy_na=True)",
    "pd.get_dummies(t['x'], drop_first=True)",
    "pd.get_dummies(t.assign(k=t['k'].astype('category'), y=t['x'] > 3)[['y', 'k']])",
    "t['x'].apply(lambda value, by: value + by, args=(3,))",
    "t[['x', 'y']].agg('std', ddof=0)",
    "t['y'].agg('var', ddof=0)",
]


class OfTables:
    """The functions of pandas that are methods of tables."""

    @staticmethod
    def get_dummies(t: Any, **options: Any) -> Any:
        return t.get_dummies(**options)

    @staticmethod
    def to_numeric(column: Any, **options: Any) -> Any:
        return column.to_numeric(**options)

    @staticmethod
    def to_datetime(column: Any, **options: Any) -> Any:
        return column.to_datetime(**options)


def rows(count: int) -> Any:
    draw = np.random.default_rng(count)
    return pa.table({
        "k": pa.array(draw.choice(["a", "b", "c", None], count), pa.string()),
        "x": pa.array(draw.integers(0, 9, count), mask=draw.random(count) < 0.2),
        "y": pa.array(draw.random(count).round(1), mask=draw.random(count) < 0.1),
    })  # fmt: skip


def alike(one: Any, other: Any) -> bool:
    """Say whether lists are, in which numbers may be rounded otherwise, and no number is null."""
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    nothing = [bool(pd.isna(each)) for each in (one, other)]
    if any(nothing):
        return nothing[0] == nothing[1]
    return bool(one == (pytest.approx(other) if isinstance(other, float) else other))


@pytest.mark.parametrize("call", CALLS)
def test_call(ctx: dtl.Context, call: str) -> None:
    # what says of pandas only that keys are columns, and rows in their order, as they always are here
    ours = call
    for words in (", as_index=False", ".reset_index()", ", kind='stable'"):
        ours = ours.replace(words, "")
    ours = ours.replace(".droplevel(0).reindex(t.index)", "")
    for count in ROWS:
        whole = rows(count)
        frame = whole.to_pandas(types_mapper=pd.ArrowDtype)
        ours_made = {"t": dtl.Table(ctx, whole), "pd": OfTables, "np": np}
        if count == 0 and "lambda" in call:  # of which pandas raises
            found = plain(ctx, eval(ours, ours_made))
            assert len(found) == 0 or set(map(len, found.values())) == {0}
            continue
        wanted = eval(call, {"t": frame, "pd": pd, "np": np})
        if isinstance(wanted, pd.DataFrame) and not len(wanted.columns):
            with pytest.raises(dtl.InvalidArgumentError, match="no column"):
                eval(ours, ours_made)
            continue
        if "dummy_na" in call:  # of null, which pandas calls as its type does
            wanted.columns = [str(name).replace("<NA>", "nan") for name in wanted.columns]
        found = plain(ctx, eval(ours, ours_made))
        wanted = plain(ctx, wanted.to_dict() if isinstance(wanted, pd.Series) and "y" in wanted else wanted)
        if isinstance(wanted, dict):
            assert list(found) == list(wanted)
            found, wanted = list(found.values()), list(wanted.values())
        assert alike(found, wanted), (count, found, wanted)


def test_texts_that_are_read_wrong(ctx: dtl.Context) -> None:
    texts = dtl.Table(ctx, {"x": ["1", "one", None]})["x"]
    for call in (texts.to_numeric, texts.to_datetime, lambda: texts.to_datetime("%d")):
        with pytest.raises(dtl.InvalidArgumentError, match=r"the column 'x' has '(one|1)'"):
            call()
    with pytest.raises(dtl.InvalidArgumentError, match="errors must be one of"):
        texts.to_numeric(errors="ignore")
    with pytest.raises(dtl.InvalidTypeError, match="is not of text"):
        dtl.Table(ctx, {"x": np.array(["2024-01-01"], "M8[s]")})["x"].to_numeric()


def test_values_of_a_function_that_are_too_many(ctx: dtl.Context) -> None:
    groups = dtl.Table(ctx, {"k": [1, 2, 1], "x": [1.0, 2.0, 3.0]}).group_by("k")
    with pytest.raises(dtl.InvalidTypeError, match=r"returns 4 values for a group of \d rows"):
        groups["x"].transform(lambda each: [1, 2, 3, 4])
