"""Names of the package that are imported when they are first asked for, because not every program uses them."""

from __future__ import annotations

#: The names by their modules.
LATER = {
    "algorithms": ("copy", "for_each", "transform"),
    "assigning": ("fill", "generate", "iota", "replace", "replace_if"),
    "cart": ("Cart",),
    "cumulations": ("cumprod", "cumsum"),
    "distributed_map": ("DistributedMap",),
    "extremes": ("max_element", "min_element", "minmax"),
    "folding": ("inner_product", "reduce_local", "transform_reduce"),
    "graph": ("Graph",),
    "grouping": ("GroupBy", "group_by"),
    "halo": ("Halo",),
    "histograms": ("bincount", "histogram"),
    "joining": ("join",),
    "matrices": ("matmul",),
    "nccl": (
        "DTL_NCCL_MODE_HYBRID_PARITY",
        "DTL_NCCL_MODE_NATIVE_ONLY",
        "DTL_NCCL_OP_ALLGATHER",
        "DTL_NCCL_OP_ALLREDUCE",
        "DTL_NCCL_OP_ALLTOALL",
        "DTL_NCCL_OP_BARRIER",
        "DTL_NCCL_OP_BROADCAST",
        "DTL_NCCL_OP_GATHER",
        "DTL_NCCL_OP_REDUCE",
        "DTL_NCCL_OP_SCAN",
        "DTL_NCCL_OP_SCATTER",
    ),
    "nonblocking": ("iallgather", "iallreduce", "ialltoallv", "ibarrier", "ibroadcast", "igather"),
    "nonblocking_messages": ("irecv", "isend", "recv_init", "send_init"),
    "object_messages": ("recv_object", "send_object"),
    "objects": ("allgather_object", "broadcast_object", "gather_object", "scatter_object"),
    "ordered": ("lower_bound", "merge", "searchsorted", "unique"),
    "plotting": ("plot_partition",),
    "products": ("dot", "norm", "vdot"),
    "progressing": ("progress",),
    "redistribution": ("RedistributionPlan",),
    "reordering": ("adjacent_difference", "partition_by", "reverse", "rotate"),
    "requests": ("PersistentRequest", "Request"),
    "scanning": ("exclusive_scan", "inclusive_scan"),
    "scans": ("exscan", "reduce_scatter", "scan"),
    "searching": ("all_of", "any_of", "count", "count_if", "find", "find_if", "none_of"),
    "selecting": ("median", "quantile", "topk"),
    "several": ("startall", "waitall", "waitany"),
    "shuffling": ("shuffle",),
    "sorting": ("argsort", "is_sorted", "lexsort", "sort", "sort_by_key"),
    "statistics": ("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"),
    "threads": ("get_num_threads", "set_num_threads"),
    "topology": ("Topology",),
    "tracing": ("trace",),
    "variable": ("allgatherv", "alltoall", "alltoallv", "gatherv", "scatterv"),
}

#: The module of each of them.
HOMES = {name: module for module, names in LATER.items() for name in names}
