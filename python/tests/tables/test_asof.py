"""Rows with the nearest row of another table, compared with pandas, and with a loop where pandas has no such types."""

from __future__ import annotations

import datetime
import fractions
from typing import Any, Iterator

import hypothesis
import numpy as np
import pytest
from grouped_rows import plain
from hypothesis import strategies as st
from random_tables import compare, ends_of, table_of

import dtl
from dtl.tables import asof, by_row_numbers, dividing

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")

#: Values of the key, in order, and a distance of them.
KEYS: dict[Any, tuple[list[Any], Any]] = {
    pa.int64(): ([-(2**63), -5, 0, 1, 2, 7, 2**63 - 1], 4),
    pa.uint64(): ([0, 3, 4, 2**63, 2**64 - 1], 3),
    pa.int8(): ([-128, -1, 0, 1, 127], 2),
    pa.float64(): ([-np.inf, -2.5, -0.0, 0.0, 1.5, 3.0, np.inf], 1.5),
    pa.timestamp("us", "Europe/Berlin"): (
        [datetime.datetime(2024, 3, 31, hour, tzinfo=datetime.timezone.utc) for hour in (0, 1, 2, 3, 5, 9)],
        datetime.timedelta(hours=2),
    ),
    pa.date32(): ([datetime.date(2020, 2, day) for day in (1, 2, 3, 9, 29)], np.timedelta64(36, "h")),
    pa.duration("ms"): ([datetime.timedelta(seconds=second) for second in (-9, 0, 1, 2, 5)], datetime.timedelta(0, 1)),
}

BY: dict[Any, list[Any]] = {
    pa.string(): ["a", "b", "c", None],
    pa.dictionary(pa.int32(), pa.string()): ["a", "b", None],
    pa.float64(): [0.0, -0.0, float("nan"), None],
}


@pytest.fixture(autouse=True, scope="module", params=["whole", "in pieces", "by ranges"])
def size(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have calls look at all rows of the left table at once, at two, or at those of ranges of what has to be equal."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "whole":
            patch.setattr(asof, "piece_rows", lambda rows, arrays: 2)
        if request.param == "by ranges":
            patch.setattr(asof, "is_larger", lambda rows: True)
            for module in (dividing, by_row_numbers):
                patch.setattr(module, "piece_rows", lambda rows, arrays=0: 5)
        yield


@st.composite
def two_tables(draw: Any) -> Any:
    """Draw the rows of two tables in the order of a key, their types, and where the rows of each rank end."""
    kind = draw(st.sampled_from(list(KEYS)))
    groups = draw(st.sampled_from(list(BY)))
    tables = []
    for more in ("x", "y"):
        count = draw(st.integers(0, 12))
        keys = sorted(draw(st.lists(st.sampled_from(KEYS[kind][0]), min_size=count, max_size=count)))
        by = draw(st.lists(st.sampled_from(BY[groups]), min_size=count, max_size=count))
        rows = [{"at": at, "by": group, more: number} for number, (at, group) in enumerate(zip(keys, by))]
        cuts = sorted(draw(st.lists(st.integers(0, count), min_size=3, max_size=3)))
        tables.append((rows, pa.schema([("at", kind), ("by", groups), (more, pa.int64())]), cuts))
    return kind, tables


def nearest(left: list[Any], right: list[Any], by: bool, direction: str, exact: bool, most: Any) -> list[Any]:
    """Return y of the row of right that is the nearest to each row of left."""

    def distance(one: Any, other: Any) -> Any:
        return (
            0 * (one - other)
            if one == other and not isinstance(one, float)
            else 0.0
            if one == other
            else abs(one - other)
        )

    found = []
    for row in left:
        there = [each for each in right if not by or plain(each["by"]) == plain(row["by"])]
        if not exact:
            there = [each for each in there if each["at"] != row["at"]]
        if most is not None:
            there = [each for each in there if distance(row["at"], each["at"]) <= most]
        before = [each for each in there if each["at"] <= row["at"]][-1:] if direction != "forward" else []
        behind = [each for each in there if each["at"] >= row["at"]][:1] if direction != "backward" else []
        both = sorted(before + behind, key=lambda each: distance(row["at"], each["at"]))
        found.append(both[0]["y"] if both else None)
    return found


@hypothesis.settings(max_examples=20)
@hypothesis.given(
    case=two_tables(),
    by=st.booleans(),
    direction=st.sampled_from(["backward", "forward", "nearest"]),
    exact=st.booleans(),
    within=st.booleans(),
)
def test_random_tables(ctx: dtl.Context, case: Any, by: bool, direction: str, exact: bool, within: bool) -> None:
    kind, [(left, kinds, cuts), (right, others, more_cuts)] = case
    tolerance = KEYS[kind][1] if within else None
    one = table_of(ctx, left, kinds, ends_of(ctx, left, cuts))
    other = table_of(ctx, right, others, ends_of(ctx, right, more_cuts))[["at", "by", "y"] if by else ["at", "y"]]
    made = one.merge_asof(
        other,
        on="at",
        by="by" if by else None,
        direction=direction,
        allow_exact_matches=exact,
        tolerance=tolerance,
    )
    assert made.columns == ["at", "by", "x", "y"]
    assert made.rows.counts == one.rows.counts
    most = tolerance.astype("m8[D]").item() if isinstance(tolerance, np.timedelta64) else tolerance
    want = nearest(left, right, by, direction, exact, most)
    compare(ctx, made[["x", "y"]], [[row["x"], y] for row, y in zip(left, want)])


#: Integers of 64 bits, and numbers of another type between them, of which no type of 64 bits holds both.
BESIDE: list[tuple[Any, list[int], Any, list[Any], Any]] = [
    (pa.int64(), [-(2**63), -9, 2**53, 2**53 + 1, 2**53 + 3, 2**63 - 1], pa.float64(),
     [-(2.0**63), -9.5, 2.0**53, 2.0**53 + 2, 2.0**63], 1.0),
    (pa.uint64(), [0, 2**53 + 1, 2**64 - 1], pa.float32(), [-1.0, 2.0**53, 2.0**64], 1.0),
    (pa.int64(), [-(2**63), -1, 0, 2**63 - 1], pa.uint64(), [0, 1, 2**63 - 1, 2**63, 2**64 - 1], 1),
]  # fmt: skip


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("number", range(len(BESIDE)))
def test_types_are_compared_by_value(ctx: dtl.Context, number: int, turned: bool, direction: str) -> None:
    kind, values, other, others, within = BESIDE[number]
    sides = [(kind, values), (other, others)][:: -1 if turned else 1]
    left, right = (
        [{"at": each, "by": each, "exact": fractions.Fraction(each), "y": row} for row, each in enumerate(at)]
        for _, at in sides
    )
    one, two = (
        dtl.Table(ctx, {"at": pa.array(at, of), "by": pa.array(at, of), "y": np.arange(len(at))}) for of, at in sides
    )
    for tolerance in (None, within):
        wanted = []
        for row in left:
            there = [{**each, "at": each["exact"]} for each in right]
            wanted += nearest([{**row, "at": row["exact"]}], there, False, direction, True, tolerance)
        made = one[["at"]].merge_asof(two[["at", "y"]], on="at", direction=direction, tolerance=tolerance)
        compare(ctx, made[["at", "y"]], [[row["at"], y] for row, y in zip(left, wanted)])
    same = [next((each["y"] for each in right if each["exact"] == row["exact"]), None) for row in left]
    made = one[["at", "by"]].merge_asof(two, on="at", by="by", direction=direction)
    compare(ctx, made[["at", "y"]], [[row["at"], y] for row, y in zip(left, same)])


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
def test_pandas(ctx: dtl.Context, direction: str) -> None:
    pd = pytest.importorskip("pandas", "2", reason="merges as pandas does")
    rng = np.random.default_rng(3)
    times = [np.datetime64("2024-01-01", "ns") + np.sort(rng.integers(0, 10**6, count)) for count in (300, 400)]
    left = pd.DataFrame({"t": times[0], "k": rng.integers(0, 5, 300), "j": rng.choice(["a", "b"], 300), "v": 1.5})
    right = pd.DataFrame(
        {"u": times[1], "k": rng.integers(0, 6, 400), "j": rng.choice(["b", "a"], 400), "v": rng.random(400)}
    )
    arguments = {
        "left_on": "t",
        "right_on": "u",
        "by": ["k", "j"],
        "direction": direction,
        "tolerance": pd.Timedelta(5000, "ns"),
        "suffixes": ("", "_right"),
    }
    made = dtl.Table(ctx, left).merge_asof(dtl.Table(ctx, right), **arguments)
    want = pd.merge_asof(left, right, **arguments)
    assert made.columns == list(want.columns)
    whole = dtl.broadcast_object(ctx, made.to_arrow())
    for name in want.columns:
        assert whole[name].to_pylist() == pa.array(want[name], from_pandas=True).to_pylist()


BAD: dict[str, tuple[type[Exception], str, dict[str, Any]]] = {
    "left not sorted": (
        dtl.InvalidArgumentError,
        "left table is not sorted by 'down': the key of row 1 is less",
        {"left_on": "down", "right_on": "n"},
    ),
    "right not sorted": (
        dtl.InvalidArgumentError,
        "right table is not sorted by 'late': .* row 5 .* row 4",
        {"left_on": "n", "right_on": "late"},
    ),
    "null": (dtl.InvalidArgumentError, "key 'null' of the left table is null", {"left_on": "null", "right_on": "n"}),
    "NaN": (dtl.InvalidArgumentError, "key of row 5 of the right table is NaN", {"left_on": "f", "right_on": "nan"}),
    "no key": (dtl.InvalidArgumentError, "on is missing", {}),
    "two keys": (dtl.InvalidArgumentError, "on names 2 columns", {"on": ["n", "f"]}),
    "text": (dtl.InvalidTypeError, "'text' of string has no distances", {"on": "text"}),
    "two types": (dtl.InvalidTypeError, "are not compared", {"left_on": "n", "right_on": "time"}),
    "two zones": (dtl.InvalidTypeError, "are not compared", {"left_on": "time", "right_on": "zoned"}),
    "direction": (
        dtl.InvalidArgumentError,
        "direction must be one of backward, forward, nearest, not 'up'",
        {"on": "n", "direction": "up"},
    ),
    "tolerance": (dtl.InvalidTypeError, "tolerance must be an integer", {"on": "n", "tolerance": 1.5}),
    "tolerance of time": (dtl.InvalidTypeError, "tolerance must be a span of time", {"on": "time", "tolerance": 2}),
    "negative": (dtl.BoundsError, "tolerance -1 is negative", {"on": "n", "tolerance": -1}),
    "no such group": (dtl.KeyNotFoundError, "no column 'z'", {"on": "n", "by": "z"}),
    "half a group": (dtl.InvalidArgumentError, "right_by is missing", {"on": "n", "left_by": "f"}),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(ctx: dtl.Context, case: str) -> None:
    error, text, arguments = BAD[case]
    n = np.arange(6)
    table = dtl.Table(ctx, {
        "n": n, "f": n * 0.5, "down": n[::-1].copy(), "late": [0, 1, 2, 3, 4, 3], "text": "a",
        "time": n.astype("M8[s]"),
        "null": pa.array([0, 1, 2, 3, 4, None]), "nan": [0.0, 1, 2, 3, 4, np.nan],
        "zoned": pa.array(n, pa.timestamp("s", "UTC")),
    })  # fmt: skip
    with pytest.raises(error, match=text):
        table.merge_asof(table, **arguments)
    assert len(table.merge_asof(table, on="n")) == 6
