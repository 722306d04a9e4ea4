#!/bin/sh
# Guess: argmax of a sparse array with NaN is the place of the first NaN, as NumPy's of the same dense array, since its max is NaN, too.
#
# Seen: so it is of a row or column without implicit zeros. Where there are some, argmax returns the place of the first implicit zero,
# although a larger value is stored and max() returns nan; argmin likewise, although smaller values are stored.
#
#   dense 0 0 nan
#   sparse 2 2 nan
#   rows [0 0] [2 0]
#   without zeros 1 1
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

values = np.array([[np.nan, -1.0, 0.0], [2.0, 0.0, 0.0]])
matrix = csr_array(values)
print("dense", values.argmax(), values.argmin(), values.max())
print("sparse", matrix.argmax(), matrix.argmin(), matrix.max())
print("rows", values.argmax(axis=1), matrix.argmax(axis=1))
full = np.array([[1.0, np.nan, 3.0]])
print("without zeros", full.argmax(), csr_array(full).argmax())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
dense 0 0 nan
sparse 2 2 nan
rows [0 0] [2 0]
without zeros 1 1
OUTPUT
"$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
diff "$folder/expected" "$folder/seen"
