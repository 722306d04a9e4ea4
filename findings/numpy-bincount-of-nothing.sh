#!/bin/sh
# Guess: np.bincount with float weights returns floats, however many elements there are, as np.histogram with weights does.
#
# Seen: of no elements, it returns int64, also where minlength asks for bins. Parts of which one is empty then have different dtypes:
# Arrow refuses to put their tables together, and what divides in place (sums /= counts) raises for the empty part alone.
#
#   3 elements: float64 histogram: float64
#   0 elements: int64 histogram: float64
#   Schema at index 1
#
# Versions: NumPy 2.4.6, pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6 pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np
import pyarrow as pa

tables = []
for n in (3, 0):
    places, weights = np.arange(n), np.ones(n) / 2
    sums = np.bincount(places, weights, minlength=2)
    print(n, "elements:", sums.dtype, "histogram:", np.histogram(places, 2, (0, 2), weights=weights)[0].dtype)
    tables.append(pa.table({"sum": sums}))
try:
    pa.concat_tables(tables)
except pa.ArrowInvalid as error:
    print(str(error).split(" was")[0])
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
3 elements: float64 histogram: float64
0 elements: int64 histogram: float64
Schema at index 1
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
