#!/bin/sh
# Guess: an external link of an HDF5 file is read from the file that it names, however h5py was given the file: by its path, or as
# a Python file object, as fsspec and open() give it.
#
# Seen: through a file object, the link is followed into the very file that it is in: a dataset of the same name there is read in
# place of the other file's, without an error, and .file.filename names the other file all the same.
#
#   by path:        [9.0, 9.0, 9.0] of other.h5
#   as file object: [0.0, 1.0, 2.0] of other.h5
#
# Versions: h5py 3.16.0 (HDF5 2.0.0), numpy 2.4.6, Python 3.11.
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

os.chdir(tempfile.mkdtemp(dir=os.path.dirname(os.path.abspath(__file__))))
with h5py.File("other.h5", "w") as file:
    file["x"] = np.full(3, 9.0)
with h5py.File("main.h5", "w") as file:
    file["x"] = np.arange(3.0)
    file["link"] = h5py.ExternalLink("other.h5", "/x")
for name, given in (("by path", "main.h5"), ("as file object", open("main.h5", "rb"))):
    with h5py.File(given) as file:
        link = file["link"]
        print(f"{name}: {link[:].tolist()} of {os.path.basename(link.file.filename)}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
by path: [9.0, 9.0, 9.0] of other.h5
as file object: [0.0, 1.0, 2.0] of other.h5
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
