#!/bin/sh
# Guess: which groups there are does not depend on the statistic: rows whose key is missing are left out by default, as pandas does, by
# the sum, the count and the mean.
#
# Seen: the method mean keeps a group of the missing key; sum, count and agg of "mean" do not. Means divided out by hand therefore have
# fewer groups than those that mean gives.
#
#   pandas 2 [5, 3]
#   pandas 2 [2, 1]
#   pandas 2 [2.5, 3.0]
#   pandas 2 [2.5, 3.0]
#   dask 2 [5, 3]
#   dask 2 [2, 1]
#   dask 2 [2.5, 3.0]
#   dask 3 [2.5, 3.0, 3.5]
#
# Versions: Dask 2026.8.0, pandas 3.1.1, pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet "dask[dataframe]==2026.8.0" pandas==3.1.1 pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import dask.dataframe as dd
import pandas as pd

frame = pd.DataFrame({"key": ["a", None, "b", "a", None], "x": [1, 2, 3, 4, 5]})
for name, groups in (("pandas", frame.groupby("key")["x"]), ("dask", dd.from_pandas(frame, npartitions=2).groupby("key")["x"])):
    for statistic in (groups.sum(), groups.count(), groups.agg("mean"), groups.mean()):
        found = statistic.compute() if name == "dask" else statistic
        print(name, len(found), found.tolist())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
pandas 2 [5, 3]
pandas 2 [2, 1]
pandas 2 [2.5, 3.0]
pandas 2 [2.5, 3.0]
dask 2 [5, 3]
dask 2 [2, 1]
dask 2 [2.5, 3.0]
dask 3 [2.5, 3.0, 3.5]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
