"""The questions of h2o's db-benchmark, a Parquet file that is filtered and aggregated, and delays of flights.

By DTL on two ranks, and on one rank with two threads; and by pandas, Polars, DuckDB, Dask and Bodo, each where an
environment beside this one, .venv-tables or .venv-bodo, holds it, or else this one does. They hold what
benchmarks/tables/requirements-*.txt say; pyarrow, which writes the tables, is of this one. Every library runs in
programs of its own, one after the other, in each of a few rounds; their answers are compared. ``--rows`` says how many
rows the tables have, ``--only`` which questions are asked, ``--without`` which libraries are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rows import Row, Times, at_most, deliver

_HERE = Path(__file__).resolve().parent
_FOLDER = _HERE / "tables"
_LIMIT = 1200

#: The questions, as the table of results names them.
_QUESTIONS = {
    "g1": "sum v1 by id1",
    "g2": "sum v1 by id1, id2",
    "g3": "sum v1, mean v3 by id3",
    "g4": "mean v1, v2, v3 by id4",
    "g5": "sum v1, v2, v3 by id6",
    "g6": "median v3, std v3 by id4, id5",
    "g7": "max v1 - min v2 by id3",
    "g8": "the largest two v3 by id6",
    "g9": "squared correlation of v1, v2 by id2, id4",
    "g10": "sum v3, count by id1 to id6",
    "j1": "small inner on integers",
    "j2": "medium inner on integers",
    "j3": "medium outer on integers",
    "j4": "medium inner on texts",
    "j5": "big inner on integers",
    "parquet": "Parquet of four times the rows: filter, sum by id1",
    "flights": "Parquet of flights: delays by carrier, its name, in order",
}

#: Ours, on two ranks and on two threads.
_OURS = ("DTL, 2 ranks", "DTL, 2 threads")


class Contender(NamedTuple):
    """A library: its program, the environment beside this one, and the most of its time that ours may take."""

    program: str
    environment: str
    bound: float | None = None
    ranks: int = 1
    variables: tuple[tuple[str, str], ...] = ()
    module: str = ""
    alone: bool = True  # not under the environment's own mpiexec, which Bodo starts its workers by


_CONTENDERS = {
    _OURS[0]: Contender("by_dtl.py", "", ranks=2, variables=(("DTL_BACKEND", "local"),)),
    _OURS[1]: Contender("by_dtl.py", "", variables=(("DTL_NUM_THREADS", "2"),)),
    "Dask": Contender("by_dask.py", ".venv-tables", 0.5, module="dask.dataframe"),
    "Bodo": Contender("by_bodo.py", ".venv-bodo", 0.8, module="bodo.pandas", alone=False),
    "Polars": Contender("by_polars.py", ".venv-tables", 1.5, module="polars"),
    "DuckDB": Contender("by_duckdb.py", ".venv-tables", module="duckdb"),
    "pandas": Contender("by_pandas.py", ".venv-tables", module="pandas"),
}


class Answer(NamedTuple):
    """What a library found, in how many seconds, and the most memory of its process, in KiB, until then."""

    seconds: float
    found: list[float]
    peak: int


def _python(contender: Contender) -> str:
    python = Path(sys.prefix).parent / contender.environment / "bin" / "python"
    return str(python) if contender.environment and python.exists() else sys.executable


def _holds(contender: Contender) -> bool:
    """Say whether the environment of a library holds it."""
    if not contender.module:
        return True
    check = [_python(contender), "-c", f"import {contender.module}"]
    return subprocess.run(check, capture_output=True, check=False).returncode == 0


def _ask(name: str, contender: Contender, folder: Path, questions: list[str]) -> dict[str, Answer]:
    """Run a library's program, and return its answers. Where it ends early, those it has given."""
    python = _python(contender)
    command = [] if contender.alone else [str(Path(python).parent / "mpiexec"), "-n", "1"]
    command += [python, *(["-m", "dtl", "run", "-n", str(contender.ranks)] if contender.ranks > 1 else [])]
    command += [str(_FOLDER / contender.program), str(folder), *questions]
    variables = {**os.environ, **dict(contender.variables)}
    try:
        done = subprocess.run(
            command, env=variables, cwd=folder, capture_output=True, text=True, timeout=_LIMIT, check=False
        )
        printed, wrong = done.stdout, done.stderr if done.returncode else ""
    except subprocess.TimeoutExpired as error:
        printed = error.stdout.decode() if isinstance(error.stdout, bytes) else error.stdout or ""
        wrong = f"took longer than {_LIMIT} s"
    if wrong:
        print(f"-- {name}: {wrong.strip().splitlines()[-1]}", file=sys.stderr, flush=True)
    answers = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return {each["question"]: Answer(each["seconds"], each["found"], each["peak"]) for each in answers}


def _check(question: str, answers: dict[str, list[Answer]]) -> None:
    """Raise an error where libraries differ."""
    found = {name: given[0].found for name, given in answers.items()}
    for name, numbers in found.items():
        np.testing.assert_allclose(numbers, found[_OURS[0]], rtol=1e-6, err_msg=f"{question}: {name}")


def _rows(question: str, answers: dict[str, list[Answer]]) -> list[Row]:
    """Return the rows of a question: each of ours beside each of the others that answered in all rounds."""
    whole = max(len(given) for given in answers.values())
    times: Times = {
        name: [answer.seconds for answer in given] for name, given in answers.items() if len(given) == whole
    }
    rows: list[Row] = []
    for ours in _OURS:
        for name in times:
            if ours in times and name not in _OURS:
                row = at_most(f"{_QUESTIONS[question]}, {ours}", times, ours, name, _CONTENDERS[name].bound)
                rows.append(row if not rows else row._replace(detail=""))
    return rows


def _memory(answers: dict[str, dict[str, list[Answer]]]) -> Row:
    """Return the row of the most memory that each library had, of all its processes that ask."""
    peaks: dict[str, int] = {}
    for given in answers.values():
        for name, each in given.items():
            peaks[name] = max(peaks.get(name, 0), *(answer.peak for answer in each))
    without = {name: peak for name, peak in peaks.items() if name not in ("Dask", "Bodo")}  # workers are not counted
    text = ", ".join(f"{name} {peak / 2**20:.2f} GiB" for name, peak in without.items())
    return Row("memory at its peak, with the tables of all questions", "", text, "", None)


def _half(rows: list[Row], name: str) -> list[Row]:
    """Return on how many questions each of ours takes no more time than a library."""
    found = []
    for ours in _OURS:
        results = [row for row in rows if row.measure.endswith(ours) and f" {name}" in row.target]
        if results:
            ratios = [float(row.result.split()[0]) for row in results]
            least = sum(ratio <= 1 for ratio in ratios)
            measure = f"questions in no more time than {name}, {ours}"
            detail = f"the median ratio is {statistics.median(ratios):.2f}"
            found.append(Row(measure, "half", f"{least} of {len(ratios)}", detail, 2 * least >= len(ratios)))
    return found


def _measured(arguments: argparse.Namespace, folder: Path) -> dict[str, dict[str, list[Answer]]]:
    """Return the answers of each question, of each library, of each round."""
    contenders = {name: each for name, each in _CONTENDERS.items() if name not in arguments.without and _holds(each)}
    names = list(contenders)
    answers: dict[str, dict[str, list[Answer]]] = {question: {} for question in arguments.only}
    for i in range(arguments.rounds):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            print(f"-- round {i + 1}: {name}", file=sys.stderr, flush=True)
            for question, answer in _ask(name, contenders[name], folder, arguments.only).items():
                answers[question].setdefault(name, []).append(answer)
    return answers


def main() -> None:
    """Write the tables, ask, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=_QUESTIONS, default=list(_QUESTIONS))
    parser.add_argument("--without", nargs="+", choices=_CONTENDERS, default=[])
    parser.add_argument("--folder", type=Path, help="where the tables are, or are to be, for the next run as well")
    arguments, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as made:
        folder = arguments.folder or Path(made)
        if not (folder / "many.parquet").exists():
            folder.mkdir(parents=True, exist_ok=True)
            write = [sys.executable, str(_FOLDER / "data.py"), str(arguments.rows), str(folder)]
            subprocess.run(write, check=True)
        answers: Any = _measured(arguments, folder)
    answers = {question: given for question, given in answers.items() if _OURS[0] in given}
    rows: list[Row] = []
    for question, given in answers.items():
        _check(question, given)
        rows += _rows(question, given)
    rows += _half(rows, "Polars")
    rows.append(_memory(answers))
    sys.argv[1:] = rest
    deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
