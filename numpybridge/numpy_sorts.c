//go:build cpython

/* NumPy's sorts, where they are faster than the core's: those that use wide registers, since NumPy 2. */
#include "numpy.h"

/* has_feature says whether NumPy uses one of a processor's features, which it calls by one name or another. */
static int has_feature(PyObject *features, const char *name, const char *other) {
    PyObject *one = PyDict_GetItemString(features, name), *two = PyDict_GetItemString(features, other);
    return one == Py_True || two == Py_True;
}

/* sorts says whether a function sorts numbers of a size, some of which are many and some equal. */
static int sorts(int (*sort)(void *, Py_ssize_t, void *), int size) {
    enum { COUNT = 300 };
    uint64_t words[COUNT], state = 1;
    uint32_t *halves = (uint32_t *)words;
    for (int i = 0; i < COUNT; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t word = i % 7 == 0 ? UINT64_MAX : state;
        if (size == 8)
            words[i] = word;
        else
            halves[i] = (uint32_t)(word >> 32);
    }
    if (sort(words, COUNT, NULL) < 0)
        return 0;
    for (int i = 1; i < COUNT; i++)
        if (size == 8 ? words[i] < words[i - 1] : halves[i] < halves[i - 1])
            return 0;
    return 1;
}

void numpy_sorts_learn(void) {
    enum { VERSION_2 = 0x02000000, ARRAY_FUNCTIONS = 365, SORT = 21 + 12 }; /* after the casts, and what follows them */
    void **table = numpy_functions();
    if (table == NULL || ((unsigned (*)(void))table[0])() != VERSION_2)
        return;
    PyObject *features = PyObject_GetAttrString(numpy_module(), "__cpu_features__");
    int wide = features != NULL && PyDict_Check(features) &&
               (has_feature(features, "X86_V4", "AVX512_SKX") || has_feature(features, "X86_V3", "AVX2"));
    Py_XDECREF(features);
    PyErr_Clear();
    for (int type = 0; wide && type < NDARRAY_TYPES; type++) {
        const array_type *known = &array_types[type];
        if (known->number == 0 || strchr("ILQ", known->format[0]) == NULL)
            continue;
        void **functions = ((void **(*)(const ndarray_descr *))table[ARRAY_FUNCTIONS])(known->descr);
        int (*sort)(void *, Py_ssize_t, void *) = functions == NULL ? NULL : functions[SORT];
        if (sort != NULL && sorts(sort, known->size))
            dtl_sorter(known->size, (void *)sort);
    }
}
