"""Names of the package that are imported when they are first asked for."""

from __future__ import annotations

#: What not every program uses, and is imported when it is first asked for: the names by their modules.
LATER = {
    "reordering": ("adjacent_difference", "partition_by", "reverse", "rotate"),
    "searching": ("all_of", "any_of", "count", "count_if", "find", "find_if", "none_of"),
    "algorithms": ("copy", "for_each", "transform"),
    "assigning": ("fill", "generate", "iota", "replace", "replace_if"),
    "distributed_map": ("DistributedMap",),
    "folding": ("inner_product", "transform_reduce"),
    "halo": ("Halo",),
    "nonblocking": ("iallgather", "iallreduce", "ialltoallv", "ibarrier", "ibroadcast", "igather"),
    "nonblocking_messages": ("irecv", "isend", "recv_init", "send_init"),
    "object_messages": ("recv_object", "send_object"),
    "objects": ("allgather_object", "broadcast_object", "gather_object", "scatter_object"),
    "plotting": ("plot_partition",),
    "progressing": ("progress",),
    "redistribution": ("RedistributionPlan",),
    "requests": ("PersistentRequest", "Request"),
    "scans": ("exscan", "reduce_scatter", "scan"),
    "several": ("startall", "waitall", "waitany"),
    "selecting": ("median", "quantile", "topk"),
    "ordered": ("lower_bound", "merge", "searchsorted", "unique"),
    "sorting": ("argsort", "is_sorted", "lexsort", "sort", "sort_by_key"),
    "threads": ("get_num_threads", "set_num_threads"),
    "tracing": ("trace",),
    "variable": ("allgatherv", "alltoall", "alltoallv", "gatherv", "scatterv"),
}
#: The module of each of them.
HOMES = {name: module for module, names in LATER.items() for name in names}
