"""What is made of each value of columns that are larger than the limit of memory: beside the same calls in memory."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
from test_table_files import same

import dtl
from dtl.tables import on_disk

pa = pytest.importorskip("pyarrow", "14", reason="tables are pyarrow's")


def words_and_numbers(rank: int, rows: int) -> Any:
    """Return rows of which whole pieces are null, or of one value, and others are not."""
    chance, place = np.random.default_rng(rank), np.arange(rows)
    floats = np.where(place % 11 == 0, np.nan, chance.integers(-40, 40, rows) / 4)
    floats[place % 13 == 0] *= -0.0
    some = (place // 300 % 3 == 1) | (chance.random(rows) < 0.3)
    words = pa.array(chance.choice(["a", "b", f"c{rank}"], rows), mask=some)
    return pa.table(
        {
            "x": pa.array(floats, mask=(place % 1000 < 400) | (place > 1900)),
            "n": pa.array(chance.integers(-(2**40), 2**40, rows), mask=some),
            "one": pa.array(np.full(rows, 7, np.int16), mask=place % 1000 < 400),
            "flag": pa.array(chance.random(rows) < 0.5, mask=some),
            "day": pa.array(chance.integers(0, 30, rows).astype(np.int32), mask=some).view(pa.date32()),
            "word": words,
            "kind": words.dictionary_encode(),
            "none": pa.nulls(rows, pa.float64()),
        }
    )


def test_ranks_and_fills_of_more_rows_than_memory(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value is carried over pieces and ranks of nulls, and equal values of several pieces have one rank."""
    with dtl.Context(scratch=folder) as disk:
        count = 2000 + 7 * disk.rank if disk.size < 3 or disk.rank != 1 else 0
        table = dtl.from_arrow(disk, words_and_numbers(disk.rank, count))
        few = table[["x", "one", "word"]]
        calls: Any = {
            "ffill": table.ffill,
            "bfill": table.bfill,
            "ffill of some": lambda: table.ffill(250),
            "interpolate": table[["x", "n", "none"]].interpolate,
            **{
                f"{method} {up} {nulls}": lambda method=method, up=up, nulls=nulls: few.rank(
                    method=method, ascending=up, na_option=nulls, pct=not up
                )
                for method in ("average", "min", "max", "dense", "first")
                for up, nulls in ((True, "keep"), (False, "top"))
            },
            "last": lambda: table[["kind", "flag", "n"]].rank(na_option="bottom"),
        }
        for name, call in calls.items():
            monkeypatch.setattr(on_disk.library, "memory_limit", lambda: 1 << 20)
            found = call()
            monkeypatch.setattr(on_disk.library, "memory_limit", lambda: 0)
            wanted = call()
            assert found.rows.counts == wanted.rows.counts, name
            one, other = (dtl.broadcast_object(disk, each.to_arrow()) for each in (found, wanted))
            assert same(one, other), name


@pytest.mark.parametrize("limit", [0, 64_000])
def test_types_of_results_do_not_depend_on_pieces(folder: str, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Nor do they of some thousand values that Python has at a time."""
    monkeypatch.setattr(on_disk.library, "memory_limit", lambda: limit)
    utc, count = datetime.timezone.utc, 3000 if limit else 10_000
    with dtl.Context(scratch=folder) as disk:
        column = dtl.Table(disk, {"k": np.arange(count)})["k"]
        for f, kind in [
            (lambda k: 5 if k < 2000 else 2**63 + k, pa.uint64()),
            (lambda k: 2**63 + k if k < 2000 else 5, pa.uint64()),
            (lambda k: datetime.datetime(2000, 1, 1, tzinfo=utc if k < 2000 else None), pa.timestamp("us", "UTC")),
            (lambda k: None if k < 2000 else f"{k}", pa.string()),
            (lambda k: k if k < 2000 else k / 2, pa.float64()),
        ]:
            made = column.map(f)
            assert made.rows.schema.types == [kind]
            whole = dtl.broadcast_object(disk, made.to_arrow())
            assert whole.cast(kind).to_pylist()[-1] == pa.scalar(f(count - 1), kind).as_py()


def test_rows_by_number_take_one_pass(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with dtl.Context(scratch=folder) as disk:
        path, passes = f"{folder}/rows.parquet", []
        dtl.Table(disk, {"k": np.arange(60_000), "x": np.arange(60_000) / 2}).save(path)
        table = dtl.read_parquet(disk, path, placement="disk")
        monkeypatch.setattr(on_disk.library, "memory_limit", lambda: 1 << 20)
        in_pieces = on_disk.PendingRows._in_pieces
        monkeypatch.setattr(on_disk.PendingRows, "_in_pieces", lambda rows, n: passes.append(n) or in_pieces(rows, n))
        made = table.iloc[[5, 0, 59_999, 5]]
        assert dtl.broadcast_object(disk, made.to_arrow())["k"].to_pylist() == [5, 0, 59_999, 5]
        assert len(passes) == 1


def test_how_columns_vary_together_and_rows_by_number(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of pieces are those of all rows, but for their last bits."""
    with dtl.Context(scratch=folder) as disk:
        count = 2000 + 7 * disk.rank if disk.size < 3 or disk.rank != 1 else 0
        some = words_and_numbers(disk.rank, count).select(["x", "n", "one", "word"])
        table = dtl.from_arrow(disk, some.set_column(0, "x", pa.array(np.arange(count) % 77 / 4)))
        places = [-1, 5, 1999, 5, 0, 300]
        found, wanted = [], []
        for limit, made in ((256 << 10, found), (0, wanted)):
            monkeypatch.setattr(on_disk.library, "memory_limit", lambda limit=limit: limit)
            calls = table.corr(), table[["x", "n"]].cov(), table.iloc[places]
            made += [dtl.broadcast_object(disk, each.to_arrow()) for each in calls]
        assert same(found[2], wanted[2])
        for one, other in zip(found[:2], wanted[:2]):
            for name in other.column_names[1:]:
                assert one[name].is_null().equals(other[name].is_null())
                np.testing.assert_allclose(one[name].fill_null(0), other[name].fill_null(0), rtol=1e-9)
