#!/bin/sh
# Guess: x.isin([y]) is x == y, whatever library holds the column.
#
# Seen: -0.0 equals 0.0 in all of them, and is in [0.0] for NumPy's dtype and for polars, but not for Arrow's: is_in compares what a hash
# compares. A mask of == and one of isin then select other rows.
#
#   float64 True True
#   double[pyarrow] True False
#   polars True True
#
# Versions: pandas 3.1.1, pyarrow 26.0.1, polars 2.1.0, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0
cat >"$folder/program.py" <<'PROGRAM'
import pandas as pd
import polars as pl

for dtype in ("float64", "double[pyarrow]"):
    column = pd.Series([-0.0], dtype=dtype)
    print(dtype, bool((column == 0.0)[0]), bool(column.isin([0.0])[0]))
column = pl.Series([-0.0])
print("polars", (column == 0.0)[0], column.is_in([0.0])[0])
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
float64 True True
double[pyarrow] True False
polars True True
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
