#!/bin/sh
# Guess: a sparse array divided by zero is infinite where elements are stored, with a warning, as NumPy's arrays and as the same call with
# a zero of NumPy's.
#
# Seen: it depends on whose number the zero is. With Python's 0 or 0.0 the call raises ZeroDivisionError, for floats, too; with NumPy's it
# gives inf. The reciprocal is computed first, in the type of the number.
#
#   0 ZeroDivisionError
#   0.0 ZeroDivisionError
#   np.int64(0) [[inf, 0.0]]
#   np.float64(0.0) [[inf, 0.0]]
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

matrix = csr_array(np.array([[4.0, 0.0]]))
for zero in (0, 0.0, np.int64(0), np.float64(0)):
    try:
        with np.errstate(divide="ignore"):
            print(repr(zero), (matrix / zero).toarray().tolist())
    except ZeroDivisionError as error:
        print(repr(zero), type(error).__name__)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
0 ZeroDivisionError
0.0 ZeroDivisionError
np.int64(0) [[inf, 0.0]]
np.float64(0.0) [[inf, 0.0]]
OUTPUT
"$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
diff "$folder/expected" "$folder/seen"
