#!/bin/sh
# Guess: a scan of a snapshot that a table does not have fails when its files are planned, which is the first thing that looks for it.
#
# Seen: plan_files gives no files; projection and to_arrow of the same scan raise. Whoever deals out planned files to workers reads an
# empty table.
#
#   1 0
#   Snapshot not found: 5
#
# Versions: pyiceberg 0.12.0, pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet "pyiceberg[sql-sqlite]==0.12.0" pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import tempfile

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

with tempfile.TemporaryDirectory() as folder:
    catalog = SqlCatalog("c", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("n")
    data = pa.table({"v": [1, 2]})
    table = catalog.create_table("n.t", schema=data.schema)
    table.append(data)
    print(len(list(table.scan().plan_files())), len(list(table.scan(snapshot_id=5).plan_files())))
    try:
        table.scan(snapshot_id=5).to_arrow()
    except ValueError as error:
        print(error)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
1 0
Snapshot not found: 5
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
