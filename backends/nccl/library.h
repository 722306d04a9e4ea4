/* The functions of NCCL that this package calls, found by name at run time, and calls of them that Go can make.
 *
 * Every function below returns NCCL's result: 0 for success, 7 for what is still under way. */
#ifndef DTL_NCCL_LIBRARY_H
#define DTL_NCCL_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* ncclUniqueId, which NCCL takes by value. */
typedef struct {
    char bytes[128];
} nccl_key;

/* The beginning of ncclConfig_t as NCCL 2.14 has it. A newer library copies as many bytes as size says, and has defaults for the
 * rest. */
typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking;
} nccl_config;

/* X(our name, NCCL's, its result, its parameters). */
#define NCCL_FUNCTIONS(X)                                                                                              \
    X(version, ncclGetVersion, int, (int *version))                                                                  \
    X(new_key, ncclGetUniqueId, int, (nccl_key * key))                                                               \
    X(init, ncclCommInitRankConfig, int, (void **comm, int size, nccl_key key, int rank, nccl_config *config))       \
    X(finalize, ncclCommFinalize, int, (void *comm))                                                                 \
    X(destroy, ncclCommDestroy, int, (void *comm))                                                                   \
    X(abort, ncclCommAbort, int, (void *comm))                                                                       \
    X(state, ncclCommGetAsyncError, int, (void *comm, int *result))                                                  \
    X(error_text, ncclGetErrorString, const char *, (int result))                                                    \
    X(last_error, ncclGetLastError, const char *, (void *comm))                                                      \
    X(group_start, ncclGroupStart, int, (void))                                                                      \
    X(group_end, ncclGroupEnd, int, (void))                                                                          \
    X(all_reduce, ncclAllReduce, int,                                                                                \
      (const void *send, void *recv, size_t n, int type, int op, void *comm, void *stream))                            \
    X(reduce, ncclReduce, int,                                                                                       \
      (const void *send, void *recv, size_t n, int type, int op, int root, void *comm, void *stream))                  \
    X(reduce_scatter, ncclReduceScatter, int,                                                                        \
      (const void *send, void *recv, size_t n, int type, int op, void *comm, void *stream))                            \
    X(broadcast, ncclBroadcast, int, (const void *send, void *recv, size_t n, int type, int root, void *comm, void *stream)) \
    X(all_gather, ncclAllGather, int, (const void *send, void *recv, size_t n, int type, void *comm, void *stream))  \
    X(send, ncclSend, int, (const void *from, size_t n, int type, int peer, void *comm, void *stream))               \
    X(recv, ncclRecv, int, (void *to, size_t n, int type, int peer, void *comm, void *stream))

typedef struct {
#define X(field, name, result, parameters) result(*field) parameters;
    NCCL_FUNCTIONS(X)
#undef X
} nccl_table;

/* nccl_symbol returns NCCL's name of the i-th function, or NULL after the last. */
const char *nccl_symbol(int i);

/* nccl_set sets the i-th function. */
void nccl_set(nccl_table *table, int i, void *function);

int nccl_get_version(const nccl_table *t, int *version);
int nccl_get_key(const nccl_table *t, void *key);

/* nccl_init begins to link a rank's current device with those of the others, and does not wait for them. */
int nccl_init(const nccl_table *t, int size, const void *key, int rank, void **comm);

int nccl_finalize(const nccl_table *t, void *comm);
int nccl_destroy(const nccl_table *t, void *comm);
int nccl_abort(const nccl_table *t, void *comm);

/* nccl_state writes the result of what is under way. */
int nccl_state(const nccl_table *t, void *comm, int *result);

/* nccl_text returns NCCL's words for a result, and nccl_last what it said last, which may be NULL. */
const char *nccl_text(const nccl_table *t, int result);
const char *nccl_last(const nccl_table *t, void *comm);

/* A communicator, and the stream that its work is queued on. */
typedef struct {
    const nccl_table *table;
    void *comm;
    uintptr_t stream;
} nccl_link;

typedef unsigned long long nccl_address;

int nccl_all_reduce(const nccl_link *l, nccl_address send, nccl_address recv, size_t n, int type, int op);
int nccl_reduce(const nccl_link *l, nccl_address send, nccl_address recv, size_t n, int type, int op, int root);
int nccl_reduce_scatter(const nccl_link *l, nccl_address send, nccl_address recv, size_t n, int type, int op);
int nccl_broadcast(const nccl_link *l, nccl_address buf, size_t bytes, int root);
int nccl_all_gather(const nccl_link *l, nccl_address send, nccl_address recv, size_t bytes);

/* nccl_exchange sends a number of bytes to each of so many ranks, and receives from each, none where the number is 0. */
int nccl_exchange(const nccl_link *l, int size, const nccl_address *send, const size_t *sent, const nccl_address *recv,
                  const size_t *received);

#endif
