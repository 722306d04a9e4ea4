#!/bin/sh
# Guess: the schema of a query's result does not depend on whether there are rows; SQLite tells the declared types of columns.
#
# Seen: a result without rows has int64 for every column, texts and blobs as well, so that parts of one query, such as ranges of a key,
# do not go together when one of them is empty.
#
#   1 ['int64', 'string', 'binary']
#   0 ['int64', 'int64', 'int64']
#
# Versions: adbc-driver-sqlite 1.13.0, pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet adbc-driver-sqlite==1.13.0 adbc-driver-manager==1.13.0 pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import adbc_driver_sqlite.dbapi as sqlite

with sqlite.connect() as connection, connection.cursor() as cursor:
    cursor.execute("CREATE TABLE t (k INTEGER, name TEXT, body BLOB)")
    cursor.execute("INSERT INTO t VALUES (1, 'a', x'00')")
    for condition in ("k > 0", "k < 0"):
        cursor.execute(f"SELECT * FROM t WHERE {condition}")
        found = cursor.fetch_arrow_table()
        print(found.num_rows, [str(kind) for kind in found.schema.types])
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
1 ['int64', 'string', 'binary']
0 ['int64', 'int64', 'int64']
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
