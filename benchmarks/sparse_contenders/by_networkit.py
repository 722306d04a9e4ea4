"""PageRank and components by NetworKit, on all its threads, of the graph that by_dtl.py has written on one rank."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import networkit
import scipy.sparse
from asked import part, tell


def main() -> None:
    """Answer."""
    given = part(Path(sys.argv[1]), "power", 0)
    count = len(given["indptr"]) - 1
    whole = scipy.sparse.csr_matrix((given["data"], given["indices"], given["indptr"]), shape=(count, count))
    graph = networkit.GraphFromCoo(whole.tocoo(), n=count, weighted=True, directed=True)
    graph.indexEdges()
    for question in sys.argv[2:]:
        if question == "components":
            parts = networkit.components.WeaklyConnectedComponents(graph)
            started = time.perf_counter()
            parts.run()
            tell(question, time.perf_counter() - started, parts.numberOfComponents())
            continue
        ranks = networkit.centrality.PageRank(
            graph, 0.85, 1e-10, distributeSinks=networkit.centrality.SinkHandling.DistributeSinks
        )
        ranks.norm = networkit.centrality.Norm.L1_NORM
        started = time.perf_counter()
        ranks.run()
        detail = f"{ranks.numberOfIterations()} iterations"
        tell(question, time.perf_counter() - started, max(ranks.scores()), detail)


if __name__ == "__main__":
    main()
