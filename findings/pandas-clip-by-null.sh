#!/bin/sh
# Guess: Series.clip takes a series of bounds, and has no bound where one is missing, as its documentation says of NaN; with the dtypes of
# pandas that have a missing value of their own, NA is that.
#
# Seen: float64 with NaN does so. int64[pyarrow] raises ArrowInvalid about -inf, Int64 raises TypeError, and Float64 clips.
#
#   float64 [1.0, 2.0, 4.0]
#   Float64 [1.0, 2.0, 4.0]
#   Int64 TypeError
#   int64[pyarrow] ArrowInvalid
#   double[pyarrow] [1.0, 2.0, 4.0]
#
# Versions: pandas 3.1.1, pyarrow 26.0.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pandas==3.1.1 pyarrow==26.0.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import pandas as pd

for dtype in ("float64", "Float64", "Int64", "int64[pyarrow]", "double[pyarrow]"):
    values, lower = pd.Series([1, 2, 3], dtype=dtype), pd.Series([0, None, 4], dtype=dtype)
    try:
        print(dtype, values.clip(lower=lower).tolist())
    except Exception as error:
        print(dtype, type(error).__name__)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
float64 [1.0, 2.0, 4.0]
Float64 [1.0, 2.0, 4.0]
Int64 TypeError
int64[pyarrow] ArrowInvalid
double[pyarrow] [1.0, 2.0, 4.0]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
