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
 * Who needs nothing of the others in a call with a root does not meet: root's elements go down a tree of all ranks, and each rank
 * goes on when it has what it needs; or each rank sends its own to root, those of another node through the first of it. A statement
 * has the hash of all calls so far, so a meeting compares these, too, and every so many such calls are one. Each rank keeps a record of
 * its last calls, and sends them to the others when it waits: core/comm/agreement/records.go.
 *
 * This is the one implementation: core/comm/agreement calls it for Go, and numpybridge for calls that it makes without Go.
 */
#ifndef DTL_NODES_H
#define DTL_NODES_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum {
    DTL_NODES_ELEMENTS = 32 << 10, /* the most bytes of elements in a message */
    DTL_NODES_LONG = 66 << 10,     /* the same without a meeting, or if few ranks share a node: 64 KiB, and what describes them */
    DTL_NODES_PAYLOAD = 10240,     /* and in an entry, if more do: core/board.MaxPayload */
    DTL_NODES_FEW = 4,             /* how many ranks of a node are few */
    /* The longest messages of a call without a meeting that carry elements. Libraries send them at once; on the way to another machine,
     * a second message takes longer than copies do. */
    DTL_NODES_AT_ONCE = 4000,
    DTL_NODES_AT_ONCE_FAR = 16000,
};

/* What becomes of elements: core/comm/agreement.Way. */
enum { DTL_TO_ALL, DTL_COMBINED_FOR_ALL, DTL_FROM_ROOT, DTL_SCATTERED };

/* What some ranks state of a call. */
typedef struct {
    uint64_t number; /* of the meeting; in shared memory, written last */
    uint64_t fingerprint;
    uint64_t elements_hash; /* of those that state elements; 0: none does */
    uint64_t started;  /* the fewest collectives that do not block that one of them has started */
    uint32_t differs;  /* 1: they do not make the same call, or one of them cannot */
    uint32_t deadlock; /* 1: one of them waits for a collective that does not block */
    uint64_t bytes;    /* of the elements */
    uint64_t only;     /* of a meeting, 1: the message says where its sender is, and belongs to no step; of elements that are scattered:
                        * the bytes of each rank's */
    uint64_t apart;    /* of elements that follow in a message of their own */
} dtl_stated;

typedef struct {
    dtl_stated stated;
    char elements[]; /* as many as dtl_nodes.total says; in an entry, as dtl_nodes.room */
} dtl_nodes_message;

enum {
    DTL_NODES_ROW = 128, /* every so many calls with a root in a row are a meeting: a rank is no further ahead of the others */
    DTL_NODES_KEPT = 256, /* how many of its last calls a rank has records of: those of a row, and of the next, where others are */
    DTL_NODES_FLAT = 4,     /* up to how many ranks of one machine root sends its elements straight to each */
    DTL_NODES_RANKS = 16,   /* how many ranks may make such calls: core/comm.mostGoOn */
    DTL_NODES_PARTIALS = 5, /* and of how many parts of them root has partial results at most */
    DTL_NODES_CHILDREN = DTL_NODES_RANKS - 1, /* and to how many of them a rank sends at most: to all, where it scatters its elements */
};

/* What a rank does in a call: it meets all others, gives its elements to the others as root, or takes them; or brings them to root,
 * which collects them, or bundles those of its node and brings them. */
enum { DTL_NODES_MEETS, DTL_NODES_GIVES, DTL_NODES_TAKES, DTL_NODES_BRINGS, DTL_NODES_COLLECTS, DTL_NODES_BUNDLES };

/* What a rank keeps of one of its last calls: hashes of the names of its operation and operator, and what tells it from others.
 * A call that meets all has its text elsewhere. */
typedef struct {
    uint64_t number, history, elements_hash, operation, operator;
    int64_t count;
    int32_t type, root; /* root: one more than the rank, or 0 */
    uint8_t role, differs, deadlock, rest[5]; /* as in dtl_stated */
} dtl_nodes_record;

/* What a leader does with another one. */
typedef struct {
    int32_t peer; /* the other's rank */
    uint8_t sends, receives;
    uint8_t hears; /* the other has not heard of this one before */
    uint8_t lower; /* what comes is of nodes before those that this one has gathered from */
    uint8_t final; /* what comes is the outcome */
    uint8_t rest[3];
} dtl_nodes_step;

/* What root does with the elements that a rank brings, of ranks in the order of the nodes: it begins a partial result with them, or
 * combines the last one with them, and then the last two so many times. */
typedef struct {
    uint8_t begins, merges;
} dtl_nodes_fold;

/* The elements that a rank brings, behind what describes them, if anything does. All ranks of a call have them go one way. */
typedef struct {
    const void *head, *at;
    int64_t head_bytes;
    int64_t count, bytes;
    int32_t way, type, op; /* type and op: of elements that are combined */
    int32_t lends;         /* 1: in a call without a meeting, they are sent from where they are, and stay there until it is over */
    void *into;            /* where those are to go that come in such a call; NULL: the caller takes them from where they come */
    int64_t into_bytes;
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
    DTL_NODES_ASTRAY,   /* what has come from root is of another call */
};

/* Where a meeting is. */
enum { DTL_NODES_ALL_HAVE, DTL_NODES_AWAITS_NODE, DTL_NODES_STEPS, DTL_NODES_AWAITS_LEADER, DTL_NODES_TREE };

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
    const int32_t *queued; /* where it is not 0, Go waits for the other ranks, and goes on with what is under way meanwhile */

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

    char *entries;              /* of the node, each of entry_bytes; NULL: this rank is alone */
    dtl_nodes_message *outcome; /* likewise */
    int64_t entry_bytes;
    int32_t place, members;     /* which of the node's ranks this one is; 0: the leader */
    int64_t total, room;        /* the most bytes of elements in a message of a meeting, and those that a rank brings to it */
    int64_t total_for_all;      /* and in one of a meeting whose outcome goes to all */
    int32_t size, looks;        /* how many ranks there are, and how often to look for what another of the node lays down */

    uint64_t number; /* of the meeting */
    dtl_nodes_elements brought;
    int32_t phase, missing; /* missing: the first of the node that has not been seen */
    int32_t at, sent;       /* the step under way, and whether its message has been sent */
    int32_t looked;         /* one more than the step for which the early messages were looked at */
    int32_t code;           /* why the backend failed */
    uint64_t send, recv;    /* under way; 0: nothing is */
    int32_t explains, unused; /* the meeting is one of texts, of which Go knows alone */

    uint64_t history;         /* a hash of all calls */
    uint64_t verified;        /* the last call that all are known to have made alike */
    uint64_t told;            /* the last call whose record the others have been sent, or do not need */
    uint64_t listened;        /* the last call in which this rank looked for records of others */
    dtl_nodes_record *records; /* DTL_NODES_KEPT; NULL: this rank has gone on from no call yet */
    dtl_nodes_record last;     /* in their place: all calls before it are known to have been alike */
    int32_t goes_on;          /* 1: ranks go on in calls with a root */
    int32_t rooted;           /* 1: the meeting that this rank comes to next is of such a call */
    int32_t row;              /* how many such calls there were in a row; but for the first of a row, they are without a meeting */
    int32_t awake;            /* 1: somebody sends this rank's records to the others if it does not come by */
    int32_t rank, tree_tag;
    int32_t *ranks;           /* the ranks in the order of the nodes */
    dtl_nodes_message *given; /* what this rank gives or brings */
    dtl_nodes_message *taken; /* what has come of root, or of a rank that brings something */
    char *collected;          /* what all have brought, by rank or combined */
    const dtl_nodes_fold *folds; /* of the ranks in the order of the nodes */
    const char *partial[DTL_NODES_PARTIALS]; /* what is combined so far, from left to right */
    char *partials;           /* room for all but the first of them */
    int32_t slot, last_slot, partial_count; /* slot: whose elements this rank collects next, in the order of the nodes, up to the last */
    int32_t role, parent, child_count, sent_of_tree, has_taken, held;
    int32_t children[DTL_NODES_CHILDREN];
    uint64_t tree_recv, tree_sends[2 * DTL_NODES_CHILDREN]; /* to each child what describes the elements, and these if they are apart */
    const char *lent;         /* where the elements are sent from that are apart */
    int64_t came;             /* the bytes of elements that have come apart */
    int32_t coming, placed;   /* what comes next of the parent; 1: its elements come where they are to go */
    int32_t flat;             /* 1: root sends its elements straight to each rank */
    int32_t at_once;          /* the longest message that carries elements */
    int32_t alone;            /* 1: each of a few ranks is alone on its node */
    int64_t passing;          /* the most bytes of elements in a message of a call without a meeting */
    int32_t span;             /* of how many ranks this one gets what root scatters: of its node, from itself on */
    uint8_t spans[DTL_NODES_CHILDREN]; /* and of how many each child */
    int32_t kept, scattered;  /* kept: what of the caller's memory an operation still uses, of a call that not all made */
    uint8_t owed[DTL_NODES_RANKS]; /* how many messages of a rank are elements of such a call, which nobody takes */
} dtl_nodes;

/* What comes of another rank in a call without a meeting. */
enum { DTL_NODES_STATEMENT, DTL_NODES_APART, DTL_NODES_OWED };

/* The caller's memory that is left to an operation. */
enum { DTL_NODES_KEEPS_INTO = 1, DTL_NODES_KEEPS_LENT = 2 };

/* dtl_nodes_come comes to the next meeting. The elements are copied, and may be none. */
void dtl_nodes_come(dtl_nodes *m, const dtl_stated *s, const dtl_nodes_elements *brought);

/* dtl_nodes_room_for_all returns how many bytes each rank may bring to a call whose outcome goes to all. */
static inline int64_t dtl_nodes_room_for_all(const dtl_nodes *m, int ranks, int combined) {
    int64_t each = m->total_for_all / ranks, most = m->total_for_all < m->total ? DTL_NODES_PAYLOAD : m->room;
    return combined || each > most ? most : each;
}

/* dtl_nodes_without_meeting says whether a call with a root is to be made without a meeting. */
static inline int dtl_nodes_without_meeting(const dtl_nodes *m) { return m->goes_on && m->row % DTL_NODES_ROW != 0; }

/* dtl_nodes_room_of_root returns how many bytes root may give to the others in the next call, with what describes them. */
static inline int64_t dtl_nodes_room_of_root(const dtl_nodes *m) { return dtl_nodes_without_meeting(m) ? m->passing : m->room; }

/* dtl_nodes_room_to_root returns how many bytes each of the ranks may bring to root, without a meeting or with one. Without one, each
 * sends its own to root; those of all have one limit, for the link of root's carries them. */
static inline int64_t dtl_nodes_room_to_root(const dtl_nodes *m, int ranks, int combined, int without) {
    int64_t each = (without ? m->passing : m->total) / ranks;
    if (combined)
        return without && each > m->room ? each : m->room;
    return without || each < m->room ? each : m->room;
}

/* dtl_nodes_should_listen says whether this rank is to look for what others tell before its next call. */
static inline int dtl_nodes_should_listen(const dtl_nodes *m) { return m->goes_on && m->number - m->listened >= DTL_NODES_KEPT; }

/* dtl_nodes_record_of returns the record of one of this rank's last calls. */
static inline dtl_nodes_record *dtl_nodes_record_of(dtl_nodes *m, uint64_t number) {
    return m->records != NULL ? m->records + number % DTL_NODES_KEPT : &m->last;
}

/* dtl_nodes_pass makes the next call of this rank's without a meeting, as the call and its role say. The elements are copied, unless
 * they are lent. */
void dtl_nodes_pass(dtl_nodes *m, uint64_t fingerprint, const dtl_nodes_record *call, const dtl_nodes_elements *brought);

/* dtl_nodes_go_on goes on with the meeting, for at most about so many nanoseconds in the backend. */
int dtl_nodes_go_on(dtl_nodes *m, int64_t patience);

/* dtl_nodes_abandon ends a call that not all make, and says what is still under way: 1: a receive, 2: sends, or both. */
int dtl_nodes_abandon(dtl_nodes *m, int64_t patience);

/* dtl_nodes_outcome returns what has come of the meeting, in front of the elements, when all have come. */
static inline const dtl_nodes_message *dtl_nodes_outcome(const dtl_nodes *m) { return m->place > 0 ? m->outcome : m->out; }

/* dtl_nodes_scattered returns of how many ranks this rank has been given root's elements, of which its own are the first; 0: of all. */
static inline int dtl_nodes_scattered(const dtl_nodes *m) { return m->role == DTL_NODES_TAKES && m->scattered ? m->span : 0; }

/* dtl_nodes_collected returns where the elements are that this rank collects. */
static inline char *dtl_nodes_collected(const dtl_nodes *m) { return m->brought.into != NULL ? m->brought.into : m->collected; }

/* dtl_nodes_combined returns where the elements are that were combined. */
static inline const char *dtl_nodes_combined(const dtl_nodes *m) {
    return m->role == DTL_NODES_COLLECTS ? dtl_nodes_collected(m) : dtl_nodes_outcome(m)->elements;
}

/* dtl_nodes_brought returns a rank's elements, or root's, and their length, when all have come. In a call without a meeting in which
 * root scatters its elements, these are the ones of which dtl_nodes_scattered speaks. */
const char *dtl_nodes_brought(dtl_nodes *m, int rank, int *bytes);

/* dtl_nodes_placed returns what describes root's elements, and the length of both, where these have come where they were to go; else
 * NULL. */
const char *dtl_nodes_placed(const dtl_nodes *m, int *bytes);

/* dtl_nodes_leave takes back what is under way with the backend, and says whether that is over: else it keeps the memory. */
int dtl_nodes_leave(dtl_nodes *m, int64_t patience);

#pragma GCC visibility pop

#endif
