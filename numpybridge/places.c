//go:build cpython

/*
 * Where in the program calls with a root were made: a rank may go on from them, and hear later that another rank made a
 * different one. Only the code and the instruction are kept, because the line is seldom asked for and takes longer to find.
 */
#include "meeting.h"
#include "objects.h"
#include "places.h"

#include <frameobject.h> /* which needs Python.h */

/* As many as a rank may be ahead of another. */
enum { KEPT = DTL_ENTRIES_KEPT };

static struct {
    uint64_t meets, number; /* where the ranks meet, as core/comm.Ahead knows it, and which of their meetings that was */
    PyCodeObject *code;
    int instruction;
} kept[KEPT];
static unsigned next; /* counts the calls */

/* at_instruction returns the offset in bytes of the instruction that a frame is at. */
static int at_instruction(PyFrameObject *frame) {
#if PY_VERSION_HEX >= 0x030b0000
    return PyFrame_GetLasti(frame);
#elif PY_VERSION_HEX >= 0x030a0000
    return frame->f_lasti * 2;
#else
    return frame->f_lasti;
#endif
}

/* code_of returns the code that a frame runs, as a new reference. */
static PyCodeObject *code_of(PyFrameObject *frame) {
#if PY_VERSION_HEX >= 0x03090000
    return PyFrame_GetCode(frame);
#else
    return Py_INCREF(frame->f_code), frame->f_code;
#endif
}

void places_keep(const RanksObject *ranks) {
    PyFrameObject *frame = PyEval_GetFrame();
    if (frame == NULL || (ranks->board == NULL && ranks->nodes == NULL))
        return;
    unsigned to = next++ % KEPT;
    PyCodeObject *before = kept[to].code;
    kept[to].code = code_of(frame);
    kept[to].instruction = at_instruction(frame);
    kept[to].meets = ranks->board != NULL ? (uint64_t)(uintptr_t)ranks->board : nodes_place(ranks->nodes);
    kept[to].number = ranks->board != NULL ? ranks->board->seq : ranks->nodes->number;
    Py_XDECREF(before);
}

PyObject *places_of(uint64_t meets, uint64_t number, int *line) {
    for (unsigned back = 1; back <= KEPT; back++) {
        unsigned from = (next - back) % KEPT;
        if (kept[from].code == NULL || kept[from].meets != meets || kept[from].number != number)
            continue;
        *line = PyCode_Addr2Line(kept[from].code, kept[from].instruction);
        return (PyObject *)kept[from].code;
    }
    return NULL;
}
