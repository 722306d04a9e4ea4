"""Data of four times what may be resident: on disk by DTL, by Dask and by Polars' streaming engine.

Every task is a program of its own, which reads files and ends. DTL runs it on one rank, and on two that share the
limit. Dask has a worker with the same limit, in .venv-dask; Polars has no limit, in .venv-tables. The kernel counts the
most that was resident of a process, of Dask its worker, and what reached the disk, where files that are in the page
cache are not read again. A peer that takes longer than ``--longest`` is ended: its time is more than that. ``--bytes``
says how large the data is, ``--limit`` how much of it may be resident, ``--keys`` how many groups there are, at most;
``--only`` which tasks are run, ``--without`` by whom they are not. The last rows are calls on arrays of an eighth of
the limit, which stay in memory, on disk beside the host. Temporary files are in ``--folder``, which should be on a
disk: five times the data have to find room there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
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
_FITS = "fits"

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
    "quantiles": (3, 0),
    "root": (1, 0.5),
    "sort": (3, 3),
    "transpose": (2, 2),
    "groups": (2, 2),
    "join": (2, 2),
}

#: How many seconds a program of ours may take, and the most of the host's time that a call on disk may.
_OURS_LONGEST, _OF_HOST = 900.0, 1.3


class Contender(NamedTuple):
    """A library: its program, the environment beside this one, and the most of its time that ours may take."""

    program: str
    environment: str = ""
    bound: float = 0
    ranks: int = 0  # of ours


_CONTENDERS = {
    "DTL": Contender("by_dtl.py", ranks=1),
    "DTL on 2 ranks": Contender("by_dtl.py", ranks=2),
    "Dask": Contender("by_dask.py", ".venv-dask", 0.5),
    "Polars": Contender("by_polars.py", ".venv-tables", 1.2),
}


def _python(contender: Contender) -> str:
    python = Path(sys.prefix).parent / contender.environment / "bin" / "python"
    return str(python) if contender.environment and python.exists() else sys.executable


def _ask(name: str, task: str, folder: Path, limit: int, longest: float) -> Any:
    """Return what a library's program says, a text: why it says nothing, or a number: it took more seconds."""
    contender = _CONTENDERS[name]
    ranks = ["-m", "dtl", "run", "-n", str(contender.ranks)] if contender.ranks > 1 else []
    command = [_python(contender), *ranks, str(_FOLDER / contender.program), str(folder), task, str(limit)]
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if contender.ranks:
        each = str(limit // contender.ranks)
        variables.update(DTL_MEMORY_LIMIT=each, DTL_SCRATCH=str(folder), DTL_BACKEND="local")
        longest = _OURS_LONGEST
    try:
        done = _ended(command, variables, longest)
    except subprocess.TimeoutExpired:
        return longest
    finally:
        _remove(folder)
    if done.returncode:
        return f"ends with status {done.returncode}: {_said(done.stderr)}"
    answer: Any = json.loads(done.stdout.splitlines()[-1])
    return answer


def _ended(command: list[str], variables: dict[str, str], longest: float) -> subprocess.CompletedProcess[str]:
    """Run a program, and end all its processes if it takes too long."""
    pipe: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=variables, start_new_session=True, **pipe) as running:
        try:
            out, err = running.communicate(timeout=longest)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, running.returncode, out, err)


def _said(text: str) -> str:
    """Return the line that tells the error: the last that begins with the name of one, or else the last."""
    lines = text.strip().splitlines() or ["no words"]
    errors = [line for line in lines if re.match(r"[A-Za-z_.]*(Error|Exception|Killed)[A-Za-z]*\b", line)]
    return (errors or lines)[-1][:160]


def _files(task: str, name: str) -> list[str]:
    """Return the files that a library reads for a task."""
    arrays, tables = _DATA.get(task, (["z.bin"], ["z.parquet"]))
    return tables if task in _TABLES.get(name, ()) else arrays


def _write(folder: Path, wanted: list[str], size: int, keys: int) -> None:
    """Have some files there, and no others: there need not be room for all of them."""
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
    if isinstance(answer, float):
        return f"{name} takes longer than {answer:g} s"
    if isinstance(answer, str):
        return f"{name} {answer}"
    peak, read, written = (f"{answer[key] / 2**20:.0f}" for key in ("peak", "read", "written"))
    more = ", more than the limit" if answer["peak"] > limit else ""
    processor = f"{answer['processor'] / 1e6:.1f} s of processors"
    return f"{name} {answer['seconds']:.1f} s, {processor}, resident {peak} MiB{more}, disk {read} + {written} MiB"


def _rows(task: str, answers: dict[str, Any], limit: int, size: int) -> list[Row]:
    """Return the rows of a task: ours beside each peer, and what each has counted."""
    ours = {name: answer for name, answer in answers.items() if _CONTENDERS[name].ranks}
    detail = "; ".join(_counted(name, answer, limit) for name, answer in answers.items())
    rows = [
        row for name, answer in ours.items() for row in _own_rows(f"{_TASKS[task]}, {name}", task, answer, limit, size)
    ]
    rows[:1] = [row._replace(detail=detail) for row in rows[:1]]
    for name, theirs in answers.items():
        for own, answer in ours.items():
            if name in ours or isinstance(answer, (str, float)):
                continue
            bound, words = _CONTENDERS[name].bound, f"{_TASKS[task]}, {own}"
            if isinstance(theirs, float):
                most = answer["seconds"] / theirs
                rows.append(Row(words, f"time ÷ {name} ≤ {bound}", f"less than {most:.2f}", "", most <= bound or None))
            elif isinstance(theirs, dict):
                np.testing.assert_allclose(theirs["found"], answer["found"], rtol=1e-6, err_msg=f"{task}: {name}")
                times = {own: [answer["seconds"]], name: [theirs["seconds"]]}
                rows.append(at_most(words, times, own, name, bound))
    return rows


def _own_rows(words: str, task: str, answer: Any, limit: int, size: int) -> list[Row]:
    """Return the rows of a task of ours that no peer matters to."""
    if isinstance(answer, (str, float)):
        return [
            Row(words, "ends", f"takes longer than {answer:g} s" if isinstance(answer, float) else answer, "", False)
        ]
    times = [answer["read"] / size, answer["written"] / size]
    bound = [1.1 * most for most in _PASSES[task]]
    target = f"disk: read ≤ {bound[0]:.2g} times, written ≤ {bound[1]:.2g} times the data"
    passes = times[0] <= bound[0] and times[1] <= bound[1] + 0.01
    peak = f"{answer['peak'] / 2**20:.0f} MiB"
    return [
        Row(words, f"resident ≤ {limit >> 20} MiB", peak, "", answer["peak"] <= limit),
        Row(words, target, f"{times[0]:.2f}, {times[1]:.2f}", "", passes),
    ]


def _of_host(folder: Path, limit: int) -> list[Row]:
    """Return the rows of calls on arrays that fit, on disk beside the host."""
    size = limit // 8 >> 20
    variables = {**os.environ, "DTL_MEMORY_LIMIT": str(limit), "DTL_SCRATCH": str(folder), "DTL_BACKEND": "local"}
    command = [sys.executable, str(_FOLDER / "fits.py"), str(size)]
    said = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True).stdout
    words = f"of {size} MiB, on disk"
    return [at_most(f"{name} {words}", each, "disk", "host", _OF_HOST) for name, each in json.loads(said).items()]


def _size(text: str) -> int:
    """Return a number of MiB as bytes."""
    return int(text) << 20


def _arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=_size, default=4 << 30, metavar="MiB")
    parser.add_argument("--limit", type=_size, default=1 << 30, metavar="MiB")
    parser.add_argument("--keys", type=int, default=10_000_000)
    every = [*_TASKS, _FITS]
    parser.add_argument("--only", nargs="+", choices=every, default=every)
    parser.add_argument("--without", nargs="+", choices=_CONTENDERS, default=[])
    parser.add_argument("--longest", type=float, default=120.0, help="seconds after which a peer is given up")
    parser.add_argument("--also", type=Path, help="write the rows here after each task, too")
    parser.add_argument("--folder", default=os.environ.get("DTL_SCRATCH", "/var/tmp"))
    return parser.parse_known_args()


def main() -> None:
    """Write the files, run the tasks, and report."""
    arguments, rest = _arguments()
    answers: dict[str, dict[str, Any]] = {task: {} for task in arguments.only if task in _TASKS}
    runs = [(_files(task, name), task, name) for task in answers for name in _CONTENDERS]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as made:
        folder = Path(made)
        for files, task, name in sorted(runs, key=lambda run: run[0]):  # so that each file is written once
            if name in arguments.without or (name == "Polars" and task == "transpose"):
                continue
            _write(folder, files, arguments.bytes, arguments.keys)
            answers[task][name] = _ask(name, task, folder, arguments.limit, arguments.longest)
            print(f"-- {task}: {_counted(name, answers[task][name], arguments.limit)}", file=sys.stderr, flush=True)
            every = [(task, _in_turn(found)) for task, found in answers.items() if found]
            rows = [row for task, found in every for row in _rows(task, found, arguments.limit, arguments.bytes)]
            if arguments.also:
                arguments.also.write_text(json.dumps(rows))
        if _FITS in arguments.only:
            _write(folder, [], 0, 0)
            rows += _of_host(folder, arguments.limit)
    sys.argv[1:] = rest
    deliver(rows, __doc__ or "")


def _in_turn(found: dict[str, Any]) -> dict[str, Any]:
    """Return answers in the order of the contenders."""
    return {name: found[name] for name in _CONTENDERS if name in found}


if __name__ == "__main__":
    main()
