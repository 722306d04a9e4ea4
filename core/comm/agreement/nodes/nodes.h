/*
 * How ranks of several nodes meet.
 *
 * The ranks of a node share memory: each lays down an entry there. The first of them, their leader, compares the entries,
 * combines the elements, and speaks to the other leaders for all. Then it lays down the outcome, which the others read. An entry
 * or outcome is written over when its rank has come to the next meeting, or all of the node have: so each has read it.
 *
 * The leaders bring together what they state and their elements by recursive doubling: in each step two exchange what they have
 * gathered so far, so after as many steps as their number has binary digits each has everything. Where that number is no power
 * of two, some tell a neighbour before the steps, and hear the outcome after them. Two statements that differ make one that
 * says so, which goes on to all others.
 *
 * This is the one implementation: core/comm/agreement calls it for Go, and numpybridge for calls that it makes without Go.
 */
#ifndef DTL_NODES_H
#define DTL_NODES_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum {
    DTL_NODES_ELEMENTS = 32 << 10, /* the most bytes of elements in a message */
    DTL_NODES_PAYLOAD = 10240,     /* and in an entry: core/board.MaxPayload */
};

/* What becomes of elements: core/comm/agreement.Way. */
enum { DTL_TO_ALL, DTL_COMBINED_FOR_ALL, DTL_FROM_ROOT };

/* What some ranks state of a call. */
typedef struct {
    uint64_t number; /* of the meeting; in shared memory, written last */
    uint64_t fingerprint;
    uint64_t want;     /* of those that state elements; 0: none does */
    uint64_t started;  /* the fewest collectives that do not block that one of them has started */
    uint32_t differs;  /* 1: they do not make the same call, or one of them cannot */
    uint32_t deadlock; /* 1: one of them waits for a collective that does not block */
    uint64_t bytes;    /* of the elements */
    uint64_t only;     /* 1: the message says where its sender is, and belongs to no step */
    uint64_t rest;
} dtl_stated;

typedef struct {
    dtl_stated stated;
    char elements[DTL_NODES_ELEMENTS];
} dtl_nodes_message;

typedef struct {
    dtl_stated stated;
    char elements[DTL_NODES_PAYLOAD];
} dtl_nodes_entry;

/* What a leader does with another one. */
typedef struct {
    int32_t peer; /* the other's rank */
    uint8_t sends, receives;
    uint8_t hears; /* the other has not heard of this one before */
    uint8_t lower; /* what comes is of nodes before those that this one has gathered from */
    uint8_t final; /* what comes is the outcome */
    uint8_t rest[3];
} dtl_nodes_step;

/* The elements that a rank brings, behind what describes them, if anything does. All ranks of a call have them go one way. */
typedef struct {
    const void *head, *at;
    int64_t head_bytes;
    int64_t count, bytes;
    int32_t way, type, op, unused; /* type and op: of elements that are combined */
} dtl_nodes_elements;

/* What dtl_nodes_go_on returns. */
enum {
    DTL_NODES_OVER,     /* all have come */
    DTL_NODES_LATE,     /* not yet */
    DTL_NODES_FAILED,   /* the backend failed, with code */
    DTL_NODES_EARLY,    /* the caller is to look among the messages that came early, and to set looked */
    DTL_NODES_SENDS,    /* where it carries the messages: it is to send out, and to set sent and send */
    DTL_NODES_RECEIVES, /* and to receive in, or to go on with that, and to set recv */
    DTL_NODES_SENDING,  /* and to wait for what it sends */
};

/* Where a meeting is. */
enum { DTL_NODES_ALL_HAVE, DTL_NODES_AWAITS_NODE, DTL_NODES_STEPS, DTL_NODES_AWAITS_LEADER };

struct dtl_nodes_arrival {
    int source, tag, cancelled;
    int64_t bytes;
};

/* One rank's view. It lies where it never moves, in memory that is never given back. */
typedef struct {
    int64_t owner; /* the context's handle; 0: only Go may meet */
    uint64_t turn; /* which thread makes a collective call: core/comm.turn */
    int32_t broken; /* 1: a rank has given up a call; there is none after it */
    int32_t early;  /* how many messages of the next meeting have been received */
    uint64_t started;  /* how many collectives that do not block this rank has started */
    const int32_t *queued; /* where it is not 0, others' messages have to go first */

    uint64_t comm; /* of the backend's functions; these are NULL where the caller carries the messages */
    int (*send_for)(uint64_t comm, const void *buf, int64_t n, int type, int dest, int tag, int64_t patience, uint64_t *request);
    int (*recv_for)(uint64_t comm, void *buf, int64_t n, int type, int source, int tag, int64_t patience, uint64_t *request,
                    struct dtl_nodes_arrival *arrival);
    int (*wait_for)(uint64_t comm, uint64_t *request, int64_t patience, int *done, struct dtl_nodes_arrival *arrival);
    int (*cancel)(uint64_t request);
    dtl_nodes_message *out, *in; /* what is gathered so far, and what comes; NULL: this rank has not met yet */
    dtl_nodes_step *steps;       /* of a leader */
    int32_t *slots;              /* of each rank: which part of all ranks' elements is its own, which are in the order of the nodes */
    int32_t step_count, tag;

    dtl_nodes_entry *entries;   /* of the node; NULL: this rank is alone */
    dtl_nodes_message *outcome; /* likewise */
    int32_t place, members;     /* which of the node's ranks this one is; 0: the leader */
    int32_t size, looks;        /* how many ranks there are, and how often to look for what another of the node lays down */

    uint64_t number; /* of the meeting */
    dtl_nodes_elements brought;
    int32_t phase, missing; /* missing: the first of the node that has not been seen */
    int32_t at, sent;       /* the step under way, and whether its message has been sent */
    int32_t looked;         /* one more than the step for which the early messages were looked at */
    int32_t code;           /* why the backend failed */
    uint64_t send, recv;    /* under way; 0: nothing is */
    int32_t explains, unused; /* the meeting is one of texts, of which Go knows alone */
} dtl_nodes;

/* dtl_nodes_come comes to the next meeting. The elements are copied, and may be none. */
void dtl_nodes_come(dtl_nodes *m, const dtl_stated *s, const dtl_nodes_elements *brought);

/* dtl_nodes_go_on goes on with the meeting, for at most about so many nanoseconds in the backend. */
int dtl_nodes_go_on(dtl_nodes *m, int64_t patience);

/* dtl_nodes_outcome returns what has come of the meeting, in front of the elements, when all have come. */
static inline const dtl_nodes_message *dtl_nodes_outcome(const dtl_nodes *m) { return m->place > 0 ? m->outcome : m->out; }

/* dtl_nodes_brought returns a rank's elements, or root's, and their length, when all have come. */
const char *dtl_nodes_brought(const dtl_nodes *m, int rank, int *bytes);

/* dtl_nodes_leave takes back what is under way with the backend, and says whether that is over: else it keeps the memory. */
int dtl_nodes_leave(dtl_nodes *m, int64_t patience);

#pragma GCC visibility pop

#endif
