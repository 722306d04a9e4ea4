"""The bar of calls that read and write files."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from divisions import vector

import dtl
from dtl.io import files, progress

tqdm = pytest.importorskip("tqdm", reason="needs tqdm; runs where the extra progress is")

FORMATS = ("npy", "npz", "h5", "zarr", "parquet", "arrow", "csv")


class Bar(tqdm.tqdm):  # type: ignore[misc]
    """A bar that keeps how far it came."""

    steps = 0
    made: list[Any] = []  # noqa: RUF012 - emptied by each test

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        Bar.made.append([self.desc, self.n, self.total])

    def update(self, n: Any = 1) -> Any:
        done = super().update(n)
        Bar.made[-1][1:] = [self.n, self.total]
        Bar.steps += 1
        return done


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    Bar.made.clear()
    Bar.steps = 0
    monkeypatch.setattr(progress, "_AFTER", 0.0)
    monkeypatch.setattr(files, "STEP", 256)
    monkeypatch.setattr(tqdm, "tqdm", Bar)


@pytest.mark.parametrize("division", ["block", "cyclic"])
@pytest.mark.parametrize("suffix", FORMATS)
def test_it_comes_to_its_end_on_the_first_rank(ctx: dtl.Context, folder: str, suffix: str, division: str) -> None:
    for package in {"h5": ["h5py"], "zarr": ["zarr"], "npy": [], "npz": []}.get(suffix, ["pyarrow"]):
        pytest.importorskip(package, reason=f"needs {package}; runs where the extra io is")
    path = f"{folder}/a.{suffix}"
    with vector(ctx, np.arange(1000), division) as vec:
        dtl.save({"x": vec} if suffix != "npy" else vec, path, progress=True)
        more = {} if suffix == "npy" else {"name": "x"}
        dtl.load(ctx, path, partition=division, progress=True, **more).close()  # type: ignore[arg-type]
    if ctx.rank:
        assert Bar.made == []
        return
    assert [title for title, _, _ in Bar.made] == ["save", "load"]
    for _, done, total in Bar.made:
        assert done == total > 0
    assert Bar.steps > 2 + 4 * (suffix == "npy" and division == "block")


@pytest.mark.parametrize("division", ["block", "cyclic"])
def test_checkpoints(ctx: dtl.Context, folder: str, division: str) -> None:
    with vector(ctx, np.arange(1000), division) as vec, dtl.DistributedMap(ctx, "i8", "f4") as m:
        m.insert_many(np.arange(ctx.rank, 100, ctx.size), 1)
        dtl.checkpoint(folder, {"x": vec, "m": m, "step": 3}, progress=True)
        restored = dtl.restore(ctx, folder, progress=True)
        restored["x"].close()
        restored["m"].close()
        with pytest.raises(dtl.InvalidTypeError, match="progress"):
            dtl.checkpoint(folder, {"x": vec}, progress="yes")  # type: ignore[arg-type]
        with pytest.raises(dtl.InvalidTypeError, match="progress"):
            dtl.restore(ctx, folder, progress="yes")  # type: ignore[arg-type]
    assert [title for title, _, _ in Bar.made] == ([] if ctx.rank else ["checkpoint", "restore"])
    for _, done, total in Bar.made:
        assert done == total > 0


def test_it_comes_where_it_is_wanted(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with vector(ctx, np.arange(1000)) as vec:
        for terminal, wanted in ((False, None), (True, None), (True, False), (False, True)):
            Bar.made.clear()
            with monkeypatch.context() as patch:
                patch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
                dtl.save(vec, f"{folder}/a.npy", progress=wanted)
            assert bool(Bar.made) == ((terminal if wanted is None else wanted) and ctx.is_root)
        monkeypatch.setattr(progress, "_AFTER", 100.0)
        Bar.made.clear()
        dtl.save(vec, f"{folder}/a.npy", progress=True)
        assert Bar.made == []
        with pytest.raises(dtl.InvalidArgumentError, match="progress"):
            dtl.save(vec, f"{folder}/a.npy", progress="yes")  # type: ignore[arg-type]
        monkeypatch.setitem(sys.modules, "tqdm", None)
        dtl.save(vec, f"{folder}/a.npy")
        with pytest.raises(dtl.BackendUnavailableError, match=r"pip install tqdm"):
            dtl.save(vec, f"{folder}/a.npy", progress=True)
