"""Checkpoints: on any number of ranks what was saved comes back, and a stop at any moment leaves the old or the new."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any, Callable

import numpy as np
import pytest
from divisions import DIVISIONS, assert_holds, vector
from test_files import tensor

import dtl
from dtl.io import checkpoint as module
from dtl.io import checkpoint_folder

every_division = pytest.mark.parametrize("name", DIVISIONS)


def a_map(ctx: dtl.Context, key_dtype: Any, keys: Any, values: Any) -> dtl.DistributedMap:
    made = dtl.DistributedMap(ctx, key_dtype, np.asarray(values).dtype)
    mine = slice(ctx.rank, None, ctx.size)
    made.insert_many(np.asarray(keys)[mine], np.asarray(values)[mine])
    return made


def entries(m: dtl.DistributedMap) -> dict[Any, Any]:
    keys, values = m.global_view()
    assert len(keys) == len(set(keys.tolist()))
    return dict(zip(keys.tolist(), values.tolist()))


@pytest.mark.parametrize("asynchronous", [False, True])
@every_division
def test_everything(ctx: dtl.Context, folder: str, name: str, asynchronous: bool) -> None:
    words = [f"word{i}" for i in range(50)]
    with vector(ctx, np.arange(31), name) as x, tensor(ctx, np.arange(60.0).reshape(12, 5), grid=(1, ctx.size)) as t:
        m, counts = a_map(ctx, "U8", words, np.arange(50.0)), a_map(ctx, np.int64, [5], [1])
        array = dtl.DistributedArray(ctx, 7, fill=3)
        contents = {"x": x, "t": t, "m": m, "c": counts, "a": array, "step": 7, "more": {"b": [1, None]}}
        if asynchronous:
            future = dtl.async_checkpoint(f"{folder}/c", contents)
            x.local_view()[:] = -1
            m.clear()
            path = future.get(60)
        else:
            path = dtl.checkpoint(f"{folder}/c", contents)
    assert path == f"{folder}/c/00000001"
    again = dtl.restore(ctx, f"{folder}/c")
    assert list(again) == list(contents)
    assert (again["step"], again["more"]) == (7, {"b": [1, None]})
    assert type(again["x"]) is dtl.DistributedVector
    assert type(again["a"]) is dtl.DistributedArray
    assert_holds(again["x"], np.arange(31))
    assert_holds(again["t"], np.arange(60.0).reshape(12, 5))
    assert_holds(again["a"], np.full(7, 3.0))
    assert again["x"].partition_policy is x.partition_policy
    assert again["t"].grid == (1, ctx.size)
    assert entries(again["m"]) == dict(zip(words, range(50)))
    assert entries(again["c"]) == {5: 1}
    for c in ("x", "t", "m", "c", "a"):
        again[c].close()


@every_division
def test_other_numbers_of_ranks(ctx: dtl.Context, folder: str, name: str) -> None:
    with vector(ctx, np.arange(31), name) as x, a_map(ctx, "S3", [b"a", b"bcd"], [1, 2]) as m:
        dtl.checkpoint(folder, {"x": x, "m": m})
    with ctx.split(int(ctx.rank >= 2)) as part:
        again = dtl.restore(part, folder)
        assert_holds(again["x"], np.arange(31))
        assert again["x"].partition_policy.name == name.upper() or (name == "explicit" and ctx.size > 2)
        assert entries(again["m"]) == {b"a": 1, b"bcd": 2}
        again["m"].close()
        if ctx.rank < 2:
            dtl.checkpoint(f"{folder}/part", {"x": again["x"]})
        again["x"].close()
    ctx.barrier()
    with dtl.restore(ctx, f"{folder}/part")["x"] as x:
        assert_holds(x, np.arange(31))


def test_numpy_reads_the_elements(ctx: dtl.Context, folder: str) -> None:
    with vector(ctx, np.arange(31), "cyclic") as x:
        path = dtl.checkpoint(folder, {"x": x})
    np.testing.assert_array_equal(np.load(f"{path}/0.npy"), np.arange(31))


def test_the_last_ones_stay(ctx: dtl.Context, folder: str) -> None:
    for step in range(5):
        dtl.checkpoint(folder, {"step": step}, keep=3, ctx=ctx)
    ctx.barrier()
    assert sorted(os.listdir(folder)) == ["00000003", "00000004", "00000005"]
    assert dtl.restore(ctx, folder) == {"step": 4}
    assert dtl.restore(ctx, folder, number=3) == {"step": 2}
    with pytest.raises(dtl.FileNotFoundError, match=r"no checkpoint 2, only \[3, 4, 5\]"):
        dtl.restore(ctx, folder, number=2)


class Killed(BaseException):
    """What ends the program here: nothing catches it, and nothing that is done on the way out does anything."""


CALLS = ("mkdir", "open", "write", "pwrite", "fsync", "rename", "replace", "unlink", "rmdir", "ftruncate")


def reads(*args: Any, **_: Any) -> bool:
    """Say whether a call has the arguments of one that opens something to read it."""
    how = args[1] if len(args) > 1 else None
    return how == "rb" or (isinstance(args[0], str) and isinstance(how, int) and not how & (os.O_WRONLY | os.O_RDWR))


def killed_at(step: int, call: Callable[[], Any], patch: pytest.MonkeyPatch) -> bool:
    """Make a call that ends at the n-th change that it asks the system for. Return whether it came to that."""
    done = 0

    def counted(f: Callable[..., Any]) -> Callable[..., Any]:
        def one(*args: Any, **kwargs: Any) -> Any:
            nonlocal done
            if not reads(*args, **kwargs):
                done += 1
            if done > step:
                raise Killed
            return f(*args, **kwargs)

        return one

    def nothing(*args: Any, **kwargs: Any) -> None:
        if done > step:
            return None
        return remove(*args, **kwargs)

    remove = shutil.rmtree
    for name in CALLS:
        patch.setattr(os, name, counted(getattr(os, name)))
    patch.setattr(shutil, "rmtree", nothing)
    for where in (module, checkpoint_folder):
        patch.setattr(where, "open", counted(open), raising=False)
    try:
        call()
    except Killed:
        return True
    finally:
        patch.undo()
    return False


@pytest.mark.alone("a rank that is killed would leave the others waiting")
def test_killed_at_every_step(ctx: dtl.Context, folder: str) -> None:
    """The old checkpoint or the new one is there, whole, and the next one removes what was left."""
    patch = pytest.MonkeyPatch()
    with vector(ctx, np.arange(9)) as x:
        dtl.checkpoint(folder, {"x": x, "step": 0})
        step, last = 0, 0
        while True:
            x.local_view()[:] = step + 1
            killed = killed_at(step, lambda: dtl.checkpoint(folder, {"x": x, "step": step + 1}), patch)  # noqa: B023
            again = dtl.restore(ctx, folder)
            assert again["step"] in (last, step + 1)
            last = again["step"]
            with again["x"] as kept:
                assert_holds(kept, np.full(9, last) if last else np.arange(9))
            if not killed:
                break
            step += 1
        assert step > 15
        assert last == step + 1
        assert len(os.listdir(folder)) == 1


@pytest.mark.alone("a rank that is killed would leave the others waiting")
@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_a_save_killed_at_every_step(ctx: dtl.Context, folder: str, suffix: str) -> None:
    patch = pytest.MonkeyPatch()
    path = f"{folder}/a.{suffix}"
    with vector(ctx, np.arange(9)) as x:
        what: Any = x if suffix == "npy" else {"x": x}
        dtl.save(what, path)
        x.local_view()[:] = 1
        step = 0
        while killed_at(step, lambda: dtl.save(what, path), patch):
            loaded = np.load(path)
            kept = loaded if suffix == "npy" else loaded["x"]
            assert kept.tolist() in (list(range(9)), [1] * 9)
            step += 1
        assert step > 5


def spoil(path: str, place: int) -> None:
    with open(path, "r+b") as file:
        file.seek(place)
        byte = file.read(1)
        file.seek(place)
        file.write(bytes([byte[0] ^ 1]))


@pytest.mark.parametrize("file", ["0.npy", "1.keys.npy", "1.values.npy", "2.pickle", "manifest.json"])
@pytest.mark.parametrize("how", ["changed", "short", "missing"])
def test_damaged(ctx: dtl.Context, folder: str, file: str, how: str) -> None:
    with vector(ctx, np.arange(99), "cyclic") as x, a_map(ctx, np.int64, [4, 5], [1, 2]) as m:
        path = dtl.checkpoint(folder, {"x": x, "m": m, "step": 7})
    name = f"{path}/{file}"
    ctx.barrier()
    if ctx.is_root:
        if how == "changed":
            spoil(name, max(os.path.getsize(name) - 12, 0))
        elif how == "short":
            os.truncate(name, os.path.getsize(name) - 3)
        else:
            os.unlink(name)
    ctx.barrier()
    error = dtl.FileNotFoundError if how == "missing" else dtl.FileError
    with pytest.raises(error, match=file):
        dtl.restore(ctx, folder)


def test_another_version(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, "VERSION_OF_CONTAINERS", 3)
        path = dtl.checkpoint(folder, {"step": 7}, ctx=ctx)
    with open(f"{path}/manifest.json") as file:
        assert json.loads(file.read().rpartition("}")[0] + "}")["version"] == 3
    with pytest.raises(dtl.FileError, match="is of version 3; this DTL reads versions up to 2"):
        dtl.restore(ctx, folder)


def test_a_full_disk(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    with vector(ctx, np.arange(100), "cyclic") as x:
        dtl.checkpoint(folder, {"x": x})
        with monkeypatch.context() as patch:
            if ctx.rank == ctx.size - 1:
                patch.setattr(os, "pwrite", full)
            for write in (dtl.checkpoint, lambda *args: dtl.async_checkpoint(*args).get(60)):
                with pytest.raises(dtl.FileError, match="No space left"):
                    write(folder, {"x": x})
        ctx.barrier()
        assert os.listdir(folder) == ["00000001"]


@pytest.mark.parametrize("write", [dtl.checkpoint, dtl.async_checkpoint])
def test_arguments(ctx: dtl.Context, folder: str, write: Any) -> None:
    with vector(ctx, np.arange(3)) as vec:
        for call, text in (
            (lambda: write(folder, {"step": 7}), "ctx is missing"),
            (lambda: write(folder, [vec]), "must be a mapping"),
            (lambda: write(folder, {3: vec}), "must be text, not 3"),
            (lambda: write(folder, {"x": vec, "f": lambda: 3}), "'f' of type function cannot be pickled"),
            (lambda: write(folder, {"x": vec}, keep=0), "keep 0 is less than 1"),
            (lambda: write(7, {"x": vec}), "must be a path"),
        ):
            with pytest.raises(dtl.InvalidArgumentError, match=text):
                call()
    for path in (folder, f"{folder}/none"):
        with pytest.raises(dtl.FileNotFoundError, match=r"no checkpoint|No such file"):
            dtl.restore(ctx, path)
    assert os.listdir(folder) == []


@pytest.mark.mpi(min_size=2)
def test_ranks_that_differ(ctx: dtl.Context, folder: str) -> None:
    with vector(ctx, np.arange(3)) as vec:
        for contents in ({"x": vec, f"y{ctx.rank}": 1}, {"x": vec if ctx.rank else 7}):
            with pytest.raises(dtl.CollectiveMismatchError):
                dtl.checkpoint(folder, contents, ctx=ctx)
        with pytest.raises(dtl.CollectiveMismatchError):
            dtl.checkpoint(f"{folder}/{ctx.rank}", {"x": vec})
    assert os.listdir(folder) == []
