"""Run all benchmarks, one after the other, and write benchmarks/RESULTS.md.

Run by an environment that holds DTL, mpi4py and Open MPI; one beside it named .venv-mpich adds MPICH's table, and one
named .venv-heat, which holds Heat, Dask, mpi4py and Open MPI, the table beside Heat; one named .venv-cores, which holds
what requirements-cores.txt lists, that of one rank on all cores; and one named .venv-dask, which holds Dask, its
columns and what disk.py stands beside. Those of .venv-tables and .venv-bodo hold what benchmarks/tables stands beside,
and those of .venv-petsc and .venv-graphs what sparse_peers.py stands beside.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, Sequence

import machine
from rows import Row, read, verdict

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent
_RESULTS = _HERE / "RESULTS.md"
_SIMULATED = _ROOT / "python" / "tests" / "hosts" / "simulated.py"

#: The longest that a part may take, in seconds.
_LIMIT = 3600


class Section(NamedTuple):
    """A table of the results and the program behind it. One that starts its ranks by itself has none here."""

    title: str
    program: str
    ranks: int
    mpi: bool
    peer: str = ""  # the environment that holds what it stands beside
    hosts: str = ""  # simulated ones, as `dtl run --hosts` names them; without ranks
    variables: Sequence[tuple[str, str]] = ()
    link: Sequence[str] = ()  # how simulated.py makes the one between the hosts


#: Ranks that share no memory.
_APART = (("DTL_SHARED_MEMORY", "0"),)

#: One core for all that a rank computes.
_ONE_THREAD = (("DTL_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "1"))

_HOSTS = "nodeA:2,nodeB:2"

#: Lets ranks share processors that two hosts would have for themselves. And Open MPI's collective calls in two levels.
_SHARING = (
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ("MPIR_CVAR_POLLS_BEFORE_YIELD", "10"),
    ("PRTE_MCA_hwloc_default_binding_policy", "none"),
)
_SLOW = ("--rate", "1gbit")
_TWO_LEVELS = (*_SHARING, ("OMPI_MCA_coll_han_priority", "100"))

_SECTIONS = (
    Section("Start", "start.py", 0, False),
    Section("Start on two ranks", "start_ranks.py", 0, True),
    Section("Ranks from a program without any", "launch.py", 0, True),
    Section("Ranks without MPI, beside MPI", "local.py", 0, False),
    Section("Memory", "pages.py", 0, False),
    Section("Calls on one rank", "calls.py", 0, False),
    Section("Calls on two ranks", "calls.py", 2, True),
    Section("Calls on 2 ranks, by their bytes", "many.py", 2, False),
    *[Section(f"Calls on {n} ranks on two cores", "many.py", n, False) for n in (4, 8, 16)],
    Section("Calls on 2 ranks without shared memory", "many.py", 2, False, variables=_APART),
    *[Section(f"Calls on {n} ranks without shared memory", "many.py", n, False, variables=_APART) for n in (4, 8)],
    Section("Two simulated hosts, 2 + 2 ranks", "hosts.py", 0, True, hosts=_HOSTS, variables=_SHARING),
    Section("Two simulated hosts, mpi4py in two levels", "hosts.py", 0, False, hosts=_HOSTS, variables=_TWO_LEVELS),
    Section(
        "Two simulated hosts, a link of 1 Gbit/s", "hosts.py", 0, True, hosts=_HOSTS, variables=_SHARING, link=_SLOW
    ),
    Section("What 16 ranks look at", "looks.py", 16, False),
    Section("What 64 ranks look at", "looks.py", 64, False),
    Section("Transfers between two ranks", "transfers.py", 2, True),
    Section("Computation beside communication, on two ranks", "overlap.py", 2, True),
    Section("Progress of what is under way, on two ranks", "progress.py", 2, True),
    Section("One-sided access on two ranks", "rma.py", 2, True),
    Section("Redistribution and access on two ranks", "moves.py", 2, True),
    Section("Numbers on one rank", "folds.py", 0, False),
    Section("Numbers on two ranks", "folds.py", 2, True),
    Section("Arrays on one rank", "arrays.py", 0, False),
    Section("Small containers on one rank", "small.py", 0, False),
    Section("Arrays on two ranks", "arrays.py", 2, True),
    Section("Arrays on four ranks on two cores", "arrays.py", 4, False),
    Section("Everyday calls on one rank", "wide.py", 0, False),
    Section("Everyday calls on one rank with one thread", "wide.py", 0, False, variables=_ONE_THREAD),
    Section("Everyday calls on two ranks", "wide.py", 2, True),
    Section("Matrices on one rank", "matrices.py", 0, False),
    Section("Matrices on two ranks", "matrices.py", 2, True),
    Section("Sparse matrices on one rank", "sparse_matrices.py", 0, False, variables=_ONE_THREAD),
    Section("Sparse matrices on two ranks", "sparse_matrices.py", 2, False, variables=_ONE_THREAD),
    Section("Sparse matrices beside PETSc, NetworKit and igraph", "sparse_peers.py", 0, False),
    Section("Sorts on one rank", "sorts.py", 0, False),
    Section("Sorts on two ranks", "sorts.py", 2, True),
    Section("One rank on all cores", "cores.py", 0, False, peer=".venv-cores"),
    Section("Scaling", "scaling.py", 0, False),
    Section("Beside Heat on two ranks", "peers.py", 2, False, peer=".venv-heat"),
    Section("Futures on one rank", "futures.py", 0, False),
    Section("Halo exchange on two ranks", "halos.py", 2, True),
    Section("Exchanges of neighbours on two ranks", "neighbours.py", 2, True),
    Section("Maps on two ranks", "maps.py", 2, True),
    Section("Files on two ranks", "files.py", 2, True),
    Section("A first hour", "first_hour.py", 0, False),
    Section("Tables", "tables.py", 0, False),
    Section("Larger than memory", "disk.py", 0, False),
    Section("Leaks", "leaks.py", 0, False),
)


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


def _measure(python: Path, section: Section) -> list[Row]:
    """Run a part, under the launcher where it has ranks, and return its rows."""
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder) / "rows.json"
        command = [str(python)]
        if section.hosts:
            command += [str(_SIMULATED), *section.link, str(python), "-m", "dtl", "run", "--hosts", section.hosts]
        elif section.ranks:
            command += ["-m", "dtl", "run", "-n", str(section.ranks)]
        command += [str(_HERE / section.program), "--json", str(into)]
        print(f"-- {python}: {section.title}", flush=True)
        sources = {"PYTHONPATH": str(_ROOT / "python")} if section.peer else {}
        variables = {**os.environ, **sources, **dict(section.variables)}
        subprocess.run(command, check=True, cwd=folder, timeout=_LIMIT, env=variables)
        return read(into)


def _table(rows: Sequence[Row]) -> list[str]:
    lines = ["| Measure | Target | Result | | |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        cells = (row.measure, row.target, row.result, verdict(row), row.detail)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


def _section(python: Path, section: Section) -> str:
    when = f"Measured on {time.strftime('%Y-%m-%d')}, at a load of {os.getloadavg()[0]:.1f}."
    return "\n".join([when, "", *_table(_measure(python, section)), ""])


def _known() -> dict[str, str]:
    """Return the parts of the file by their titles."""
    parts = _RESULTS.read_text().split("\n## ")[1:] if _RESULTS.exists() else []
    return {title: text.strip("\n") + "\n" for title, text in (part.split("\n", 1) for part in parts)}


def _head(environments: Sequence[Path]) -> list[str]:
    facts = machine.describe()
    facts += [(f"Versions in {e.name}", machine.versions(_python(e))) for e in environments]
    return [
        "# Results",
        "",
        "Written by `make bench`, which runs `benchmarks/run.py`. A ratio is the median over blocks that",
        "alternate in one process, with the smallest and largest in parentheses; the verdict rests on the",
        "median. Times are those of the fastest block: they belong to this machine and moment. Parts that do",
        "not say when they were measured are of an earlier version.",
        "",
        *[f"- {name}: {value}" for name, value in facts],
        "",
    ]


def main() -> None:
    """Measure everything, or the programs that the command line names, and write the file after each part."""
    environments = [Path(sys.prefix)]
    mpich = _ROOT / ".venv-mpich"
    if _python(mpich).exists():
        environments.append(mpich)
    plan = [(s, _ROOT / s.peer if s.peer else environments[0], s.title) for s in _SECTIONS]
    plan += [(s, e, f"{s.title}, MPICH") for e in environments[1:] for s in _SECTIONS if s.mpi]
    head, known = _head(environments), _known()
    for section, environment, title in plan:
        if (sys.argv[1:] and section.program not in sys.argv[1:]) or not _python(environment).exists():
            continue
        if section.hosts and os.geteuid():
            print(f"-- {title}: left out: only root can simulate hosts")
            continue
        known[title] = _section(_python(environment), section)
        parts = [f"## {title}\n\n{known[title]}" for _, _, title in plan if title in known]
        _RESULTS.write_text("\n".join([*head, *parts]))
    print(_RESULTS.read_text())


if __name__ == "__main__":
    main()
