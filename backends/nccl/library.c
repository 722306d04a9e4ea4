/* Calls of NCCL, whose functions are found at run time. */
#include "library.h"

static const char *const symbols[] = {
#define X(field, name, result, parameters) #name,
    NCCL_FUNCTIONS(X)
#undef X
};

enum {
    FUNCTIONS = sizeof symbols / sizeof *symbols,
    BYTES = 1, /* ncclUint8 */
    IN_PROGRESS = 7,
};

_Static_assert(sizeof(nccl_table) == FUNCTIONS * sizeof(void *), "a table is an array of addresses");

const char *nccl_symbol(int i) { return i >= 0 && i < FUNCTIONS ? symbols[i] : NULL; }

void nccl_set(nccl_table *table, int i, void *function) { ((void **)table)[i] = function; }

int nccl_get_version(const nccl_table *t, int *version) { return t->version(version); }

int nccl_get_key(const nccl_table *t, void *key) { return t->new_key(key); }

int nccl_init(const nccl_table *t, int size, const void *key, int rank, void **comm) {
    nccl_config config = {.size = sizeof config, .magic = 0xcafebeef, .version = 21400, .blocking = 0};
    return t->init(comm, size, *(const nccl_key *)key, rank, &config);
}

int nccl_finalize(const nccl_table *t, void *comm) { return t->finalize(comm); }
int nccl_destroy(const nccl_table *t, void *comm) { return t->destroy(comm); }
int nccl_abort(const nccl_table *t, void *comm) { return t->abort(comm); }
int nccl_state(const nccl_table *t, void *comm, int *result) { return t->state(comm, result); }
const char *nccl_text(const nccl_table *t, int result) { return t->error_text(result); }
const char *nccl_last(const nccl_table *t, void *comm) { return t->last_error(comm); }

/* An address of a device, which nothing here follows, as NCCL takes it. */
static void *at(nccl_address a) { return (void *)(uintptr_t)a; }

static void *stream(const nccl_link *l) { return (void *)l->stream; }

int nccl_all_reduce(const nccl_link *l, nccl_address send, nccl_address recv, size_t n, int type, int op) {
    return l->table->all_reduce(at(send), at(recv), n, type, op, l->comm, stream(l));
}

int nccl_reduce(const nccl_link *l, nccl_address send, nccl_address recv, size_t n, int type, int op, int root) {
    return l->table->reduce(at(send), at(recv), n, type, op, root, l->comm, stream(l));
}

int nccl_reduce_scatter(const nccl_link *l, nccl_address send, nccl_address recv, size_t n, int type, int op) {
    return l->table->reduce_scatter(at(send), at(recv), n, type, op, l->comm, stream(l));
}

int nccl_broadcast(const nccl_link *l, nccl_address buf, size_t bytes, int root) {
    return l->table->broadcast(at(buf), at(buf), bytes, BYTES, root, l->comm, stream(l));
}

int nccl_all_gather(const nccl_link *l, nccl_address send, nccl_address recv, size_t bytes) {
    return l->table->all_gather(at(send), at(recv), bytes, BYTES, l->comm, stream(l));
}

int nccl_exchange(const nccl_link *l, int size, const nccl_address *send, const size_t *sent, const nccl_address *recv,
                  const size_t *received) {
    const nccl_table *t = l->table;
    int rc = t->group_start();
    if (rc != 0)
        return rc;
    for (int peer = 0; peer < size && (rc == 0 || rc == IN_PROGRESS); peer++) {
        if (sent[peer] > 0)
            rc = t->send(at(send[peer]), sent[peer], BYTES, peer, l->comm, stream(l));
        if (received[peer] > 0 && (rc == 0 || rc == IN_PROGRESS))
            rc = t->recv(at(recv[peer]), received[peer], BYTES, peer, l->comm, stream(l));
    }
    int ended = t->group_end();
    return rc == 0 || rc == IN_PROGRESS ? ended : rc;
}
