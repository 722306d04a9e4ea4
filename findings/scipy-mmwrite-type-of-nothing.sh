#!/bin/sh
# Guess: scipy.io.mmwrite writes the type of a sparse array into the header, whether or not anything is stored, so what mmread returns
# has that type again.
#
# Seen: of an array that stores nothing, the header says real for complex numbers and for integers. A program that writes each
# part of a divided matrix, or reads its types from a first file, gets floats.
#
#   complex128 stored: 1 header: complex read: complex128
#   complex128 stored: 0 header: real read: float64
#   int64 stored: 1 header: integer read: int64
#   int64 stored: 0 header: real read: float64
#
# Versions: SciPy 1.17.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1
cat >"$folder/program.py" <<'PROGRAM'
import io

import numpy as np
import scipy.io
import scipy.sparse

for dtype in (np.complex128, np.int64):
    for stored in (1, 0):
        whole = np.zeros((2, 2), dtype)
        whole[0, 1] = stored
        file = io.BytesIO()
        scipy.io.mmwrite(file, scipy.sparse.coo_array(whole))
        header = file.getvalue().splitlines()[0].decode().split()[3]
        print(np.dtype(dtype).name, "stored:", stored, "header:", header, "read:", scipy.io.mmread(io.BytesIO(file.getvalue())).dtype)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
complex128 stored: 1 header: complex read: complex128
complex128 stored: 0 header: real read: float64
int64 stored: 1 header: integer read: int64
int64 stored: 0 header: real read: float64
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
