#!/bin/sh
# Guess: dt.round gives the same times whichever dtype of pandas holds them.
#
# Seen: a time in the middle goes to the even hour where NumPy's dtype holds it, and up where Arrow's does, as polars has it. Joins by
# rounded times therefore differ after reading with dtype_backend="pyarrow".
#
#   datetime64[us] ['02:00:00', '02:00:00']
#   timestamp[us][pyarrow] ['02:00:00', '03:00:00']
#   polars ['02:00:00', '03:00:00']
#
# Versions: pandas 3.1.1, pyarrow 26.0.1, polars 2.1.0, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pandas==3.1.1 pyarrow==26.0.1 polars==2.1.0
cat >"$folder/program.py" <<'PROGRAM'
from datetime import datetime

import pandas as pd
import polars as pl

times = [datetime(2024, 1, 1, 1, 30), datetime(2024, 1, 1, 2, 30)]
for dtype in ("datetime64[us]", "timestamp[us][pyarrow]"):
    print(dtype, [str(t.time()) for t in pd.Series(times, dtype=dtype).dt.round("h")])
print("polars", [str(t.time()) for t in pl.Series(times).dt.round("1h")])
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
datetime64[us] ['02:00:00', '02:00:00']
timestamp[us][pyarrow] ['02:00:00', '03:00:00']
polars ['02:00:00', '03:00:00']
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
