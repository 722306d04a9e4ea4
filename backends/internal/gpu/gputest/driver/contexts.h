/* What other libraries than DTL ask of contexts: a part of cuda.c. */
#ifndef FAKE_CONTEXTS_H
#define FAKE_CONTEXTS_H

int cuCtxSetCurrent(void *context) {
    ENTER();
    if (depth == 0)
        depth = 1;
    current[depth - 1] = context;
    LEAVE(OK);
}

int cuCtxGetDevice(int *which) {
    ENTER();
    NEED_CONTEXT();
    *which = (int)(on - devices);
    LEAVE(OK);
}

int cuDevicePrimaryCtxGetState(int which, unsigned *flags, int *active) {
    ENTER();
    if (which < 0 || which >= count())
        LEAVE(INVALID_DEVICE);
    *flags = 0;
    *active = devices[which].retained > 0;
    LEAVE(OK);
}

#endif
