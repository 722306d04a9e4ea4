#!/bin/sh
# Guess: a table that polars writes as CSV has the same number of rows where pandas and pyarrow read it. All of them write and
# read missing values as empty fields.
#
# Seen: in a table of one column, polars writes a missing value as an empty line. polars reads it back; pandas and pyarrow skip
# empty lines, and so the row is lost.
#
#   'a\n1\n\n3\n'
#   polars [1, None, 3], pandas [1, 3], pyarrow [1, 3]
#
# Versions: polars 2.1.0, pandas 3.1.1, pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet polars==2.1.0 pandas==3.1.1 pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import io

import pandas as pd
import polars as pl
import pyarrow.csv as csv

text = pl.DataFrame({"a": [1, None, 3]}).write_csv()
print(repr(text))
one, other = pl.read_csv(io.StringIO(text))["a"].to_list(), pd.read_csv(io.StringIO(text))["a"].tolist()
print(f"polars {one}, pandas {other}, pyarrow {csv.read_csv(io.BytesIO(text.encode()))['a'].to_pylist()}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
'a\n1\n\n3\n'
polars [1, None, 3], pandas [1, 3], pyarrow [1, 3]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
