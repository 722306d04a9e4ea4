#!/bin/sh
# Guess: polars.from_arrow makes a DataFrame of everything that is a table in Arrow's terms: of a pyarrow.Table, and of what only
# has __arrow_c_stream__, as tables of pandas and DuckDB do.
#
# Seen: it makes a DataFrame of pyarrow's own table alone. Any other table becomes a Series of structs, also a DataFrame of
# pandas. polars.DataFrame takes them all.
#
#   pyarrow.Table: from_arrow DataFrame (2, 1), DataFrame DataFrame (2, 1)
#   stream:        from_arrow Series (2,),      DataFrame DataFrame (2, 1)
#   pandas:        from_arrow Series (2,),      DataFrame DataFrame (2, 1)
#
# Versions: polars 2.1.0, pandas 3.1.1, pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet polars==2.1.0 pandas==3.1.1 pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import pandas as pd
import polars as pl
import pyarrow as pa

table = pa.table({"a": [1, 2]})


class Stream:
    def __arrow_c_stream__(self, requested_schema=None):
        return table.__arrow_c_stream__(requested_schema)


for name, given in (("pyarrow.Table", table), ("stream", Stream()), ("pandas", pd.DataFrame({"a": [1, 2]}))):
    one, other = pl.from_arrow(given), pl.DataFrame(given)
    print(f"{name}: from_arrow {type(one).__name__} {one.shape}, DataFrame {type(other).__name__} {other.shape}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
pyarrow.Table: from_arrow DataFrame (2, 1), DataFrame DataFrame (2, 1)
stream: from_arrow Series (2,), DataFrame DataFrame (2, 1)
pandas: from_arrow Series (2,), DataFrame DataFrame (2, 1)
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
