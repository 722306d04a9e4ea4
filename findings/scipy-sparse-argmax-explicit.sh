#!/bin/sh
# Guess: argmax(explicit=True) of a sparse array returns the place of the greatest stored element, as argmax does of the greatest of all:
# a number that counts row by row.
#
# Seen: without an axis it returns which of the stored elements it is, counted among these alone; with an axis, the row or column, as
# without explicit. Both are integers in the same range, so that nothing tells.
#
#   place of -1 in the array 4
#   explicit 1
#   of rows [2 1]
#   of all, a greater one stored 1
#
# Versions: SciPy 1.17.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet scipy==1.17.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np
from scipy.sparse import csr_array

values = np.array([[0.0, 0.0, -2.0], [0.0, -1.0, 0.0]])
matrix = csr_array(values)
print("place of -1 in the array", np.flatnonzero(values == -1)[0])
print("explicit", matrix.argmax(explicit=True))
print("of rows", matrix.argmax(axis=1, explicit=True))
print("of all, a greater one stored", csr_array(values + 3 * np.eye(2, 3, 1)).argmax())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
place of -1 in the array 4
explicit 1
of rows [2 1]
of all, a greater one stored 1
OUTPUT
"$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
diff "$folder/expected" "$folder/seen"
