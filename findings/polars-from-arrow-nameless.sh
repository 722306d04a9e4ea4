#!/bin/sh
# Guess: pl.from_arrow keeps the names of a table's columns, as pl.DataFrame keeps those of a dictionary.
#
# Seen: A column whose name is the empty text, as an index without a name has in CSV, is called column_ and its number. If there is a column
# of that name already, the call raises.
#
#   ['k', '']
#   ['k', 'column_1']
#   DuplicateError
#
# Versions: Polars 2.1.0, pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet polars==2.1.0 pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import polars as pl
import pyarrow as pa

print(pl.DataFrame({"k": [1], "": [2]}).columns)
print(pl.from_arrow(pa.table({"k": [1], "": [2]})).columns)
try:
    print(pl.from_arrow(pa.table({"column_1": [1], "": [2]})).columns)
except pl.exceptions.PolarsError as error:
    print(type(error).__name__)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
['k', '']
['k', 'column_1']
DuplicateError
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
