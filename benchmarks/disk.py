"""Data of four times what may be resident: on disk by DTL on one rank, by Dask and by Polars' streaming engine.

Every task is a program of its own, which reads files and ends. Dask has a worker with the same limit, in .venv-dask;
Polars has no limit, in .venv-tables. The kernel counts the most that was resident of a process, of Dask its worker,
and what reached the disk, where files that are in the page cache are not read again. ``--bytes`` says how large the
data is, ``--limit`` how much of it may be resident, ``--keys`` how many groups there are, at most; ``--only`` which
tasks are run. Temporary files are in ``--folder``, which should be on a disk.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rows import Row, at_most, deliver

_FOLDER = Path(__file__).resolve().parent / "disk"

_TASKS = {
    "mean": "mean",
    "std": "std",
    "quantiles": "three exact quantiles",
    "root": "`np.sqrt(x*x + y*y)` to a file",
    "sort": "sort",
    "transpose": "transpose of a matrix to a file",
    "groups": "sum and mean by keys",
    "join": "join with a table of a quarter of the keys",
}


#: What each task reads, of arrays and of tables.
_DATA = {
    "root": (["x.bin", "y.bin"], ["x.parquet", "y.parquet"]),
    "groups": (["rows.parquet"],) * 2,
    "join": (["rows.parquet", "keys.parquet"],) * 2,
}
_TABLES = {"Polars": tuple(_TASKS), "Dask": ("sort",)}  # who reads tables in which tasks

#: How often ours reads and writes the data at most, files of its own included, as docstrings say.
_PASSES = {
    "mean": (1, 0),
    "std": (2, 0),
    "quantiles": (10, 0),
    "root": (1, 0.5),
    "sort": (3, 3),
    "transpose": (3, 3),
    "groups": (4, 4),
    "join": (2, 2),
}


class Contender(NamedTuple):
    """A library: its program, the environment beside this one, and the most of its time that ours may take."""

    program: str
    environment: str = ""
    bound: float | None = None


_OURS = "DTL"
_CONTENDERS = {
    _OURS: Contender("by_dtl.py"),
    "Dask": Contender("by_dask.py", ".venv-dask", 0.5),
    "Polars": Contender("by_polars.py", ".venv-tables", 1.2),
}


def _python(contender: Contender) -> str:
    python = Path(sys.prefix).parent / contender.environment / "bin" / "python"
    return str(python) if contender.environment and python.exists() else sys.executable


def _ask(name: str, task: str, folder: Path, limit: int, longest: float) -> Any:
    """Return what a library's program says, or a text: why it says nothing."""
    contender = _CONTENDERS[name]
    command = [_python(contender), str(_FOLDER / contender.program), str(folder), task, str(limit)]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if name == _OURS:
        variables.update(DTL_MEMORY_LIMIT=str(limit), DTL_SCRATCH=str(folder))
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=longest, check=False)
    except subprocess.TimeoutExpired:
        return f"takes longer than {longest:g} s"
    finally:
        _remove(folder)
    if done.returncode:
        return f"ends with status {done.returncode}: {_said(done.stderr)}"
    answer: Any = json.loads(done.stdout.splitlines()[-1])
    return answer


def _said(text: str) -> str:
    """Return the line that tells the error: the last that begins with the name of one, or else the last."""
    lines = text.strip().splitlines() or ["no words"]
    errors = [line for line in lines if re.match(r"[A-Za-z_.]*(Error|Exception|Killed)[A-Za-z]*\b", line)]
    return (errors or lines)[-1][:160]


def _write(folder: Path, task: str, name: str, size: int, keys: int) -> None:
    """Have the files there that a library reads for a task, and no others: there need not be room for all of them."""
    arrays, tables = _DATA.get(task, (["z.bin"], ["z.parquet"]))
    wanted = tables if task in _TABLES.get(name, ()) else arrays
    for path in folder.iterdir():
        if path.name not in wanted:
            path.unlink()
    command = [sys.executable, str(_FOLDER / "data.py"), str(size), str(keys), str(folder), *wanted]
    subprocess.run(command, check=True)
    os.sync()  # so that no task waits for what was written before it


def _remove(folder: Path) -> None:
    """Remove what a task has made."""
    for made in (*folder.glob("made*"), *folder.glob("spilled")):
        if made.is_dir():
            shutil.rmtree(made, ignore_errors=True)
        else:
            made.unlink()


def _counted(name: str, answer: Any, limit: int) -> str:
    if isinstance(answer, str):
        return f"{name} {answer}"
    peak, read, written = (f"{answer[key] / 2**20:.0f}" for key in ("peak", "read", "written"))
    more = ", more than the limit" if answer["peak"] > limit else ""
    processor = f", {answer['processor'] / 1e6:.1f} s of processors" if "processor" in answer else ""
    return f"{name} {answer['seconds']:.1f} s{processor}, resident {peak} MiB{more}, disk {read} + {written} MiB"


def _rows(task: str, answers: dict[str, Any], limit: int, size: int) -> list[Row]:
    """Return the rows of a task: ours beside each other that ends, and what each has counted."""
    words = _TASKS[task]
    detail = "; ".join(_counted(name, answer, limit) for name, answer in answers.items())
    ours = answers[_OURS]
    if isinstance(ours, str):
        return [Row(words, "ends", ours, detail, False)]
    rows = [
        Row(words, f"resident ≤ {limit >> 20} MiB", f"{ours['peak'] / 2**20:.0f} MiB", detail, ours["peak"] <= limit)
    ]
    times = [ours["read"] / size, ours["written"] / size]
    bound = [1.1 * most for most in _PASSES[task]]
    rows.append(
        Row(
            words,
            f"disk: read ≤ {bound[0]:.2g} times, written ≤ {bound[1]:.2g} times the data",
            f"{times[0]:.2f}, {times[1]:.2f}",
            "",
            times[0] <= bound[0] and times[1] <= bound[1] + 0.01,
        )
    )
    for name, answer in answers.items():
        if name == _OURS or isinstance(answer, str):
            continue
        np.testing.assert_allclose(answer["found"], ours["found"], rtol=1e-6, err_msg=f"{task}: {name}")
        times = {each: [answers[each]["seconds"]] for each in (_OURS, name)}
        rows.append(at_most(words, times, _OURS, name, _CONTENDERS[name].bound))
    return rows


def _size(text: str) -> int:
    """Return a number of MiB as bytes."""
    return int(text) << 20


def main() -> None:
    """Write the files, run the tasks, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=_size, default=4 << 30, metavar="MiB")
    parser.add_argument("--limit", type=_size, default=1 << 30, metavar="MiB")
    parser.add_argument("--keys", type=int, default=10_000_000)
    parser.add_argument("--only", nargs="+", choices=_TASKS, default=list(_TASKS))
    parser.add_argument("--without", nargs="+", choices=_CONTENDERS, default=[])
    parser.add_argument("--longest", type=float, default=600, help="seconds after which a task is given up")
    parser.add_argument("--also", type=Path, help="write the rows here after each task, too")
    parser.add_argument("--folder", default=os.environ.get("DTL_SCRATCH", "/var/tmp"))
    arguments, rest = parser.parse_known_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as made:
        folder = Path(made)
        for task in arguments.only:
            answers = {}
            for name in _CONTENDERS:
                if name not in arguments.without and not (name == "Polars" and task == "transpose"):
                    _write(folder, task, name, arguments.bytes, arguments.keys)
                    answers[name] = _ask(name, task, folder, arguments.limit, arguments.longest)
                    told = _counted(name, answers[name], arguments.limit)
                    print(f"-- {task}: {told}", file=sys.stderr, flush=True)
            rows += _rows(task, answers, arguments.limit, arguments.bytes)
            if arguments.also:
                arguments.also.write_text(json.dumps(rows))
    sys.argv[1:] = rest
    deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
