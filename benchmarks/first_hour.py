"""Five tasks of a first hour, by DTL, by mpi4py with NumPy, and by Dask: lines of code, and seconds of the program.

The programs are those of examples/first_hour, and of first_hour here. Each runs three times on two ranks or workers,
its start and end included; what hands out the parameters of the sweep is a third. What they print is compared. Run by
an environment that holds DTL, mpi4py and Open MPI; one beside it named .venv-dask holds Dask, SciPy, h5py, pyarrow,
matplotlib and tqdm.
"""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import tokenize
from pathlib import Path
from typing import Callable, NamedTuple

import numpy as np
from rows import Row, Times, at_most, deliver

_HERE = Path(__file__).resolve().parent
_OURS = _HERE.parent / "examples" / "first_hour"
_ROUNDS = 3
_LIMIT = 300

_DTL, _MPI4PY, _DASK = "DTL", "mpi4py", "Dask"
_FOLDERS = {_DTL: _OURS, _MPI4PY: _HERE / "first_hour" / "by_mpi4py", _DASK: _HERE / "first_hour" / "by_dask"}
_DASK_PYTHON = Path(sys.prefix).parent / ".venv-dask" / "bin" / "python"

#: Threads of BLAS would be as many on each rank as there are processors. Dask says the same to its workers itself.
_ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MPLBACKEND": "agg",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


class Task(NamedTuple):
    """A task: what the table calls it, its programs, and what these are given."""

    title: str
    program: str
    given: Callable[[Path], list[str]]
    ranks: int = 2


def _file(name: str) -> Callable[[Path], list[str]]:
    return lambda folder: [str(folder / name)]


TASKS = (
    Task("20 M values from a file: mean, std, exact quantiles", "values.py", _file("values.h5")),
    Task("Parquet of 10 M rows: groups", "groups.py", _file("sales.parquet")),
    Task(
        "heat in a plate of 2000 x 2000, 50 steps, a picture",
        "heat.py",
        lambda folder: ["2000", "50", str(folder / "plate.png")],
    ),
    Task("regression and PCA of 5 M x 10", "regression.py", _file("points.h5")),
    Task("sweep of 200 parameters, a bar", "sweep.py", lambda _: ["200", "1000"], 3),
)


def lines_of_code(path: Path) -> int:
    """Return how many lines of a program hold code: neither blank, nor comments or docstrings alone."""
    text = path.read_text(encoding="utf-8")
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in silent:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def _command(name: str, task: Task) -> list[str]:
    program = str(_FOLDERS[name] / task.program)
    if name == _DASK:
        return [str(_DASK_PYTHON), program]
    if name == _MPI4PY:
        pool = ["-m", "mpi4py.futures"] if task.ranks > 2 else []
        launcher = str(Path(sys.executable).parent / "mpiexec")
        bound = ["--bind-to", "none"] if task.ranks > 2 else []
        return [launcher, *bound, "-n", str(task.ranks), sys.executable, *pool, program]
    return [sys.executable, "-m", "dtl", "run", "-n", str(task.ranks), program]


def _run(name: str, task: Task, arguments: list[str], folder: Path) -> tuple[float, list[float]]:
    """Run a program, and return its seconds and the numbers that it printed."""
    environment = {**_ENVIRONMENT, "DTL_BACKEND": "local"} if name == _DTL else _ENVIRONMENT
    start = time.perf_counter()
    done = subprocess.run(
        [*_command(name, task), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=_LIMIT,
        check=False,
    )
    taken = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{name}, {task.program}: exit status {done.returncode}\n{done.stderr}")
    return taken, [float(number) for number in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", done.stdout)]


def _measure(names: list[str], task: Task, folder: Path) -> list[Row]:
    times: Times = {name: [] for name in names}
    printed: dict[str, list[float]] = {}
    for i in range(_ROUNDS):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            taken, printed[name] = _run(name, task, task.given(folder), folder)
            times[name].append(taken)
    for name in names[1:]:
        np.testing.assert_allclose(printed[name], printed[_DTL], rtol=1e-5, err_msg=f"{task.program}: {name}")
    rows = []
    for name in names[1:]:
        row = at_most(task.title if not rows else "the same", times, _DTL, name, 1.0)
        rows.append(row._replace(detail=row.detail if not rows else ""))
    lines = {name: lines_of_code(_FOLDERS[name] / task.program) for name in names}
    others = [lines[name] for name in names[1:]]
    counted = ", ".join(f"{name} {count}" for name, count in lines.items())
    rows.append(Row("the same, lines of code", "fewer than each", str(lines[_DTL]), counted, lines[_DTL] < min(others)))
    return rows


def _by_threads(task: Task, folder: Path) -> Row:
    """Return the row of a program on one rank with two threads, beside two ranks of a thread each."""
    times: Times = {"ranks": [], "threads": []}
    for i in range(_ROUNDS):
        for name in ("ranks", "threads") if i % 2 else ("threads", "ranks"):
            alone = [sys.executable, str(_OURS / task.program)] if name == "threads" else _command(_DTL, task)
            count = "2" if name == "threads" else "1"
            own = {"DTL_BACKEND": "local", "OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count}
            environment = {**_ENVIRONMENT, **own}
            start = time.perf_counter()
            command = [*alone, *task.given(folder)]
            subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, timeout=_LIMIT, check=True)
            times[name].append(time.perf_counter() - start)
    return at_most(f"{task.title}, by threads", times, "threads", "ranks")


def _version() -> str:
    command = [str(_DASK_PYTHON), "-c", "import dask; print(dask.__version__)"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def main() -> None:
    """Write the data, measure, and report."""
    names = [_DTL, _MPI4PY]
    if _DASK_PYTHON.exists():
        names.append(_DASK)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(_OURS / "make_data.py"), folder], check=True)
        rows = [row for task in TASKS for row in _measure(names, task, Path(folder))]
        rows += [_by_threads(task, Path(folder)) for task in TASKS]
    if _DASK in names:
        rows.append(Row("Dask", "", _version(), "the version", None))
    deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
