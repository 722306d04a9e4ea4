#!/bin/sh
# Guess: get_adjacency and get_adjacency_sparse are the same matrix, dense and sparse, so its row sums are the degrees.
#
# Seen: of an undirected graph, the dense matrix counts a loop twice, as degree() does, and the sparse one counts it once. networkx
# counts it once in its matrix too, but twice in its degree.
#
#   igraph   [3, 1] [3 1] [2 1]
#   networkx [3, 1] [2 1]
#
# Versions: igraph 1.0.0, networkx 3.6.1, SciPy 1.17.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 networkx==3.6.1 igraph==1.0.0
cat >"$folder/program.py" <<'PROGRAM'
import igraph
import networkx
import numpy as np

edges = [(0, 0), (0, 1)]
graph, other = igraph.Graph(edges), networkx.Graph(edges)
print("igraph  ", graph.degree(), np.array(graph.get_adjacency()).sum(axis=1), graph.get_adjacency_sparse().toarray().sum(axis=1))
print("networkx", [degree for _, degree in other.degree()], networkx.to_scipy_sparse_array(other).sum(axis=1))
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
igraph   [3, 1] [3 1] [2 1]
networkx [3, 1] [2 1]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
