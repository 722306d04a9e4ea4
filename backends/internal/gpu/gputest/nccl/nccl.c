/* NCCL for tests on machines without a GPU: compiled as libnccl.so.2, or as librccl.so.1 with HIP's names, it takes the real one's
 * place beside the driver in ../driver, whose streams it queues its work on. Ranks send each other files in a folder, whose name is the unique id.
 *
 * It is stricter than the real one, so that a mistake shows every time:
 *   - A communicator that does not block queues nothing before somebody asks for its state, and until then refuses other calls.
 *   - Work of a stream is done when the other ranks have done theirs, and not before.
 *   - Ranks that do not call the same with the same counts are told so. Its least and greatest of floats lose NaN, as NCCL's do.
 *   - Two ranks on one GPU are refused; from 2.30 on not on two instances of it, or where NCCL_MULTI_RANK_GPU_ENABLE is 1.
 *
 * DTL_FAKE_NCCL_FOLDER is where folders are made (/tmp), DTL_FAKE_NCCL_VERSION the version (22703), and
 * DTL_FAKE_NCCL_FAIL=symbol:n:result[,...] has the n-th call of a symbol, from 1 on, return the result; 1000 has what it queues
 * never end, and 2000 and more end with an error of 2000 less.
 *
 * Functions that begin with fake_ are for tests. */
#define _GNU_SOURCE
#include "../failures.h"
#include "names.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUCCESS = 0, CUDA_ERROR = 1, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, IN_PROGRESS = 7 };
enum { READY = 0, NOT_READY = 600, STALL = 1000, LATER = 2000 };
enum { MOST_RANKS = 16 };

/* Of the driver. */
int cuCtxGetCurrent(void **context);
int cuDeviceGetUuid(unsigned char *uuid, int which);
int cuDeviceGetUuid_v2(unsigned char *uuid, int which);
int fake_device(void);
int fake_queue(void *in, int (*call)(void *), void *with);
char *fake_seen(const char *at, size_t n);

typedef struct {
    char bytes[128];
} key;

typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking;
} configuration;

typedef struct comm comm;

/* What two ranks must say alike of a message. */
typedef struct {
    int call, type, op, root;
    size_t bytes;
} header;

/* A message that is sent to a rank or received from it: a file of that number. */
typedef struct {
    int peer, arrived;
    unsigned long number;
    header says;
    char *at;      /* on the device; NULL: what comes is combined */
    char *content; /* what came */
} message;

/* What a call has a stream do. */
typedef struct work {
    comm *of;
    void *stream;
    message sends[MOST_RANKS], receives[MOST_RANKS];
    int sending, receiving, started, stalls;
    char *own, *to; /* of this rank's elements, and of what is combined of all: NULL where nothing is */
    size_t skip;    /* what is combined begins there */
    char *from, *copy; /* what is this rank's own, and where it goes */
    size_t bytes;
    size_t n;
    int type, op;
    struct work *next;
} work;

struct comm {
    char folder[128];
    int rank, size, blocking, state, aborted, finalizing, joined;
    unsigned long sent[MOST_RANKS], received[MOST_RANKS];
    work *pending;
    char last[200];
};

static const char *said = ""; /* what was said last of no communicator: which call has failed */
static _Thread_local int depth;
static _Thread_local work *group;
static int comms;

void fake_nccl_fail(const char *text);
void fake_nccl_fail(const char *text) { fail("DTL_FAKE_NCCL_FAIL", text); }

__attribute__((constructor)) static void begin(void) { fake_nccl_fail(getenv("DTL_FAKE_NCCL_FAIL")); }

/* FAIL returns the result of a call that is to fail. */
#define FAIL()                            \
    int code = failing(__func__);         \
    if (code != SUCCESS && code < STALL)  \
        return said = __func__, code;

static int later(const comm *c) { return c->blocking ? SUCCESS : IN_PROGRESS; }

static int told(comm *c, int result, const char *text) {
    snprintf(c->last, sizeof c->last, "%s", text);
    c->state = result;
    return result;
}

/* ---- Elements ---- */

#define COMBINE(TYPE, GREATER, LESS)                                               \
    {                                                                              \
        TYPE *a = to;                                                              \
        const TYPE *b = from;                                                      \
        for (size_t i = 0; i < n; i++)                                             \
            a[i] = op == 0 ? (TYPE)(a[i] + b[i]) : op == 1 ? (TYPE)(a[i] * b[i]) : op == 2 ? GREATER : LESS; \
        return;                                                                    \
    }
#define WHOLE(TYPE) COMBINE(TYPE, (a[i] > b[i] ? a[i] : b[i]), (a[i] < b[i] ? a[i] : b[i]))

static void combine(int type, int op, void *to, const void *from, size_t n) {
    switch (type) {
    case 0: WHOLE(int8_t)
    case 1: WHOLE(uint8_t)
    case 2: WHOLE(int32_t)
    case 3: WHOLE(uint32_t)
    case 4: WHOLE(int64_t)
    case 5: WHOLE(uint64_t)
    case 7: COMBINE(float, fmaxf(a[i], b[i]), fminf(a[i], b[i]))
    case 8: COMBINE(double, fmax(a[i], b[i]), fmin(a[i], b[i]))
    default: abort();
    }
}

static size_t item(int type) {
    static const int items[] = {1, 1, 4, 4, 8, 8, 0, 4, 8};
    return type >= 0 && type <= 8 ? (size_t)items[type] : 0;
}

/* ---- Files ---- */

static void name(char path[256], const comm *c, const char *what, int from, int to, unsigned long number) {
    snprintf(path, 256, "%s/%s.%d.%d.%lu", c->folder, what, from, to, number);
}

static int put(const comm *c, const char *what, int to, unsigned long number, const header *says, const void *content, size_t n) {
    char path[256], made[260];
    name(path, c, what, c->rank, to, number);
    snprintf(made, sizeof made, "%s.new", path);
    FILE *f = fopen(made, "w");
    if (f == NULL)
        return SYSTEM_ERROR;
    int wrong = (says != NULL && fwrite(says, sizeof *says, 1, f) != 1) || (n > 0 && fwrite(content, 1, n, f) != n);
    return fclose(f) != 0 || wrong || rename(made, path) != 0 ? SYSTEM_ERROR : SUCCESS;
}

/* all says whether every rank has said something. */
static int all(const comm *c, const char *what) {
    for (int rank = 0; rank < c->size; rank++) {
        char path[256];
        name(path, c, what, rank, 0, 0);
        if (access(path, F_OK) != 0)
            return 0;
    }
    return 1;
}

/* alone says whether no other rank has joined with this rank's GPU. All have joined. */
static int alone(const comm *c) {
    char path[256];
    unsigned char mine[16] = {0}, other[16] = {0};
    for (int rank = -1; rank < c->size; rank++) {
        if (rank == c->rank)
            continue;
        name(path, c, "joined", rank < 0 ? c->rank : rank, 0, 0);
        FILE *f = fopen(path, "r");
        const size_t n = f != NULL ? fread(rank < 0 ? mine : other, 1, sizeof mine, f) : 0;
        if (f != NULL)
            fclose(f);
        if (rank >= 0 && n == sizeof mine && memcmp(mine, other, sizeof mine) == 0)
            return 0;
    }
    return 1;
}

/* take reads a message's file, if it is there. */
static int take(comm *c, message *m) {
    char path[256];
    name(path, c, "message", m->peer, c->rank, m->number);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return NOT_READY;
    header says;
    m->content = malloc(m->says.bytes + 1);
    int wrong = fread(&says, sizeof says, 1, f) != 1 || memcmp(&says, &m->says, sizeof says) != 0 ||
                fread(m->content, 1, m->says.bytes, f) != m->says.bytes;
    fclose(f);
    unlink(path);
    m->arrived = 1;
    if (wrong) {
        fprintf(stderr, "fake NCCL: rank %d: rank %d has sent something else\n", c->rank, m->peer);
        return told(c, INVALID_USAGE, "ranks do not call the same");
    }
    return READY;
}

/* ---- Work ---- */

static int finish(work *w) {
    comm *c = w->of;
    for (int i = 0; i < w->receiving; i++) {
        message *m = &w->receives[i];
        if (m->at != NULL)
            memcpy(fake_seen(m->at, m->says.bytes), m->content, m->says.bytes);
    }
    if (w->to != NULL) {
        size_t bytes = w->n * item(w->type);
        char *found = malloc(bytes + 1);
        for (int rank = 0, i = 0; rank < c->size; rank++) { /* in rank order, so that all get the same bits */
            const char *part = rank == c->rank ? fake_seen(w->own, bytes + w->skip) : w->receives[i++].content;
            if (rank == 0)
                memcpy(found, part + w->skip, bytes);
            else
                combine(w->type, w->op, found, part + w->skip, w->n);
        }
        memcpy(fake_seen(w->to, bytes), found, bytes);
        free(found);
    }
    if (w->bytes > 0)
        memmove(fake_seen(w->copy, w->bytes), fake_seen(w->from, w->bytes), w->bytes);
    for (int i = 0; i < w->receiving; i++)
        free(w->receives[i].content);
    free(w);
    return READY;
}

/* go_on is what a stream calls until the work is done. It says nothing of errors, which the communicator keeps. */
static int go_on(void *with) {
    work *w = with;
    comm *c = w->of;
    if (c->aborted)
        return READY;
    if (w->stalls || (c->state != SUCCESS && c->state != IN_PROGRESS)) {
        usleep(100);
        return NOT_READY;
    }
    if (!w->started) {
        w->started = 1;
        for (int i = 0; i < w->sending; i++) {
            message *m = &w->sends[i];
            char *from = fake_seen(m->at, m->says.bytes);
            if (from == NULL || put(c, "message", m->peer, m->number, &m->says, from, m->says.bytes) != SUCCESS)
                told(c, CUDA_ERROR, "what is sent is in no memory of a device");
        }
    }
    for (int i = 0; i < w->receiving; i++)
        if (!w->receives[i].arrived && take(c, &w->receives[i]) != READY) {
            usleep(20);
            return NOT_READY;
        }
    return finish(w);
}

static work *new_work(comm *c, void *stream) {
    work *w = calloc(1, sizeof *w);
    w->of = c, w->stream = stream;
    return w;
}

static void sends(work *w, int peer, header says, const void *at) {
    w->sends[w->sending++] = (message){.peer = peer, .number = ++w->of->sent[peer], .says = says, .at = (char *)(uintptr_t)at};
}

static void receives(work *w, int peer, header says, void *at) {
    w->receives[w->receiving++] = (message){.peer = peer, .number = ++w->of->received[peer], .says = says, .at = at};
}

/* is_known says whether n bytes at an address are the program's. */
static int is_known(const void *at, size_t n) { return n == 0 || fake_seen(at, n) != NULL; }

static int may_call(comm *c) {
    void *context = NULL;
    if (cuCtxGetCurrent(&context) != 0 || context == NULL)
        return CUDA_ERROR;
    return c->aborted || c->finalizing || c->pending != NULL || c->state != SUCCESS ? INVALID_USAGE : SUCCESS;
}

/* asked has work queued: at once, or when somebody asks for the state. */
static int asked(work *w, int code) {
    comm *c = w->of;
    w->stalls = code == STALL;
    if (code >= LATER)
        told(c, code - LATER, "a failure that was asked for");
    if (c->blocking)
        return fake_queue(w->stream, go_on, w) == 0 ? SUCCESS : CUDA_ERROR;
    c->pending = w;
    return IN_PROGRESS;
}

/* ---- NCCL ---- */

static int version(void) {
    const char *text = getenv("DTL_FAKE_NCCL_VERSION");
    return text != NULL ? atoi(text) : 22703;
}

int ncclGetVersion(int *number);
int ncclGetVersion(int *number) {
    FAIL();
    *number = version();
    return SUCCESS;
}

int ncclGetUniqueId(key *made);
int ncclGetUniqueId(key *made) {
    FAIL();
    const char *folder = getenv("DTL_FAKE_NCCL_FOLDER");
    memset(made, 0, sizeof *made);
    snprintf(made->bytes, sizeof made->bytes, "%s/fake-nccl-XXXXXX", folder != NULL ? folder : "/tmp");
    return mkdtemp(made->bytes) != NULL ? SUCCESS : SYSTEM_ERROR;
}

int ncclCommInitRankConfig(comm **made, int size, key id, int rank, const configuration *config);
int ncclCommInitRankConfig(comm **made, int size, key id, int rank, const configuration *config) {
    FAIL();
    void *context = NULL;
    if (cuCtxGetCurrent(&context) != 0 || context == NULL)
        return CUDA_ERROR;
    if (size < 1 || size > MOST_RANKS || rank < 0 || rank >= size || config->size != 24 || config->magic != 0xcafebeef)
        return INVALID_ARGUMENT;
    comm *c = calloc(1, sizeof *c);
    memcpy(c->folder, id.bytes, sizeof c->folder - 1);
    c->rank = rank, c->size = size, c->blocking = config->blocking;
    c->joined = c->blocking;
    __atomic_fetch_add(&comms, 1, __ATOMIC_SEQ_CST);
    *made = c;
    if (code >= LATER)
        told(c, code - LATER, "a failure that was asked for");
    else if (code != STALL) {
        unsigned char uuid[16];
        const char *several = getenv("NCCL_MULTI_RANK_GPU_ENABLE");
        if ((version() < 23000 ? cuDeviceGetUuid : cuDeviceGetUuid_v2)(uuid, fake_device()) != 0)
            return CUDA_ERROR;
        const int tells = version() < 23000 || several == NULL || strcmp(several, "1") != 0;
        if (put(c, "joined", 0, 0, NULL, uuid, tells ? sizeof uuid : 0) != SUCCESS)
            return SYSTEM_ERROR;
    }
    while (c->blocking && !all(c, "joined"))
        usleep(20);
    return later(c);
}

/* The state goes on by being asked for. */
int ncclCommGetAsyncError(comm *c, int *result);
int ncclCommGetAsyncError(comm *c, int *result) {
    FAIL();
    *result = c->state;
    if (c->state != SUCCESS)
        return SUCCESS;
    if (!c->joined) {
        *result = (c->joined = all(c, "joined")) ? SUCCESS : IN_PROGRESS;
        if (c->joined && !alone(c)) {
            told(c, INVALID_USAGE, "Duplicate GPU detected");
            *result = INVALID_USAGE;
        }
    }
    if (c->finalizing && !all(c, "left"))
        *result = IN_PROGRESS;
    for (; c->pending != NULL; *result = IN_PROGRESS) {
        work *w = c->pending;
        c->pending = w->next;
        if (fake_queue(w->stream, go_on, w) != 0)
            return told(c, CUDA_ERROR, "the stream takes nothing");
    }
    return SUCCESS;
}

int ncclCommFinalize(comm *c);
int ncclCommFinalize(comm *c) {
    FAIL();
    if (c->pending != NULL || c->aborted)
        return INVALID_USAGE;
    c->finalizing = 1;
    return code == STALL ? IN_PROGRESS : put(c, "left", 0, 0, NULL, NULL, 0) == SUCCESS ? later(c) : SYSTEM_ERROR;
}

/* The last rank removes the folder. A communicator itself stays, because streams may still come to it. */
int ncclCommDestroy(comm *c);
int ncclCommDestroy(comm *c) {
    FAIL();
    if (c->aborted || !c->finalizing)
        return INVALID_USAGE;
    c->aborted = 1;
    __atomic_fetch_sub(&comms, 1, __ATOMIC_SEQ_CST);
    put(c, "gone", 0, 0, NULL, NULL, 0);
    if (all(c, "gone")) {
        char path[256];
        for (int rank = 0; rank < c->size; rank++)
            for (int i = 0; i < 3; i++) {
                name(path, c, (const char *[]){"joined", "left", "gone"}[i], rank, 0, 0);
                unlink(path);
            }
        rmdir(c->folder);
    }
    return SUCCESS;
}

int ncclCommAbort(comm *c);
int ncclCommAbort(comm *c) {
    FAIL();
    if (c->aborted)
        return INVALID_USAGE;
    c->aborted = 1;
    __atomic_fetch_sub(&comms, 1, __ATOMIC_SEQ_CST);
    return SUCCESS;
}

const char *ncclGetErrorString(int result);
const char *ncclGetErrorString(int result) {
    if (failing(__func__) != SUCCESS)
        return NULL;
    static const char *const texts[] = {
        "no error", "unhandled cuda error", "unhandled system error", "internal error", "invalid argument", "invalid usage",
        "remote process exited or there was a network error", "operation in progress",
    };
    return result >= 0 && result <= 7 ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(const comm *c);
const char *ncclGetLastError(const comm *c) { return failing(__func__) != SUCCESS ? NULL : c != NULL ? c->last : said; }

int ncclGroupStart(void);
int ncclGroupStart(void) {
    FAIL();
    depth++;
    return SUCCESS;
}

int ncclGroupEnd(void);
int ncclGroupEnd(void) {
    if (depth == 0)
        return INVALID_USAGE;
    int code = failing(__func__);
    work *w = group;
    if (--depth > 0)
        return SUCCESS;
    group = NULL;
    return code != SUCCESS && code < STALL ? code : w == NULL ? SUCCESS : asked(w, code);
}

/* BEGIN refuses what NCCL would, or what it would read or write where nothing is. */
#define BEGIN(SEND, SENT, RECV, RECEIVED)                          \
    FAIL();                                                        \
    int may = may_call(c);                                         \
    if (may != SUCCESS)                                            \
        return may;                                                \
    if (item(type) == 0 || !is_known(SEND, SENT) || !is_known(RECV, RECEIVED)) \
        return INVALID_ARGUMENT;

int ncclAllReduce(const void *send, void *recv, size_t n, int type, int op, comm *c, void *stream);
int ncclAllReduce(const void *send, void *recv, size_t n, int type, int op, comm *c, void *stream) {
    size_t bytes = n * item(type);
    BEGIN(send, bytes, recv, bytes);
    work *w = new_work(c, stream);
    header says = {.call = 1, .type = type, .op = op, .bytes = bytes};
    for (int peer = 0; peer < c->size; peer++)
        if (peer != c->rank) {
            sends(w, peer, says, send);
            receives(w, peer, says, NULL);
        }
    w->own = (char *)(uintptr_t)send, w->to = recv, w->n = n, w->type = type, w->op = op;
    return asked(w, code);
}

int ncclReduce(const void *send, void *recv, size_t n, int type, int op, int root, comm *c, void *stream);
int ncclReduce(const void *send, void *recv, size_t n, int type, int op, int root, comm *c, void *stream) {
    size_t bytes = n * item(type);
    BEGIN(send, bytes, recv, c->rank == root ? bytes : 0);
    work *w = new_work(c, stream);
    header says = {.call = 2, .type = type, .op = op, .root = root, .bytes = bytes};
    if (c->rank != root)
        sends(w, root, says, send);
    for (int peer = 0; peer < c->size && c->rank == root; peer++)
        if (peer != root)
            receives(w, peer, says, NULL);
    if (c->rank == root)
        w->own = (char *)(uintptr_t)send, w->to = recv, w->n = n, w->type = type, w->op = op;
    return asked(w, code);
}

int ncclReduceScatter(const void *send, void *recv, size_t n, int type, int op, comm *c, void *stream);
int ncclReduceScatter(const void *send, void *recv, size_t n, int type, int op, comm *c, void *stream) {
    size_t bytes = n * item(type), whole = bytes * (size_t)c->size;
    BEGIN(send, whole, recv, bytes);
    work *w = new_work(c, stream);
    header says = {.call = 3, .type = type, .op = op, .bytes = whole};
    for (int peer = 0; peer < c->size; peer++)
        if (peer != c->rank) {
            sends(w, peer, says, send);
            receives(w, peer, says, NULL);
        }
    w->own = (char *)(uintptr_t)send, w->to = recv, w->n = n, w->type = type, w->op = op;
    w->skip = (size_t)c->rank * bytes;
    return asked(w, code);
}

int ncclBroadcast(const void *send, void *recv, size_t n, int type, int root, comm *c, void *stream);
int ncclBroadcast(const void *send, void *recv, size_t n, int type, int root, comm *c, void *stream) {
    size_t bytes = n * item(type);
    BEGIN(send, c->rank == root ? bytes : 0, recv, bytes);
    work *w = new_work(c, stream);
    header says = {.call = 4, .type = type, .root = root, .bytes = bytes};
    w->from = (char *)(uintptr_t)send, w->copy = recv, w->bytes = c->rank == root && send != recv ? bytes : 0;
    if (c->rank != root)
        receives(w, root, says, recv);
    for (int peer = 0; peer < c->size && c->rank == root; peer++)
        if (peer != root)
            sends(w, peer, says, send);
    return asked(w, code);
}

int ncclAllGather(const void *send, void *recv, size_t n, int type, comm *c, void *stream);
int ncclAllGather(const void *send, void *recv, size_t n, int type, comm *c, void *stream) {
    size_t bytes = n * item(type);
    BEGIN(send, bytes, recv, bytes * (size_t)c->size);
    work *w = new_work(c, stream);
    header says = {.call = 5, .type = type, .bytes = bytes};
    for (int peer = 0; peer < c->size; peer++)
        if (peer != c->rank) {
            sends(w, peer, says, send);
            receives(w, peer, says, (char *)recv + (size_t)peer * bytes);
        }
    w->from = (char *)(uintptr_t)send, w->copy = (char *)recv + (size_t)c->rank * bytes;
    w->bytes = w->from != w->copy ? bytes : 0;
    return asked(w, code);
}

int ncclSend(const void *from, size_t n, int type, int peer, comm *c, void *stream);
int ncclSend(const void *from, size_t n, int type, int peer, comm *c, void *stream) {
    size_t bytes = n * item(type);
    BEGIN(from, bytes, NULL, 0);
    if (depth == 0 || peer < 0 || peer >= c->size)
        return INVALID_USAGE;
    if (group == NULL)
        group = new_work(c, stream);
    sends(group, peer, (header){.call = 6, .type = type, .bytes = bytes}, from);
    return SUCCESS;
}

int ncclRecv(void *to, size_t n, int type, int peer, comm *c, void *stream);
int ncclRecv(void *to, size_t n, int type, int peer, comm *c, void *stream) {
    size_t bytes = n * item(type);
    BEGIN(NULL, 0, to, bytes);
    if (depth == 0 || peer < 0 || peer >= c->size)
        return INVALID_USAGE;
    if (group == NULL)
        group = new_work(c, stream);
    receives(group, peer, (header){.call = 6, .type = type, .bytes = bytes}, to);
    return SUCCESS;
}

/* fake_nccl_open counts communicators that were neither destroyed nor aborted. */
long fake_nccl_open(int unused);
long fake_nccl_open(int unused) {
    (void)unused;
    return comms;
}
