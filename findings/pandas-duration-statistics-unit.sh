#!/bin/sh
# Guess: the mean and the standard deviation of durations do not depend on the unit that they are stored in, or the result has a finer
# unit where it needs one.
#
# Seen: results are cut to the unit of the column: seconds that came from a file or from NumPy lose half a second of the mean and a
# third of the deviation. Since pandas 3 keeps the unit it is given, that is what reading gives.
#
#   s [2.0, 2.0, 1.0]
#   ms [2.333, 2.333, 1.527]
#   ns [2.333, 2.333, 1.528]
#
# Versions: pandas 3.1.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pandas==3.1.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np
import pandas as pd

for unit in ("s", "ms", "ns"):
    waits = pd.DataFrame({"key": [1, 1, 1], "wait": np.array([1, 2, 4], "m8[s]").astype(f"m8[{unit}]")})
    group = waits.groupby("key")["wait"]
    seconds = [x.total_seconds() for x in (waits["wait"].mean(), group.mean().iloc[0], group.std().iloc[0])]
    print(unit, [round(x, 3) for x in seconds])
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
s [2.0, 2.0, 1.0]
ms [2.333, 2.333, 1.527]
ns [2.333, 2.333, 1.528]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
