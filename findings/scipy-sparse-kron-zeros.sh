#!/bin/sh
# Guess: kron of two sparse arrays stores the products of what they store, of the type that these have, and nothing else.
#
# Seen: where at least half of the second is stored, the result has dense blocks, with zeros that are stored, and format "bsr"; nnz is
# twice as large here. Where one stores nothing, the result is of float64, whatever both are.
#
#   identity of 2: 16 stored of 8 bsr float32
#   identity of 4: 16 stored of 16 coo float32
#   nothing stored: float64
#
# Versions: SciPy 1.17.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet scipy==1.17.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np
from scipy.sparse import csr_array, eye_array, kron

ones = csr_array(np.ones((2, 2), np.float32))
for size in (2, 4):
    made = kron(ones, eye_array(size, dtype=np.float32))
    print(f"identity of {size}:", made.nnz, "stored of", made.count_nonzero(), made.format, made.dtype)
print("nothing stored:", kron(csr_array((2, 2), dtype=np.float32), ones).dtype)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
identity of 2: 16 stored of 8 bsr float32
identity of 4: 16 stored of 16 coo float32
nothing stored: float64
OUTPUT
"$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
diff "$folder/expected" "$folder/seen"
