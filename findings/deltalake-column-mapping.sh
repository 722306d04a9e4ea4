#!/bin/sh
# Guess: a reader of Delta tables reads a feature of the table or refuses it: that is what the versions of the protocol are for.
#
# Seen: of a table with column mapping, to_pyarrow_table gives columns of nulls, while the query engine of the same package gives the
# values. pyarrow's reader looks for the physical names that the mapping has replaced.
#
#   to_pyarrow_table {'v': [None, None]}
#   query {'v': [1, 2]}
#
# Versions: deltalake 1.6.6, pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet deltalake==1.6.6 pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import tempfile

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, write_deltalake

with tempfile.TemporaryDirectory() as folder:
    write_deltalake(folder, pa.table({"v": [1, 2]}), configuration={"delta.columnMapping.mode": "name"})
    table = DeltaTable(folder)
    print("to_pyarrow_table", table.to_pyarrow_table().to_pydict())
    rows = QueryBuilder().register("t", table).execute("select v from t")
    print("query", pa.table(rows).to_pydict())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
to_pyarrow_table {'v': [None, None]}
query {'v': [1, 2]}
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
