#!/bin/sh
# Guess: numeric_only=True decides by what a column holds: truths are numbers in every dtype of pandas, or in none.
#
# Seen: means of groups keep columns of bool and of boolean, and leave out bool[pyarrow] without a word, so that reading the same file
# with dtype_backend="pyarrow" loses a column of the answer.
#
#   bool ['paid', 'price']
#   boolean ['paid', 'price']
#   bool[pyarrow] ['price']
#
# Versions: pandas 3.1.1, pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pandas==3.1.1 pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import pandas as pd

for dtype in ("bool", "boolean", "bool[pyarrow]"):
    frame = pd.DataFrame({"key": [1, 1], "paid": pd.array([True, False], dtype), "price": [1, 2]})
    print(dtype, frame.groupby("key").mean(numeric_only=True).columns.tolist())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
bool ['paid', 'price']
boolean ['paid', 'price']
bool[pyarrow] ['price']
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
