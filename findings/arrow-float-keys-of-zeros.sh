#!/bin/sh
# Guess: 0.0 and -0.0 are one key of a join and of groups, since they are equal, and all NaN are one group; pandas does so, and columns
# of Arrow's types change nothing about it.
#
# Seen: pandas' groups of Arrow's floats keep 0.0 and -0.0, and NaN of either sign, apart: four groups, where NumPy's floats have two. Its
# merge pairs the zeros with either type. pyarrow's own join does not pair them, and its groups are four, too.
#
#   NumPy 1 [3, 7]
#   Arrow 1 [1, 2, 3, 4]
#   pyarrow 0 4
#
# Versions: pyarrow 26.0.1, pandas 3.1.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pyarrow==26.0.1 pandas==3.1.1
cat >"$folder/program.py" <<'PROGRAM'
import pandas as pd
import pyarrow as pa

zeros, negative = pa.table({"k": [0.0], "a": [4]}), pa.table({"k": [-0.0], "b": [30]})
keys = pa.table({"k": [0.0, -0.0, float("nan"), -float("nan")], "a": [1, 2, 3, 4]})
for name, options in (("NumPy", {}), ("Arrow", {"types_mapper": pd.ArrowDtype})):
    left, right, many = (table.to_pandas(**options) for table in (zeros, negative, keys))
    print(name, len(left.merge(right)), many.groupby("k", dropna=False)["a"].sum().tolist())
joined = zeros.join(negative, "k", join_type="inner")
print("pyarrow", len(joined), len(keys.group_by("k").aggregate([("a", "sum")])))
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
NumPy 1 [3, 7]
Arrow 1 [1, 2, 3, 4]
pyarrow 0 4
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
