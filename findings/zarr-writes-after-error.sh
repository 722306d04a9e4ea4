#!/bin/sh
# Guess: once `array[:] = values` of a Zarr array has raised, nothing of it is under way any more, so the caller may remove the
# store, or use what it holds room for.
#
# Seen: zarr 3 writes its chunks as tasks of an event loop in another thread. The first that fails raises in the caller; the
# others are neither cancelled nor waited for. They go on after the exception, and make the folders of their chunks anew
# where the caller has removed the store.
#
#   raised IsADirectoryError
#   removed, then more than a thousand of 3000 chunks are there: True
#   is it a store: False
#
# Versions: zarr 3.1.6 with Python 3.11, zarr 3.4.2 with Python 3.12; numpy 2.4.6. The first runs here.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet zarr==3.1.6 numpy==2.4.6
cat >"$folder/goes_on.py" <<'PROGRAM'
import os
import shutil
import sys
import time

import numpy as np
import zarr

store = os.path.join(sys.argv[1], "a.zarr")
array = zarr.create_array(store, shape=(3000,), chunks=(1,), dtype="i4")
os.makedirs(os.path.join(store, "c", "3", "taken"))  # where the fourth chunk's file belongs
try:
    array[:] = np.ones(3000, "i4")
except OSError as error:
    print("raised", type(error).__name__)
shutil.rmtree(store, ignore_errors=True)
time.sleep(5)
chunks = sum(len(files) for _, _, files in os.walk(store))
print("removed, then more than a thousand of 3000 chunks are there:", chunks > 1000)
print("is it a store:", os.path.exists(os.path.join(store, "zarr.json")))
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
raised IsADirectoryError
removed, then more than a thousand of 3000 chunks are there: True
is it a store: False
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/goes_on.py" "$folder" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
