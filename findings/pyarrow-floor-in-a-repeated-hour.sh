#!/bin/sh
# Guess: floor_temporal of a time with a zone cannot fail for minutes: the instant is known, and its minute begins at one instant.
#
# Seen: in the hour that a clock shows twice it raises, for any unit, because it computes with local times and asks again which of two
# instants one is. Floors in UTC work.
#
#   0 UTC [1698539400]
#   0 Europe/Berlin Local time is ambiguous
#   3 UTC [1698550200]
#   3 Europe/Berlin [1698550200]
#
# Versions: pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
from datetime import datetime, timezone

import pyarrow as pa
import pyarrow.compute as pc

for hour in (0, 3):
    instant = datetime(2023, 10, 29, hour, 30, 5, tzinfo=timezone.utc)
    for zone in ("UTC", "Europe/Berlin"):
        try:
            found = pc.floor_temporal(pa.array([instant], pa.timestamp("s", zone)), unit="minute")
            print(hour, zone, found.cast(pa.int64()).to_pylist())
        except pa.ArrowInvalid as error:
            print(hour, zone, str(error).split(":")[0])
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
0 UTC [1698539400]
0 Europe/Berlin Local time is ambiguous
3 UTC [1698550200]
3 Europe/Berlin [1698550200]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
