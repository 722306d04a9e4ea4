"""Files of every format with some bytes changed, cut short or made longer: an error that fits, or what is in the file.

Each case changes one of a few good files, and all ranks load it. Either every rank raises an error of files, of the
same class and errno, or none does. Then the elements are those that the format's own library finds in the same bytes,
in a process of its own, which such a file may end: where it reads the file at all. No rank may end, wait, raise another
error, or need much more memory than the file is long.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import random
import resource
import shutil
import struct
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, Callable

import numpy as np
import rank
from hostile import limit
from jobs import TIMEOUT, family, series

import dtl

#: Two minutes are enough for all of them.
CASES = 2000

#: The most that a trial takes.
SECONDS = 30.0

#: What a load may raise, and how much memory a rank may need for it: files have at most 100 kB.
FITTING = {"FileError", "FileNotFoundError", "InvalidArgumentError", "InvalidTypeError", "MemoryError", "OverflowError"}
MEMORY = 300 << 20

#: The words of a raw file, which does not have them itself.
RAW: dict[str, Any] = {"dtype": np.float64, "shape": (70, 16)}


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job of many cases, and return what it was and what went wrong."""
    rng = random.Random(f"mutations {seed} {family(python)}")
    ranks = rng.choice([1, 2, 2, 3, 3, 4])
    variables = {"DTL_TIMEOUT": str(TIMEOUT), "DTL_BACKEND": "local"}  # which is fastest; what ranks read is the same
    done, wrong = series(python, ranks, "mutations.py", rng.randrange(2**32), CASES, seconds, variables)
    return f"{done} changed files, ranks: {ranks}", wrong


# ---- Good files ----


def _arrays() -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {
        "x": rng.random((70, 16)),
        "n": np.arange(90, dtype=">i4"),
        "b": rng.random(33) < 0.5,
        "d": np.arange(40).astype("M8[s]"),
        "t": np.array(["a", "bcd", ""] * 9),
    }


def _numpy_files(folder: str) -> None:
    arrays = _arrays()
    for name, array in arrays.items():
        np.save(f"{folder}/{name}.npy", array)
    np.save(f"{folder}/f.npy", np.asfortranarray(arrays["x"]))
    np.save(f"{folder}/r.npy", np.zeros(20, [("a", "<i2"), ("b", "<f8", (2,))]))
    np.savez(f"{folder}/a.npz", f=np.asfortranarray(np.resize(arrays["x"], (700, 16))), **arrays)
    np.savez_compressed(f"{folder}/c.npz", **arrays)
    arrays["x"].tofile(f"{folder}/x.bin")


def _hdf5_files(folder: str) -> None:
    import h5py

    arrays = {name: array for name, array in _arrays().items() if array.dtype.kind in "fib"}
    with h5py.File(f"{folder}/a.h5", "w") as file:
        for name, array in arrays.items():
            file[f"group/{name}"] = array
        file["soft"], file["hard"] = h5py.SoftLink("/group/x"), file["group/n"]
        file["text"] = ["some", "text"]
    with h5py.File(f"{folder}/c.h5", "w", libver="latest") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array, chunks=True, compression="gzip", shuffle=True, fletcher32=True)


def _zarr_files(folder: str) -> None:
    import zarr

    group = zarr.create_group(f"{folder}/a.zarr")
    for name in ("x", "n"):
        array = _arrays()[name]
        made = group.create_array(name, shape=array.shape, dtype=array.dtype, chunks=(20, *array.shape[1:]))
        made[...] = array


def _table_files(folder: str) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rng = np.random.default_rng(6)
    texts = [f"name {number % 17}" if number % 5 else None for number in range(300)]
    table = pa.table(
        {
            "i": pa.array(rng.integers(0, 2**40, 300), mask=rng.random(300) < 0.1),
            "f": rng.random(300),
            "s": texts,
            "c": pa.array(texts).dictionary_encode(),
            "t": pa.array(np.arange(300).astype("M8[ms]")),
            "b": rng.random(300) < 0.5,
        }
    )
    for name, how in {"a": "none", "z": "zstd"}.items():
        pa.parquet.write_table(table, f"{folder}/{name}.parquet", row_group_size=130, compression=how)
        options = pa.ipc.IpcWriteOptions(compression=None if how == "none" else how)
        with pa.ipc.new_file(f"{folder}/{name}.arrow", table.schema, options=options) as writer:
            writer.write_table(table, 130)
    plain = table.set_column(3, "c", table["c"].combine_chunks().dictionary_decode())
    pa.csv.write_csv(plain, f"{folder}/a.csv")


def _make_files(ctx: dtl.Context, folder: str) -> list[str]:
    """Write the good files, those of formats whose package is there, and return their names. Collective."""
    if ctx.is_root:
        os.mkdir(folder)
        for make in (_numpy_files, _hdf5_files, _zarr_files, _table_files):
            with contextlib.suppress(ImportError):
                make(folder)
    ctx.barrier()
    arrays = {name: dtl.asarray(ctx, _arrays()[name]) for name in ("x", "d", "t")}
    with dtl.DistributedMap(ctx, "U4", np.int64) as known:
        known.insert_many(["one", "two", "tri"], np.arange(3))
        dtl.checkpoint(f"{folder}/a.checkpoint", {**arrays, "map": known, "value": {"step": 7}})
    return sorted(os.listdir(folder))


# ---- Changes ----


def _flip(rng: random.Random, data: bytearray) -> None:
    for _ in range(rng.choice([1, 1, 3])):
        place = _place(rng, data)
        data[place] ^= 1 << rng.randrange(8)


def _cut(rng: random.Random, data: bytearray) -> None:
    del data[rng.randrange(len(data)) :]


def _lengthen(rng: random.Random, data: bytearray) -> None:
    data += rng.choice([bytes(rng.randrange(1, 99)), bytes(data[-40:]), rng.randbytes(20)])


def _integer(rng: random.Random, data: bytearray) -> None:
    """Write a number of 2, 4 or 8 bytes where a size, a count or a place may be."""
    form, place = rng.choice(["<H", "<I", "<Q", ">I"]), _place(rng, data)
    size = struct.calcsize(form)
    most = 256**size - 1
    value = rng.choice([0, 1, most, most // 2, most // 2 + 1, len(data), 10**4, 2**31 - 1, 2**33, 10**15])
    if len(data) >= size:
        place = min(place, len(data) - size)
        data[place : place + size] = struct.pack(form, value & most)


def _digits(rng: random.Random, data: bytearray) -> None:
    """Replace a number in a text, such as a header or metadata."""
    places = [place for place in range(min(len(data), 4000)) if 48 <= data[place] < 58]
    if places:
        place = rng.choice(places)
        data[place : place + 1] = str(rng.choice([0, 7, 10**3, 10**9, 2**63, -1])).encode()


def _copy(rng: random.Random, data: bytearray) -> None:
    size = rng.randrange(1, 40)
    start, to = rng.randrange(len(data)), _place(rng, data)
    data[to : to + size] = data[start : start + size]


def _zero(rng: random.Random, data: bytearray) -> None:
    place, size = _place(rng, data), rng.randrange(1, 64)
    data[place : place + size] = bytes(len(data[place : place + size]))


def _insert(rng: random.Random, data: bytearray) -> None:
    place = _place(rng, data)
    data[place:place] = rng.randbytes(rng.randrange(1, 9))


def _keep(rng: random.Random, data: bytearray) -> None:
    """Change nothing: the file is read."""


CHANGES: list[Callable[[random.Random, bytearray], None]] = [
    _flip, _flip, _flip, _cut, _lengthen, _integer, _integer, _digits, _copy, _zero, _insert, _keep,
]  # fmt: skip


def _place(rng: random.Random, data: bytearray) -> int:
    """Return a place, more often one at the beginning or the end, where what describes the elements is."""
    near = min(len(data), 600)
    return rng.choice([rng.randrange(near), len(data) - 1 - rng.randrange(near), rng.randrange(len(data))])


def _change(rng: random.Random, good: str, case: str) -> str:
    """Put a copy of a good file, with a change, in the place of the case; return the name of the change."""
    shutil.rmtree(case, ignore_errors=True)
    Path(case).unlink(missing_ok=True)
    if os.path.isdir(good):
        shutil.copytree(good, case)
    else:
        shutil.copy(good, case)
    each = [name for name in sorted(map(str, [case, *Path(case).rglob("*")])) if os.path.isfile(name)]
    name = rng.choice(each)
    data, change = bytearray(Path(name).read_bytes()), rng.choice(CHANGES)
    change(rng, data)
    Path(name).write_bytes(data)
    return f"{change.__name__.strip('_')} of {os.path.relpath(name, os.path.dirname(case))}"


# ---- What a file has, by DTL and by the format's own library ----


def _loaded(ctx: dtl.Context, path: str) -> dict[str, Any]:
    """Return the containers and values in a file, by name. Collective."""
    if path.endswith("checkpoint"):
        return dtl.restore(ctx, path)
    if path.endswith("parquet"):
        return dtl.Columns.read_parquet(ctx, path)
    if path.endswith("arrow"):
        return dtl.Columns.read_arrow(ctx, path)
    if path.endswith("csv"):
        return dtl.Columns.read_csv(ctx, path)
    made = dtl.load(ctx, path, **(RAW if path.endswith("bin") else {}))
    return made if isinstance(made, dict) else {"": made}


def _on_root(made: Any) -> Any:
    """Return what was loaded, on the root. Collective."""
    if isinstance(made, dtl.Columns):
        table = made.gather_to(0)
        return None if table is None else _columns(table)
    return {
        name: value.gather_to(0) if hasattr(value, "gather_to") else None
        for name, value in sorted(made.items())
    }  # fmt: skip


def _close(made: Any) -> None:
    for value in made.values() if isinstance(made, dict) else [made]:
        if hasattr(value, "close"):
            value.close()


def _by_numpy(path: str) -> Any:
    return {"": np.load(path)}


def _by_numpy_from_archive(path: str) -> Any:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def _by_numpy_from_bytes(path: str) -> Any:
    return {"": np.fromfile(path, RAW["dtype"], int(np.prod(RAW["shape"]))).reshape(RAW["shape"])}


def _by_h5py(path: str) -> Any:
    import h5py

    found = {}
    with h5py.File(path, "r") as file:

        def visit(group: Any, at: str) -> None:
            for name in group:
                thing = group.get(name)
                if isinstance(thing, h5py.Group):
                    visit(thing, f"{at}{name}/")
                elif isinstance(thing, h5py.Dataset) and thing.shape and thing.dtype.kind in "biufc":
                    found[f"{at}{name}"] = thing[...]

        visit(file, "")
    return found


def _by_zarr(path: str) -> Any:
    import zarr

    return {name: array[...] for name, array in zarr.open_group(path, mode="r").arrays()}


def _by_pyarrow_from_parquet(path: str) -> Any:
    import pyarrow.parquet

    return _columns(pyarrow.parquet.read_table(path))


def _by_pyarrow(path: str) -> Any:
    import pyarrow as pa

    with pa.ipc.open_file(path) as reader:
        table = reader.read_all()
    table.validate(full=True)
    return _columns(table)


def _columns(table: Any) -> dict[str, Any]:
    """Return the columns of a table as lists, times as integers: not every one is a date of Python's."""
    return {
        name: (column.cast("int64") if "time" in str(column.type) else column).to_pylist()
        for name, column in zip(table.column_names, table.columns)
    }


def _of_checkpoint(path: str) -> Any:
    return _arrays()  # nothing else may be read, as every byte has a checksum


#: What reads a file as others do, by its suffix. Of CSV, others make other types.
LIBRARIES: dict[str, Callable[[str], Any]] = {
    "npy": _by_numpy,
    "npz": _by_numpy_from_archive,
    "bin": _by_numpy_from_bytes,
    "h5": _by_h5py,
    "zarr": _by_zarr,
    "parquet": _by_pyarrow_from_parquet,
    "arrow": _by_pyarrow,
    "checkpoint": _of_checkpoint,
}


def _differ(got: Any, known: Any) -> str:
    """Return where two readers find different elements, "" if nowhere. DTL may have fewer arrays, not other ones."""
    for name, value in got.items():
        if value is None:  # no container
            continue
        if name not in known:
            return f"{name!r} is not in the file"
        one, other = (_comparable(each) for each in (value, known[name]))
        if type(one) is not type(other) or one != other:
            return f"{name!r} is {str(value)[:120]}, and {str(known[name])[:120]} by the library"
    return ""


def _comparable(value: Any) -> Any:
    """Return a value that is equal to another if the elements are, NaNs too."""
    if isinstance(value, list):
        return [repr(each) for each in value]
    array = np.asarray(value)
    return array.shape, array.astype(array.dtype.newbyteorder("=")).tobytes()


class Library:
    """A process that reads files by the formats' own libraries. A file may end it; then there is another one."""

    def __init__(self) -> None:
        self._process: Any = None

    def read(self, path: str) -> tuple[str, Any]:
        """Return "" and what is in a file, or what happened to the process."""
        if self._process is None or self._process.poll() is not None:
            environ = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI", "PM", "DTL"))}
            self._process = subprocess.Popen(
                [sys.executable, __file__, "library"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environ,
            )
        try:
            self._process.stdin.write(path.encode() + b"\n")
            self._process.stdin.flush()
            answer: tuple[str, Any] = pickle.load(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self._process.kill()
            return f"ended with {self._process.wait()}", None
        return answer

    @staticmethod
    def serve() -> None:
        """Answer from standard input on: the program of the process."""
        warnings.simplefilter("ignore")
        out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        limit(2**30)
        for line in sys.stdin:
            try:
                path = line.rstrip("\n")
                answer: tuple[str, Any] = "", LIBRARIES[path.rpartition(".")[2]](path)
            except Exception as error:  # noqa: BLE001 - whatever it is
                answer = f"{type(error).__name__}: {error}"[:200], None
            pickle.dump(answer, out)
            out.flush()


def main() -> None:
    """Load the files of a seed from one number on: the program of a rank."""
    warnings.simplefilter("ignore")
    ctx = dtl.Context()
    log = rank.Log(ctx)
    start = int(sys.argv[2])
    folder = str(rank.FOLDER / f"good{start}")
    names = _make_files(ctx, folder)
    for name in names[:1] + names[-1:]:
        log.begin(start - 1, f"good file {name}")
        _close(_loaded(ctx, f"{folder}/{name}"))
    limit(2**30)
    library = Library()
    for number in range(start, CASES):
        rng = random.Random(f"mutations {sys.argv[1]} {number}")
        good = rng.choice(names)
        case = str(rank.FOLDER / good)
        what = f"file {number}: " + (_change(rng, f"{folder}/{good}", case) if ctx.is_root else good)
        log.begin(number, what)
        log.exchange(0)  # the file is there
        wrong = _judge_case(ctx, log, library, case)
        if wrong and ctx.is_root:
            log.found(f"{what}: {wrong}")
    log.begin(CASES, "the end")


def _judge_case(ctx: dtl.Context, log: rank.Log, library: Library, case: str) -> str:
    """Load a file on every rank, and return what is wrong with what that came to."""
    made: list[Any] = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        made.append(_loaded(ctx, case))
        ended = ("", "", None)
    except Exception as error:  # noqa: BLE001 - the class is what is to be reported
        kind = type(error).__name__ if isinstance(error, dtl.DTLError) else f"({type(error).__name__})"
        ended = (kind, str(error), getattr(error, "errno", None))  # type: ignore[assignment]
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
    everybody = log.exchange((*ended, grown))
    told = "; ".join(
        f"rank {at}: {kind or 'returned'} {text[:250]} errno {number}, {grown >> 20} MiB"
        for at, (kind, text, number, grown) in enumerate(everybody)
    )
    if max(grown for *_, grown in everybody) > MEMORY:
        return f"a rank needs much memory: {told}"
    if len({(kind, number) for kind, _, number, _ in everybody}) != 1 or "no end after" in told:
        return told
    if ended[0]:
        return "" if ended[0] in FITTING else told
    try:
        got = _on_root(made[0])
    except Exception as error:  # noqa: BLE001 - as above
        got, told = {}, f"gathered: {type(error).__name__}: {error}"
        log.found(told)
    _close(made[0])
    if not ctx.is_root:
        return ""
    if case.rpartition(".")[2] not in LIBRARIES:
        return ""
    failed, known = library.read(case)
    return "" if failed else _differ(got, known)


if __name__ == "__main__":
    Library.serve() if sys.argv[1] == "library" else main()
