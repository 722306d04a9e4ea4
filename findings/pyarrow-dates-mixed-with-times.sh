#!/bin/sh
# Guess: pa.array of values of several types takes what all of them fit in, or raises: a date beside a time becomes a time, and a number
# beside a time is refused.
#
# Seen: the first value decides. Times after a date lose their hours, and a number after a time becomes a time of 1970.
#
#   [datetime.date(2016, 1, 1), datetime.date(2015, 1, 1)]
#   [datetime.datetime(2015, 1, 1, 0, 0), datetime.datetime(1970, 1, 1, 0, 0, 0, 1)]
#
# Versions: pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
from datetime import date, datetime

import pyarrow as pa

print(pa.array([date(2016, 1, 1), datetime(2015, 1, 1, 5)]).to_pylist())
print(pa.array([datetime(2015, 1, 1), 1]).to_pylist())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
[datetime.date(2016, 1, 1), datetime.date(2015, 1, 1)]
[datetime.datetime(2015, 1, 1, 0, 0), datetime.datetime(1970, 1, 1, 0, 0, 0, 1)]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
