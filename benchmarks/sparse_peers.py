"""Sparse matrices beside PETSc on 1, 2 and 4 ranks, and graphs beside NetworKit and igraph.

Each library runs in a program of its own, in each of a few rounds, with the matrices that DTL has written, whose rows
are divided alike; what they find is compared. PETSc is that of an environment beside this one, .venv-petsc, which may
be made of Debian's python3-petsc4py by ``venv --system-site-packages``, with PETSC_DIR set if it does not find PETSc;
its matrices are of AIJ, the type for rows of any structure. NetworKit and igraph are those of .venv-graphs, which holds
what sparse_contenders/requirements.txt lists. They have one process, and NetworKit as many threads as there are cores.
Heat 1.8.0 has sparse matrices that it adds and multiplies element by element, but no product of one with a vector.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rows import Row, Times, at_most, deliver

_HERE = Path(__file__).resolve().parent
_FOLDER = _HERE / "sparse_contenders"
_ROUNDS = 3
_LIMIT = 1200
_RANKS = (1, 2, 4)
_DTL, _PETSC = "DTL", "PETSc"

_QUESTIONS = {
    "cube": "`A @ x`, cube, 2 M rows",
    "power": "`A @ x`, power law, 1 M rows, 20 M edges",
    "cg": "`cg` to 1e-8 with Jacobi, 2 M rows",
    "pagerank": "PageRank to 1e-10, 20 M edges",
    "components": "`connected_components`, 20 M edges",
}

#: Each rank has one thread.
_ONE_THREAD = {"DTL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

#: What starts Open MPI and MPICH as any user, on any number of processors.
_ANYHOW = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


class _Answer(NamedTuple):
    seconds: float
    found: float
    detail: str


def _python(environment: str) -> Path:
    return Path(sys.prefix).parent / environment / "bin" / "python"


def _holds(environment: str, module: str) -> bool:
    """Say whether an environment is there, and holds a module."""
    check = [str(_python(environment)), "-c", f"import {module}"]
    return _python(environment).exists() and subprocess.run(check, capture_output=True, check=False).returncode == 0


def _ask(command: list[str], variables: dict[str, str], folder: Path, questions: list[str]) -> dict[str, _Answer]:
    """Run a program, and return its answers."""
    given = [*command, str(folder), *questions]
    done = subprocess.run(
        given, env={**os.environ, **variables}, capture_output=True, text=True, timeout=_LIMIT, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(given)} ended with {done.returncode}:\n{done.stderr}")
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {each["question"]: _Answer(each["seconds"], each["found"], each["detail"]) for each in lines}


def _dtl(ranks: int) -> list[str]:
    started = ["-m", "dtl", "run", "-n", str(ranks)] if ranks > 1 else []
    return [sys.executable, *started, str(_FOLDER / "by_dtl.py")]


def _petsc(ranks: int) -> list[str]:
    own = _python(".venv-petsc").parent / "mpiexec"
    launcher = str(own) if own.exists() else shutil.which("mpiexec.openmpi") or shutil.which("mpiexec") or "mpiexec"
    return [launcher, "-n", str(ranks), str(_python(".venv-petsc")), str(_FOLDER / "by_petsc.py")]


def _compared(
    contenders: dict[str, tuple[list[str], dict[str, str]]],
    folder: Path,
    questions: list[str],
    on: str,
    bound: float,
) -> list[Row]:
    """Let libraries answer in turn, and return a row for each question and other library."""
    answers: dict[str, dict[str, list[_Answer]]] = {question: {} for question in questions}
    names = list(contenders)
    for i in range(_ROUNDS):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            for question, answer in _ask(*contenders[name], folder, questions).items():
                answers[question].setdefault(name, []).append(answer)
    rows = []
    for question, given in answers.items():
        times: Times = {name: [each.seconds for each in found] for name, found in given.items()}
        for name, found in given.items():
            np.testing.assert_allclose(found[0].found, given[_DTL][0].found, rtol=1e-6, err_msg=f"{question}: {name}")
            if name != _DTL:
                row = at_most(f"{_QUESTIONS[question]}, {on}", times, _DTL, name, bound)
                said = ", ".join(f"{each}: {given[each][0].detail}" for each in given if given[each][0].detail)
                rows.append(row._replace(detail=f"{row.detail}; {said}" if said else row.detail))
    return rows


def main() -> None:
    """Measure, and report."""
    rows: list[Row] = []
    ours = {**_ANYHOW, **_ONE_THREAD, "DTL_BACKEND": "local"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if _holds(".venv-petsc", "petsc4py"):
            for ranks in _RANKS:
                _ask(_dtl(ranks), ours, folder, ["write"])
                contenders = {_DTL: (_dtl(ranks), ours), _PETSC: (_petsc(ranks), {**_ANYHOW, **_ONE_THREAD})}
                shared = f" on {os.cpu_count()} cores" if ranks > (os.cpu_count() or 1) else ""
                on = f"{ranks} rank{'s' if ranks > 1 else ''}{shared}"
                rows += _compared(contenders, folder, ["cube", "power", "cg"], on, 1.1)
        _ask(_dtl(1), ours, folder, ["write"])
        others = {
            library: ([str(_python(".venv-graphs")), str(_FOLDER / program)], {})
            for library, program in (("NetworKit", "by_networkit.py"), ("igraph", "by_igraph.py"))
            if _holds(".venv-graphs", library.lower())
        }
        if others:
            questions = ["pagerank", "components"]
            rows += _compared({_DTL: (_dtl(2), ours), **others}, folder, questions, "2 ranks", 1.0)
    deliver(rows, __doc__ or "")


if __name__ == "__main__":
    main()
