/* Events of the tests' driver: a part of cuda.c. */
#ifndef FAKE_EVENTS_H
#define FAKE_EVENTS_H

int cuEventCreate(void **made, unsigned flags) {
    ENTER();
    NEED_CONTEXT();
    (void)flags;
    event *e = calloc(1, sizeof *e);
    e->device = (int)(on - devices);
    e->users = 1;
    events++;
    *made = e;
    LEAVE(OK);
}

int cuEventDestroy_v2(void *what) {
    ENTER();
    NEED_CONTEXT();
    (void)on;
    events--;
    forget(what);
    LEAVE(OK);
}

int cuEventRecord(void *what, void *handle) {
    ENTER();
    NEED_CONTEXT();
    event *e = what;
    stream *in = stream_of(on, handle);
    if (in == NULL || in->device != e->device)
        LEAVE(INVALID_HANDLE);
    e->in = in;
    e->recorded++;
    e->users++;
    LEAVE(queue(on, handle, (op){.kind = RECORD, .event = e, .serial = e->recorded}));
}

/* toward has the streams that an event waits for go on by one operation each. */
static int toward(device *on, const event *e) {
    if (e->in != NULL)
        return step(e->in);
    int rc = on->legacy.first != NULL ? step(&on->legacy) : OK;
    for (stream *s = streams; s != NULL; s = s->next)
        if (&devices[s->device] == on && s->first != NULL) {
            int did = step(s);
            rc = rc == OK ? did : rc;
        }
    return rc;
}

/* An event that is asked about goes on, too. */
int cuEventQuery(void *what) {
    ENTER();
    NEED_CONTEXT();
    event *e = what;
    if (e->done == e->recorded)
        LEAVE(OK);
    int did = stopped(toward(on, e));
    LEAVE(did != OK ? did : NOT_READY);
}

int cuEventSynchronize(void *what) {
    ENTER();
    NEED_CONTEXT();
    event *e = what;
    int did = OK;
    while ((did == OK || did == NOT_READY) && e->done < e->recorded)
        did = toward(on, e);
    LEAVE(stopped(did));
}

/* An event of a context comes after what is in all of its streams. */
int cuCtxRecordEvent(void *context, void *what) {
    ENTER();
    NEED_CONTEXT();
    event *e = what;
    if (context != on || context != &devices[e->device])
        LEAVE(INVALID_HANDLE);
    e->in = NULL;
    e->recorded++;
    e->left = 0;
    stream *next = streams;
    for (stream *s = &on->legacy; s != NULL; s = next, next = s != NULL ? s->next : NULL)
        if (&devices[s->device] == on && s->first != NULL) {
            e->left++;
            e->users++;
            append(s, (op){.kind = RECORD, .event = e, .serial = e->recorded});
        }
    if (e->left == 0)
        e->done = e->recorded;
    LEAVE(OK);
}

#endif
