#!/bin/sh
# Guess: a folder without Python files beside a build backend hides no package, as a folder on sys.path hides none: Python
# takes it for a package only if no other place has one of its name.
#
# Seen: pip looks for each module in the folders of backend-path alone first, and takes any folder there for the package of
# its name. Setuptools imports "packaging" of its own, and gets an empty one.
#
#   pip 24.2: built
#   pip 26.3: ModuleNotFoundError: No module named 'packaging.utils'
#
# Versions: setuptools 84.2.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/project/packaging"
cd "$folder/project"
echo "How to make a release" >packaging/notes.txt
echo "from setuptools.build_meta import *" >backend.py
cat >pyproject.toml <<'PROJECT'
[build-system]
requires = ["setuptools==84.2.1"]
build-backend = "backend"
backend-path = ["."]

[project]
name = "small"
version = "1"

[tool.setuptools]
py-modules = []
PROJECT
cat >"$folder/expected" <<'OUTPUT'
pip 24.2: built
pip 26.3: ModuleNotFoundError: No module named 'packaging.utils'
OUTPUT
for version in 24.2 26.3; do
	python3 -m venv "$folder/env$version"
	"$folder/env$version/bin/python" -m pip install --quiet "pip==$version"
	if timeout 300 "$folder/env$version/bin/python" -m pip wheel --quiet --wheel-dir "$folder/out" . >"$folder/said" 2>&1; then
		echo "pip $version: built"
	else
		echo "pip $version: $(grep -o 'ModuleNotFoundError.*' "$folder/said" | head -1)"
	fi
done >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
