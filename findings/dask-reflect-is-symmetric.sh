#!/bin/sh
# Guess: boundary="reflect" of dask.array's overlap is what mode="reflect" of np.pad is, whose name it has.
#
# Seen: Dask repeats the element at the end, which is NumPy's mode "symmetric". NumPy's "reflect" leaves it out.
#
#   dask reflect [1.0, 0.0, 0.0]
#   numpy reflect [2.0, 1.0, 0.0]
#   numpy symmetric [1.0, 0.0, 0.0]
#
# Versions: dask 2026.8.0, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6 'dask[array]==2026.8.0'
cat >"$folder/program.py" <<'PROGRAM'
import dask.array as da
import numpy as np

numbers = np.arange(6.0)
halo = da.overlap.overlap(da.from_array(numbers, chunks=3), depth=2, boundary="reflect")
print("dask reflect", np.asarray(halo.blocks[0])[:3].tolist())
for mode in ("reflect", "symmetric"):
    print("numpy", mode, np.pad(numbers, 2, mode=mode)[:3].tolist())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
dask reflect [1.0, 0.0, 0.0]
numpy reflect [2.0, 1.0, 0.0]
numpy symmetric [1.0, 0.0, 0.0]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
