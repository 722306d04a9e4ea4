#!/bin/sh
# Guess: a csr_array takes the subscripts of two dimensions that NumPy takes, and a list of rows with a slice of columns works whatever
# the slice's step is.
#
# Seen: with a step other than 1 it raises ValueError of a reshape, though the list alone, the slice alone, and both one after the other
# work.
#
#   step 1: [[0.0, 1.0], [5.0, 6.0]]
#   after each other: [[0.0, 2.0, 4.0], [5.0, 7.0, 9.0]]
#   NumPy: [[0.0, 2.0, 4.0], [5.0, 7.0, 9.0]]
#   step 2: cannot reshape array of size 2 into shape (2,3)
#
# Versions: SciPy 1.17.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np
import scipy.sparse

whole = np.arange(20.0).reshape(4, 5)
a = scipy.sparse.csr_array(whole)
print("step 1:", a[[0, 1], 0:2].toarray().tolist())
print("after each other:", a[[0, 1]][:, ::2].toarray().tolist())
print("NumPy:", whole[[0, 1], ::2].tolist())
try:
    a[[0, 1], ::2]
except ValueError as error:
    print("step 2:", error)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
step 1: [[0.0, 1.0], [5.0, 6.0]]
after each other: [[0.0, 2.0, 4.0], [5.0, 7.0, 9.0]]
NumPy: [[0.0, 2.0, 4.0], [5.0, 7.0, 9.0]]
step 2: cannot reshape array of size 2 into shape (2,3)
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
