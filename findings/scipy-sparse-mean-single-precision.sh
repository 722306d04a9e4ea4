#!/bin/sh
# Guess: the mean of a column of a sparse array is its sum divided by the number of rows, so it is as exact as the sum, and the mean
# of a column of equal float32 is that number but for its last digits.
#
# Seen: mean(axis=...) multiplies each element by 1/n first, and adds the products one after the other in single precision: of 2
# million elements of 0.1, the mean of the row or the column is 0.1007. sum(axis=1) adds pairwise, and misses 0.1 n by
# nothing that shows; sum(axis=0) of the column adds one after the other, too (0.0985 n); the mean of all is right. None warns.
#
#   row:    mean 0.1007 sum / n 0.1000 mean of all 0.1000
#   column: mean 0.1007 sum / n 0.0985 mean of all 0.1000
#   NumPy:  mean 0.1000
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

n = 2_000_000
row = scipy.sparse.csr_array(np.full((1, n), 0.1, np.float32))
column = scipy.sparse.csr_array(np.full((n, 1), 0.1, np.float32))
print("row:    mean", f"{row.mean(axis=1)[0]:.4f}", "sum / n", f"{row.sum(axis=1)[0] / n:.4f}", "mean of all", f"{row.mean():.4f}")
print("column: mean", f"{column.mean(axis=0)[0]:.4f}", "sum / n", f"{column.sum(axis=0)[0] / n:.4f}", "mean of all", f"{column.mean():.4f}")
print("NumPy:  mean", f"{column.toarray()[:, 0].mean():.4f}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
row:    mean 0.1007 sum / n 0.1000 mean of all 0.1000
column: mean 0.1007 sum / n 0.0985 mean of all 0.1000
NumPy:  mean 0.1000
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
