#!/bin/sh
# Guess: groupby(...).shift(fill_value=) puts the value in the first rows of each group. A row whose key is missing belongs to no group, and
# has a missing value, as without fill_value.
#
# Seen: Rows of no group have the fill value too, and look like the first of a group.
#
#   [nan, nan, 1.0]
#   [9, 9, 1]
#
# Versions: pandas 3.1.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pandas==3.1.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import pandas as pd

df = pd.DataFrame({"k": ["a", None, "a"], "x": [1, 2, 3]})
print(df.groupby("k")["x"].shift(1).tolist())
print(df.groupby("k")["x"].shift(1, fill_value=9).tolist())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
[nan, nan, 1.0]
[9, 9, 1]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
