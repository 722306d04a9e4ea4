#!/bin/sh
# Guess: eigsh returns eigenvalues in one order, whatever the type of the matrix: the same Hermitian matrix, called complex, has the
# same result.
#
# Seen: of a real symmetric matrix they ascend, and of the same one with a complex type they descend. The documentation names no
# order, and code that takes the last one for the largest is right for one type alone.
#
#   float32 [28.0, 29.0, 30.0]
#   float64 [28.0, 29.0, 30.0]
#   complex64 [30.0, 29.0, 28.0]
#   complex128 [30.0, 29.0, 28.0]
#
# Versions: SciPy 1.17.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet scipy==1.17.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np
from scipy.sparse import diags_array
from scipy.sparse.linalg import eigsh

matrix = diags_array(np.arange(1.0, 31)).tocsr()
for dtype in (np.float32, np.float64, np.complex64, np.complex128):
    values = eigsh(matrix.astype(dtype), 3, v0=np.ones(30, dtype))[0]
    print(np.dtype(dtype).name, np.round(values).tolist())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
float32 [28.0, 29.0, 30.0]
float64 [28.0, 29.0, 30.0]
complex64 [30.0, 29.0, 28.0]
complex128 [30.0, 29.0, 28.0]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
