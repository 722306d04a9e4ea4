#!/bin/sh
# Guess: A dataset that is neither chunked nor compressed lies in the file in one piece, so that its get_offset() and the file's path
# are enough for np.memmap, once the file is flushed.
#
# Seen: HDF5 gives such a dataset its place when something is written to it. Until then get_offset() is None, also in a file that was
# closed and opened again, and a read returns the fill value, of which the file has no byte. One element that is written makes the
# whole place.
#
#   created None False 0 3.0
#   written None True 8000 0.0
#   created None True 8000 3.0
#   written None True 8000 0.0
#
# Versions: h5py 3.16.0 with HDF5 2.0.0, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet h5py==3.16.0 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import os
import tempfile

import h5py
import numpy as np

path = os.path.join(tempfile.mkdtemp(), "a.h5")
with h5py.File(path, "w") as file:
    file.create_dataset("created", (1000,), "f8", fillvalue=3.0)
    file.create_dataset("written", data=np.zeros(1000))
for writes in (False, True):
    with h5py.File(path, "r+") as file:
        for name in ("created", "written"):
            data = file[name]
            print(name, data.chunks, data.id.get_offset() is not None, data.id.get_storage_size(), data[0])
        file["created"][5] = 4.0
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
created None False 0 3.0
written None True 8000 0.0
created None True 8000 3.0
written None True 8000 0.0
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
