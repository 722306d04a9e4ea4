#include "nodes.h"

#include <string.h>

#include "_cgo_export.h"
#include "../../../board/cma/cma.h"
#include "../../../mix/mix.h"
#include "combine.h"

/* The numbers of core/dtype and core/kernel of what is combined here; Go combines the rest. */
enum { BYTES = DTL_NODES_UINT8, REAL = DTL_NODES_FLOAT64, INTEGER = DTL_NODES_INT64, SUM = DTL_NODES_SUM, PROD = DTL_NODES_PROD };

/* combine combines elements with others, which are on the right, in either's place or elsewhere. */
static void combine(const dtl_nodes_elements *b, char *into, const char *left, const char *right) {
    if ((b->op == SUM || b->op == PROD) && (b->type == REAL || b->type == INTEGER)) {
        dtl_combine_numbers(b->type == REAL, b->op == SUM, into, left, right, b->count);
        return;
    }
    if (into != left)
        memcpy(into, left, (size_t)b->bytes);
    dtl_nodes_accumulate((uintptr_t)into, (uintptr_t)right, b->count, b->type, b->op);
}

/* accumulate combines elements with others, which are on the right, in their place. */
static void accumulate(const dtl_nodes_elements *b, char *into, const char *from) { combine(b, into, into, from); }

/* add includes what others state. */
static void add(dtl_stated *s, const dtl_stated *o) {
    if (o->differs != 0 || o->fingerprint != s->fingerprint ||
        (s->elements_hash != 0 && o->elements_hash != 0 && s->elements_hash != o->elements_hash))
        s->differs = 1;
    s->elements_hash |= o->elements_hash;
    s->deadlock |= o->deadlock;
    s->started = o->started < s->started ? o->started : s->started;
}

/* note begins this rank's next call, and returns its record. */
static dtl_nodes_record *note(dtl_nodes *m, uint64_t fingerprint, const dtl_nodes_elements *brought) {
    uint64_t number = m->number + 1;
    dtl_nodes_record *r = dtl_nodes_record_of(m, number);
    m->history = dtl_mix(m->history, fingerprint);
    m->brought = *brought;
    m->explains = m->missing = m->at = m->sent = m->looked = 0;
    *r = (dtl_nodes_record){.number = number, .history = m->history};
    __atomic_store_n(&m->number, number, __ATOMIC_RELAXED);
    return r;
}

/* copy puts a rank's elements behind what describes them. */
static void copy(char *into, const dtl_nodes_elements *brought) {
    if (brought->head_bytes > 0)
        memcpy(into, brought->head, (size_t)brought->head_bytes);
    if (brought->bytes > 0)
        memcpy(into + brought->head_bytes, brought->at, (size_t)brought->bytes);
}

/* entry returns where a rank of the node lays down what it brings. */
static dtl_nodes_message *entry(const dtl_nodes *m, int place) { return (dtl_nodes_message *)(m->entries + place * m->entry_bytes); }

void dtl_nodes_come(dtl_nodes *m, const dtl_stated *s, const dtl_nodes_elements *brought) {
    dtl_nodes_message *mine = m->entries != NULL ? entry(m, m->place) : m->out;
    dtl_nodes_record *r = note(m, s->fingerprint, brought);
    r->elements_hash = s->elements_hash;
    r->differs = s->differs != 0;
    r->deadlock = s->deadlock != 0;
    m->role = DTL_NODES_MEETS;
    m->row = m->rooted ? m->row + 1 : 0;
    m->rooted = 0;
    m->phase = m->entries == NULL ? DTL_NODES_STEPS : m->place > 0 ? DTL_NODES_AWAITS_LEADER : DTL_NODES_AWAITS_NODE;
    mine->stated.fingerprint = r->history;
    mine->stated.elements_hash = s->elements_hash;
    mine->stated.started = s->started;
    mine->stated.differs = s->differs;
    mine->stated.deadlock = s->deadlock;
    mine->stated.bytes = (uint64_t)(brought->head_bytes + brought->bytes);
    mine->stated.only = mine->stated.apart = 0;
    copy(mine->elements, brought);
    __atomic_store_n(&mine->stated.number, r->number, __ATOMIC_RELEASE);
}

/* there says whether what another rank of the node lays down is of this meeting. */
static int there(const dtl_nodes *m, const uint64_t *number) {
    for (int looks = m->looks; __atomic_load_n(number, __ATOMIC_ACQUIRE) != m->number; dtl_pause())
        if (--looks <= 0)
            return 0;
    return 1;
}

/* speak begins the steps with what the ranks of the node have laid down. */
static void speak(dtl_nodes *m) {
    dtl_stated *s = &m->out->stated;
    *s = entry(m, 0)->stated;
    for (int place = 1; place < m->members; place++)
        add(s, &entry(m, place)->stated);
    s->bytes = 0;
    for (int place = 0; place < m->members && s->differs == 0; place++) {
        const dtl_nodes_message *e = entry(m, place);
        if (m->brought.way == DTL_COMBINED_FOR_ALL) {
            if (place > 0)
                combine(&m->brought, m->out->elements, place == 1 ? entry(m, 0)->elements : m->out->elements, e->elements);
            s->bytes = (uint64_t)m->brought.bytes;
            continue;
        }
        if (s->bytes + e->stated.bytes > (uint64_t)m->total) /* of other calls that look like this one */
            s->differs = 1;
        else
            memcpy(m->out->elements + s->bytes, e->elements, e->stated.bytes);
        s->bytes = s->differs != 0 ? 0 : s->bytes + e->stated.bytes;
    }
    m->phase = DTL_NODES_STEPS;
}

/* lay_down tells the other ranks of the node what has come of the meeting. */
static void lay_down(dtl_nodes *m) {
    const dtl_nodes_message *out = m->out;
    dtl_stated *s = &m->outcome->stated;
    s->started = out->stated.started;
    s->differs = out->stated.differs;
    s->deadlock = out->stated.deadlock;
    s->bytes = out->stated.bytes;
    memcpy(m->outcome->elements, out->elements, out->stated.bytes);
    __atomic_store_n(&s->number, m->number, __ATOMIC_RELEASE);
}

/* join puts what has come before or behind what is here. */
static void join(dtl_nodes *m, int lower) {
    dtl_stated *s = &m->out->stated;
    uint64_t here = s->bytes, more = m->in->stated.bytes;
    if (here + more > (uint64_t)m->total) { /* of other calls that look like this one */
        s->differs = 1;
        return;
    }
    if (lower)
        memmove(m->out->elements + more, m->out->elements, here);
    memcpy(m->out->elements + (lower ? 0 : here), m->in->elements, more);
    s->bytes = here + more;
}

/* exchange swaps the elements that have come with those that are gathered. */
static void exchange(dtl_nodes *m) {
    dtl_nodes_message *out = m->out;
    m->out = m->in;
    m->in = out;
    m->out->stated = out->stated;
    out->stated.number = 0;
}

/* include adds what has come to what is gathered. Of elements that are combined, those of the lower nodes are on the left on
 * every rank, so all get the same bits. */
static void include(dtl_nodes *m, const dtl_nodes_step *step) {
    dtl_nodes_message *out = m->out, *in = m->in;
    uint64_t bytes = in->stated.bytes;
    if (step->final)
        out->stated = in->stated;
    else
        add(&out->stated, &in->stated);
    in->stated.number = 0; /* it is taken */
    if (out->stated.differs != 0) {
        out->stated.bytes = 0;
    } else if (step->final || (m->brought.way >= DTL_FROM_ROOT && bytes > 0)) {
        out->stated.bytes = bytes;
        exchange(m);
    } else if (m->brought.way == DTL_TO_ALL) {
        join(m, step->lower);
    } else if (m->brought.way == DTL_COMBINED_FOR_ALL && step->lower) {
        accumulate(&m->brought, in->elements, out->elements);
        exchange(m);
    } else if (m->brought.way == DTL_COMBINED_FOR_ALL) {
        accumulate(&m->brought, out->elements, in->elements);
    }
}

/* is_next says whether what has come last is the message of this step. */
static int is_next(const dtl_nodes *m) { return m->recv == 0 && m->in->stated.number == m->number && m->in->stated.only == 0; }

/* longest returns how much a message of a meeting takes at most. */
static int64_t longest(const dtl_nodes *m) { return (int64_t)sizeof(dtl_stated) + m->total; }

static int64_t message_bytes(const dtl_nodes *m) { return (int64_t)(sizeof(dtl_stated) + m->out->stated.bytes); }

/* carried returns what a backend's function did: OVER if the operation is complete. */
static int carried(dtl_nodes *m, int rc, uint64_t left) {
    m->code = rc;
    return rc != 0 ? DTL_NODES_FAILED : left != 0 ? DTL_NODES_LATE : DTL_NODES_OVER;
}

/* finish goes on with an operation. A receive is waited for by the communicator, which counts what has come; a send by 0. */
static int finish(dtl_nodes *m, uint64_t *request, int64_t patience) {
    int receives = request == &m->recv || request == &m->tree_recv;
    int counts = request == &m->tree_recv && m->coming == DTL_NODES_APART;
    struct dtl_nodes_arrival arrival;
    int done = 0, rc = m->wait_for(receives ? m->comm : 0, request, patience, &done, counts ? &arrival : NULL);
    if (rc == 0 && done) {
        *request = 0;
        m->came = counts ? arrival.bytes : 0;
    }
    return carried(m, rc, *request);
}

/* receive goes on with the receive of a step's message. One of another meeting was left behind. */
static int receive(dtl_nodes *m, int peer, int64_t patience) {
    struct dtl_nodes_arrival arrival;
    while (!is_next(m)) {
        int how;
        if (m->early > 0 && m->looked != m->at + 1)
            return DTL_NODES_EARLY;
        if (m->recv_for == NULL)
            return DTL_NODES_RECEIVES;
        if (m->recv != 0) {
            how = finish(m, &m->recv, patience);
        } else {
            int rc = m->recv_for(m->comm, m->in, longest(m), BYTES, peer, m->tag, patience, &m->recv, &arrival);
            how = carried(m, rc, m->recv);
        }
        if (how != DTL_NODES_OVER)
            return how;
    }
    return DTL_NODES_OVER;
}

/* expect starts a step's receive, unless what it is to receive may be here. */
static int expect(dtl_nodes *m, const dtl_nodes_step *step) {
    struct dtl_nodes_arrival arrival;
    if (!step->receives || m->recv_for == NULL || m->recv != 0 || m->early != 0 || is_next(m))
        return 0;
    return m->recv_for(m->comm, m->in, longest(m), BYTES, step->peer, m->tag, -1, &m->recv, &arrival);
}

/* start starts a step's receive and sends its message. A short message is sent first, for the other rank waits for it; before a
 * long one comes the receive: then what the other sends goes at once where it is to be. */
static int start(dtl_nodes *m, const dtl_nodes_step *step) {
    int rc = 0, brief = message_bytes(m) <= DTL_NODES_AT_ONCE;
    if (step->sends && m->send_for == NULL)
        return DTL_NODES_SENDS;
    if (!brief)
        rc = expect(m, step);
    if (rc == 0 && step->sends)
        rc = m->send_for(m->comm, m->out, message_bytes(m), BYTES, step->peer, m->tag, -1, &m->send);
    if (rc == 0 && brief)
        rc = expect(m, step);
    m->sent = rc == 0;
    return carried(m, rc, 0);
}

/* go_through goes on with the steps. */
static int go_through(dtl_nodes *m, int64_t patience) {
    for (; m->at < m->step_count; m->at++, m->sent = 0) {
        const dtl_nodes_step *step = m->steps + m->at;
        int how = DTL_NODES_OVER;
        if (!m->sent)
            how = start(m, step);
        if (how == DTL_NODES_OVER && step->receives)
            how = receive(m, step->peer, patience);
        if (how == DTL_NODES_OVER && m->send != 0)
            how = m->wait_for == NULL ? DTL_NODES_SENDING : finish(m, &m->send, patience);
        if (how != DTL_NODES_OVER)
            return how;
        if (step->receives)
            include(m, step);
    }
    return DTL_NODES_OVER;
}

/* plan finds this rank's place in the tree of a root: a binomial tree of the ranks in the order of the nodes, from root's on.
 * Where their number is a power of two, they are numbered so that those of a node stay together, as far as nodes do. */
static void plan(dtl_nodes *m, int root) {
    int size = m->size, here = m->slots[m->rank], from = m->slots[root], turned = (size & (size - 1)) == 0;
    int at = turned ? here ^ from : (here - from + size) % size, width = 1;
    while (at != 0 ? (at & width) == 0 : width < size)
        width *= 2;
    if (at != 0)
        m->parent = m->ranks[turned ? (at - width) ^ from : (at - width + from) % size];
    for (width /= 2; width > 0; width /= 2)
        if (at + width < size && m->child_count < DTL_NODES_CHILDREN)
            m->children[m->child_count++] = m->ranks[turned ? (at + width) ^ from : (at + width + from) % size];
}

/* plan_flat has root send to each rank. */
static void plan_flat(dtl_nodes *m, int root) {
    m->parent = root;
    for (int step = 1; root == m->rank && step < m->size && m->child_count < DTL_NODES_CHILDREN; step++)
        m->children[m->child_count++] = (root + step) % m->size;
}

/* node_end returns the slot behind those of a node that a slot is of. */
static int node_end(const dtl_nodes *m, int slot) {
    for (slot++; slot < m->size && !m->folds[slot].begins; slot++)
        ;
    return slot;
}

/* node_begin returns the first slot of a node that a slot is of. */
static int node_begin(const dtl_nodes *m, int slot) {
    while (!m->folds[slot].begins)
        slot--;
    return slot;
}

static void add_child(dtl_nodes *m, int slot, int span) {
    m->spans[m->child_count] = (uint8_t)span;
    m->children[m->child_count++] = m->ranks[slot];
}

/* plan_dealing has root send each rank of its node its own part, and the first of another node those of all of the node, which it
 * sends on. */
static void plan_dealing(dtl_nodes *m, int root) {
    int own = m->slots[m->rank], first = node_begin(m, own), from = m->slots[root];
    int end = node_end(m, first), beside = from >= first && from < end;
    m->parent = beside || own == first ? root : m->ranks[first];
    for (int slot = 0, next; root == m->rank && slot < m->size; slot = next)
        if ((next = node_end(m, slot)) != end)
            add_child(m, slot, next - slot);
    if (!beside && own == first)
        m->span = end - first;
    for (int slot = first; slot < end && (root == m->rank || m->span > 1); slot++)
        if (slot != own)
            add_child(m, slot, 1);
}

/* plan_bringing has the ranks of root's node send root their elements, and those of another node the first of it, which bundles them. */
static void plan_bringing(dtl_nodes *m, int root) {
    int own = m->slots[m->rank], first = node_begin(m, own), end = node_end(m, first), from = m->slots[root];
    int beside = from >= first && from < end;
    m->slot = own == from ? 0 : first;
    m->last_slot = own == from ? m->size : end;
    m->partial_count = 0;
    if (own != from)
        add_child(m, beside || own == first ? from : first, 1);
    if (!beside && own == first && end > first + 1)
        m->role = DTL_NODES_BUNDLES;
}

/* collects says whether this rank takes elements that others bring. */
static int collects(const dtl_nodes *m) { return m->role == DTL_NODES_COLLECTS || m->role == DTL_NODES_BUNDLES; }

/* part returns how many bytes of elements each of the ranks gets that this one sends to. */
static int64_t part(const dtl_nodes *m) { return m->scattered ? m->brought.bytes / m->size : m->brought.bytes; }

/* most_ranks returns of how many ranks one that this rank sends to gets the elements at most. */
static int most_ranks(const dtl_nodes *m) {
    int most = 1;
    for (int child = 0; m->scattered && child < m->child_count; child++)
        most = m->spans[child] > most ? m->spans[child] : most;
    return most;
}

/* at_once returns how long a message of this rank may be that carries elements. What it scatters, it puts together for each. */
static int64_t at_once(const dtl_nodes *m) {
    int64_t each = m->scattered && m->child_count > 0 ? (m->passing / m->child_count) & ~INT64_C(63) : m->passing;
    return each < m->at_once ? each : m->at_once;
}

/* give prepares what this rank sends. Longer elements are a message of their own, which goes from where they are to where they
 * are to be: to put them behind what describes them would be a copy on either side. */
static void give(dtl_nodes *m, const dtl_nodes_record *r) {
    const dtl_nodes_elements *b = &m->brought;
    dtl_nodes_message *given = m->given;
    int64_t bytes = (int64_t)sizeof given->stated + b->head_bytes + part(m) * most_ranks(m);
    int lends = b->lends, apart = bytes > at_once(m);
    given->stated = (dtl_stated){.number = r->number,
                                 .fingerprint = r->history,
                                 .elements_hash = r->elements_hash,
                                 .only = m->scattered ? (uint64_t)part(m) : 0};
    if (!collects(m) && !apart)
        lends = 0;
    if (lends && b->head_bytes > 0)
        memcpy(given->elements, b->head, (size_t)b->head_bytes);
    else if (!lends)
        copy(given->elements, b);
    m->lent = lends ? b->at : given->elements + b->head_bytes;
    given->stated.apart = apart && (lends || m->scattered) ? (uint64_t)part(m) : 0;
    given->stated.bytes = (uint64_t)(b->head_bytes + (m->scattered || given->stated.apart > 0 ? 0 : b->bytes));
}

void dtl_nodes_pass(dtl_nodes *m, uint64_t fingerprint, const dtl_nodes_record *call, const dtl_nodes_elements *brought) {
    dtl_nodes_record *r = note(m, fingerprint, brought);
    uint64_t number = r->number, history = r->history;
    *r = *call;
    r->number = number;
    r->history = history;
    m->row++;
    m->role = call->role;
    m->phase = DTL_NODES_TREE;
    m->scattered = brought->way == DTL_SCATTERED;
    m->child_count = m->sent_of_tree = m->has_taken = m->placed = m->kept = 0;
    m->span = 1;
    if (m->scattered)
        plan_dealing(m, call->root - 1);
    else if (call->role == DTL_NODES_GIVES || call->role == DTL_NODES_TAKES)
        (m->flat ? plan_flat : plan)(m, call->root - 1);
    else
        plan_bringing(m, call->root - 1);
    r->role = (uint8_t)m->role;
    if (call->role != DTL_NODES_TAKES)
        give(m, r);
}

/* matches says whether what has come is of this rank's call. */
static int matches(dtl_nodes *m) {
    const dtl_nodes_record *mine = dtl_nodes_record_of(m, m->number);
    const dtl_stated *came = &m->taken->stated;
    return came->number == m->number && came->fingerprint == mine->history &&
           (came->elements_hash == 0 || mine->elements_hash == 0 || came->elements_hash == mine->elements_hash);
}

/* bundle returns of how many ranks the elements come next that this one collects. */
static int bundle(const dtl_nodes *m) {
    int end = node_end(m, m->slot);
    return m->role == DTL_NODES_COLLECTS && end != node_end(m, m->slots[m->rank]) ? end - m->slot : 1;
}

/* room returns where a partial result goes, of which the first becomes the result. */
static char *room(const dtl_nodes *m, int which) {
    if (which > 0)
        return m->partials + (which - 1) * m->brought.bytes;
    return m->role == DTL_NODES_BUNDLES ? m->given->elements : dtl_nodes_collected(m);
}

/* gathered returns where the elements of a slot's rank go that are not combined. */
static char *gathered(const dtl_nodes *m, int slot) {
    if (m->role == DTL_NODES_BUNDLES)
        return m->given->elements + (slot - m->slots[m->rank]) * m->brought.bytes;
    return dtl_nodes_collected(m) + m->ranks[slot] * m->brought.bytes;
}

/* in_order says whether the elements of a bundle lie side by side where they are gathered. */
static int in_order(const dtl_nodes *m, int ranks) {
    for (int i = 1; i < ranks; i++)
        if (gathered(m, m->slot + i) != gathered(m, m->slot) + i * m->brought.bytes)
            return 0;
    return 1;
}

/* place returns where the elements go that are apart. */
static void *place(const dtl_nodes *m) {
    if (!m->placed)
        return m->taken->elements + m->taken->stated.bytes;
    if (!collects(m))
        return m->brought.into;
    return m->brought.way == DTL_COMBINED_FOR_ALL ? room(m, 0) : gathered(m, m->slot);
}

/* may_place says whether the elements may come at once where they are to go: who states a type and a count gets no others. */
static int may_place(dtl_nodes *m) {
    const dtl_nodes_elements *b = &m->brought;
    int64_t apart = (int64_t)m->taken->stated.apart;
    int ranks = collects(m) ? bundle(m) : m->span;
    if ((b->into == NULL && m->role != DTL_NODES_BUNDLES) || !matches(m))
        return 0;
    if (!collects(m))
        return ranks == 1 && m->taken->stated.elements_hash != 0 && dtl_nodes_record_of(m, m->number)->elements_hash != 0 && apart == b->into_bytes;
    if (b->way == DTL_COMBINED_FOR_ALL)
        return m->slot == 0 && m->role == DTL_NODES_COLLECTS && apart == b->bytes;
    return apart == ranks * b->bytes && in_order(m, ranks);
}

/* arrived goes on from what has come of the parent. */
static void arrived(dtl_nodes *m) {
    dtl_stated *came = &m->taken->stated;
    int coming = m->coming;
    m->coming = DTL_NODES_STATEMENT;
    if (coming == DTL_NODES_OWED) {
        m->owed[m->parent]--;
    } else if (coming == DTL_NODES_STATEMENT && came->apart > 0) {
        m->coming = DTL_NODES_APART;
        m->placed = may_place(m);
    } else if (coming == DTL_NODES_APART && !m->placed) { /* behind what describes them */
        came->bytes += (uint64_t)m->came; /* which may be those of another call */
        came->apart = 0;
    }
}

/* receive_next starts to receive what comes next of the parent. */
static int receive_next(dtl_nodes *m, int64_t patience) {
    struct dtl_nodes_arrival arrival;
    void *into = m->taken;
    int64_t bytes = (int64_t)sizeof(dtl_stated) + m->passing;
    if (m->coming == DTL_NODES_STATEMENT && m->owed[m->parent] > 0)
        m->coming = DTL_NODES_OWED;
    if (m->coming == DTL_NODES_OWED) {
        into = m->taken->elements;
        bytes = m->passing;
    } else if (m->coming == DTL_NODES_APART) {
        into = place(m);
        bytes = m->placed ? (int64_t)m->taken->stated.apart : m->passing - (int64_t)m->taken->stated.bytes;
    }
    int rc = m->recv_for(m->comm, into, bytes, BYTES, m->parent, m->tree_tag, patience, &m->tree_recv, &arrival);
    if (rc == 0 && m->tree_recv == 0)
        m->came = arrival.bytes;
    return carried(m, rc, m->tree_recv);
}

/* take goes on with the receive of elements. What is of earlier calls was left behind. */
static int take(dtl_nodes *m, int64_t patience) {
    const dtl_stated *came = &m->taken->stated;
    for (;;) {
        int how, whole = m->tree_recv == 0 && m->coming == DTL_NODES_STATEMENT;
        if (m->held > 0 && m->looked == 0)
            return DTL_NODES_EARLY;
        if (whole && came->number == m->number)
            break;
        if (whole && came->number > m->number)
            return DTL_NODES_ASTRAY;
        how = m->tree_recv != 0 ? finish(m, &m->tree_recv, patience) : receive_next(m, patience);
        if (how != DTL_NODES_OVER)
            return how;
        arrived(m);
    }
    if (!matches(m))
        return DTL_NODES_ASTRAY;
    if (m->size == 2)
        m->verified = m->number;
    m->has_taken = 1;
    return DTL_NODES_OVER;
}

/* include_right combines the last partial result with elements on its right. */
static void include_right(dtl_nodes *m, const char *from) {
    int last = m->partial_count - 1;
    combine(&m->brought, room(m, last), m->partial[last], from);
    m->partial[last] = room(m, last);
}

/* fold combines elements with those before them, in the order in which a meeting does: equal calls have equal bits. They are of some
 * ranks of a node, combined. */
static void fold(dtl_nodes *m, const char *from, int ranks) {
    int begins = m->folds[m->slot].begins, merges = m->role == DTL_NODES_BUNDLES ? 0 : m->folds[m->slot + ranks - 1].merges;
    if (begins && merges == 0) {
        int which = m->partial_count++;
        if (from == m->taken->elements) /* which the next takes */
            from = m->placed ? room(m, which) : memcpy(room(m, which), from, (size_t)m->brought.bytes);
        m->partial[which] = from;
        return;
    }
    include_right(m, from);
    for (merges -= begins; merges > 0; merges--) {
        m->partial_count--;
        include_right(m, m->partial[m->partial_count]);
    }
}

/* gather puts elements of some ranks where they go. */
static void gather(dtl_nodes *m, const char *from, int ranks) {
    int64_t bytes = m->brought.bytes;
    for (int i = 0; i < ranks && bytes > 0 && !m->placed; i++)
        if (gathered(m, m->slot + i) != from + i * bytes)
            memcpy(gathered(m, m->slot + i), from + i * bytes, (size_t)bytes);
}

/* collect takes what the other ranks bring, in the order of the nodes, and puts or combines it. All make the call, then. */
static int collect(dtl_nodes *m, int64_t patience) {
    for (int ranks; m->slot < m->last_slot; m->slot += ranks, m->has_taken = m->looked = m->placed = 0) {
        ranks = bundle(m);
        m->parent = m->ranks[m->slot];
        const char *from = m->parent == m->rank ? m->lent : m->taken->elements;
        int how = m->parent == m->rank ? DTL_NODES_OVER : take(m, patience);
        if (how != DTL_NODES_OVER)
            return how;
        if (m->brought.way == DTL_COMBINED_FOR_ALL)
            fold(m, from, ranks);
        else
            gather(m, from, ranks);
        m->taken->stated.number = 0; /* it is taken */
    }
    if (m->role == DTL_NODES_COLLECTS)
        m->verified = m->number;
    return DTL_NODES_OVER;
}

/* bundle_up prepares what the first rank of a node sends root of all of it. */
static void bundle_up(dtl_nodes *m) {
    dtl_nodes_message *given = m->given;
    int64_t ranks = m->brought.way == DTL_COMBINED_FOR_ALL ? 1 : m->last_slot - m->slots[m->rank];
    int64_t bytes = ranks * m->brought.bytes;
    int apart = (int64_t)sizeof given->stated + bytes > m->at_once;
    given->stated.bytes = apart ? 0 : (uint64_t)bytes;
    given->stated.apart = apart ? (uint64_t)bytes : 0;
    m->lent = given->elements;
}

/* deal_on prepares what the first rank of a node sends to the others of it. */
static void deal_on(dtl_nodes *m) {
    const dtl_nodes_message *t = m->taken;
    int64_t each = (int64_t)t->stated.only, head = (int64_t)t->stated.bytes - m->span * each;
    m->given->stated = t->stated;
    m->given->stated.bytes = (uint64_t)head;
    m->given->stated.apart = (int64_t)sizeof t->stated + head + each > at_once(m) ? (uint64_t)each : 0;
    memcpy(m->given->elements, t->elements, (size_t)head);
    m->lent = t->elements + head;
}

/* part_for returns the elements for a rank that this one scatters. */
static const char *part_for(const dtl_nodes *m, int slot) {
    int64_t each = (int64_t)m->given->stated.only;
    return m->lent + each * (m->role == DTL_NODES_TAKES ? slot - m->slots[m->rank] : m->ranks[slot]);
}

/* copy_parts copies the elements for a child, and for the ranks that it sends them on to. */
static void copy_parts(const dtl_nodes *m, int child, char *to) {
    int64_t each = (int64_t)m->given->stated.only;
    for (int i = 0; i < m->spans[child]; i++)
        memcpy(to + i * each, part_for(m, m->slots[m->children[child]] + i), (size_t)each);
}

/* scattered_apart returns the elements for a child where they lie side by side. */
static const char *scattered_apart(dtl_nodes *m, int child) {
    int slot = m->slots[m->children[child]];
    int64_t each = (int64_t)m->given->stated.only;
    for (int i = 1; i < m->spans[child]; i++)
        if (part_for(m, slot + i) != part_for(m, slot) + i * each) {
            copy_parts(m, child, m->collected + slot * each);
            return m->collected + slot * each;
        }
    return part_for(m, slot);
}

/* scattered_along puts a message together with the elements for a child, which are short, and returns it. */
static const dtl_nodes_message *scattered_along(dtl_nodes *m, int child) {
    int64_t head = (int64_t)m->given->stated.bytes, each = (int64_t)m->given->stated.only;
    int64_t bytes = (int64_t)sizeof(dtl_stated) + head + most_ranks(m) * each;
    dtl_nodes_message *to = (dtl_nodes_message *)(m->collected + child * ((bytes + 63) & ~INT64_C(63)));
    to->stated = m->given->stated;
    to->stated.bytes = (uint64_t)(head + m->spans[child] * each);
    memcpy(to->elements, m->given->elements, (size_t)head);
    copy_parts(m, child, to->elements + head);
    return to;
}

/* send_on sends a child one of its two messages. */
static int send_on(dtl_nodes *m, const dtl_nodes_message *out, int child, int elements) {
    uint64_t *request = m->tree_sends + 2 * child + elements;
    int64_t apart = (int64_t)out->stated.apart;
    const void *from = out;
    if (elements && m->scattered) {
        from = scattered_apart(m, child);
        apart *= m->spans[child];
    } else if (elements) {
        from = m->role == DTL_NODES_TAKES ? m->brought.into : (const void *)m->lent;
    } else if (m->scattered && apart == 0) {
        from = out = scattered_along(m, child);
    }
    int64_t bytes = elements ? apart : (int64_t)(sizeof out->stated + out->stated.bytes);
    return carried(m, m->send_for(m->comm, from, bytes, BYTES, m->children[child], m->tree_tag, 0, request), 0);
}

/* pass_on takes root's elements, where they are another's, and sends them to the children; or collects what others bring. */
static int pass_on(dtl_nodes *m, int64_t patience) {
    const dtl_nodes_message *out = m->role == DTL_NODES_TAKES && !m->scattered ? m->taken : m->given;
    int how = DTL_NODES_OVER;
    if (collects(m) && (how = collect(m, patience)) != DTL_NODES_OVER)
        return how;
    if (m->role == DTL_NODES_BUNDLES)
        bundle_up(m);
    if (m->role == DTL_NODES_TAKES && !m->has_taken) {
        if ((how = take(m, patience)) != DTL_NODES_OVER)
            return how;
        if (m->span > 1)
            deal_on(m);
    }
    for (; m->sent_of_tree < 2 * m->child_count; m->sent_of_tree++)
        if ((m->sent_of_tree % 2 == 0 || out->stated.apart > 0) &&
            (how = send_on(m, out, m->sent_of_tree / 2, m->sent_of_tree % 2)) != DTL_NODES_OVER)
            return how;
    for (int i = 0; i < 2 * m->child_count; i++)
        if (m->tree_sends[i] != 0 && (how = finish(m, m->tree_sends + i, patience)) != DTL_NODES_OVER)
            return how;
    m->phase = DTL_NODES_ALL_HAVE;
    return DTL_NODES_OVER;
}

int dtl_nodes_go_on(dtl_nodes *m, int64_t patience) {
    int how;
    switch (m->phase) {
    case DTL_NODES_ALL_HAVE:
        return DTL_NODES_OVER;
    case DTL_NODES_TREE:
        return pass_on(m, patience);
    case DTL_NODES_AWAITS_LEADER:
        if (!there(m, &m->outcome->stated.number))
            return DTL_NODES_LATE;
        break;
    case DTL_NODES_AWAITS_NODE:
        for (; m->missing < m->members; m->missing++)
            if (!there(m, &entry(m, m->missing)->stated.number))
                return DTL_NODES_LATE;
        speak(m); /* fallthrough */
    case DTL_NODES_STEPS:
        if ((how = go_through(m, patience)) != DTL_NODES_OVER)
            return how;
        if (m->entries != NULL)
            lay_down(m);
    }
    m->phase = DTL_NODES_ALL_HAVE;
    if (dtl_nodes_outcome(m)->stated.differs == 0)
        m->verified = m->told = m->number;
    return DTL_NODES_OVER;
}

const char *dtl_nodes_placed(const dtl_nodes *m, int *bytes) {
    if (m->role != DTL_NODES_TAKES || !m->placed)
        return NULL;
    *bytes = (int)(m->taken->stated.bytes + m->taken->stated.apart);
    return m->taken->elements;
}

/* bring_back puts elements behind what describes them that have come where they were to go. */
static void bring_back(dtl_nodes *m) {
    dtl_stated *came = &m->taken->stated;
    memcpy(m->taken->elements + came->bytes, m->brought.into, (size_t)came->apart);
    came->bytes += came->apart;
    came->apart = 0;
    m->placed = 0;
}

const char *dtl_nodes_brought(dtl_nodes *m, int rank, int *bytes) {
    const dtl_nodes_message *o = dtl_nodes_outcome(m);
    if (m->role == DTL_NODES_COLLECTS) {
        *bytes = (int)m->brought.bytes;
        return dtl_nodes_collected(m) + rank * m->brought.bytes;
    }
    if (m->role == DTL_NODES_GIVES) {
        *bytes = (int)(m->brought.head_bytes + m->brought.bytes);
        return m->given->elements;
    }
    if (m->role != DTL_NODES_MEETS) {
        if (m->placed)
            bring_back(m);
        *bytes = (int)m->taken->stated.bytes;
        return m->taken->elements;
    }
    if (m->brought.way == DTL_FROM_ROOT || m->brought.way == DTL_SCATTERED) {
        *bytes = (int)o->stated.bytes;
        return o->elements;
    }
    *bytes = (int)o->stated.bytes / m->size;
    return o->elements + (int64_t)m->slots[rank] * *bytes;
}

/* withdraw takes a receive back, and says whether that is over; came says whether something has come all the same. */
static int withdraw(dtl_nodes *m, uint64_t *request, int64_t patience, int *came) {
    struct dtl_nodes_arrival arrival = {0};
    int done = 0;
    if (m->cancel(*request) != 0 || m->wait_for(m->comm, request, patience, &done, &arrival) != 0 || !done)
        return 0;
    *request = 0;
    *came = !arrival.cancelled;
    m->came = arrival.bytes;
    return 1;
}

/* leave_parent ends what comes of the parent, and says whether no operation is left. */
static int leave_parent(dtl_nodes *m, int64_t patience) {
    int came = 0, over = m->tree_recv == 0 || withdraw(m, &m->tree_recv, patience, &came);
    if (!over && m->coming == DTL_NODES_APART && m->placed)
        m->kept |= DTL_NODES_KEEPS_INTO;
    if (!over && m->coming == DTL_NODES_OWED)
        m->owed[m->parent]--;
    if (came)
        arrived(m);
    if (over && m->coming == DTL_NODES_APART) { /* which have been sent */
        m->owed[m->parent]++;
        m->taken->stated.number = 0;
    }
    m->coming = DTL_NODES_STATEMENT;
    return over;
}

int dtl_nodes_abandon(dtl_nodes *m, int64_t patience) {
    int left = 0, came;
    m->phase = DTL_NODES_ALL_HAVE;
    if (m->wait_for == NULL)
        return 0;
    if (m->recv != 0 && !withdraw(m, &m->recv, patience, &came))
        left |= 1;
    if (!leave_parent(m, patience))
        left |= 1;
    if (m->send != 0 && finish(m, &m->send, patience) != DTL_NODES_OVER)
        left |= 2;
    for (int i = 0; i < 2 * DTL_NODES_CHILDREN; i++)
        if (m->tree_sends[i] != 0 && finish(m, m->tree_sends + i, patience) != DTL_NODES_OVER) {
            left |= 2;
            if (i % 2 != 0)
                m->kept |= m->role == DTL_NODES_TAKES ? DTL_NODES_KEEPS_INTO : DTL_NODES_KEEPS_LENT;
        }
    return left;
}

int dtl_nodes_leave(dtl_nodes *m, int64_t patience) { return dtl_nodes_abandon(m, patience) == 0; }
