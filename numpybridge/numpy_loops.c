//go:build cpython

/*
 * NumPy's loops, where they are faster than the core's: they use wide registers.
 *
 * They are in tables that NumPy's C interface describes, but which programs are not meant to call. So where a table is not
 * as it is known, its functions are not NumPy's own, or a function does not find a known result, the core keeps its own loop, which computes
 * the same. DTL_NUMPY_LOOPS=0 has it keep all.
 */
#define _GNU_SOURCE /* dladdr */
#include "casts.h"
#include "numpy.h"
#include "numpy_loops.h"
#include "past_cache.h"
#include "state.h"
#include <dlfcn.h>
#include <math.h>

enum { VERSION_2 = 0x02000000, ARRAY_FUNCTIONS = 365 };

/* What a type's table has: its casts, and after them functions, of which some are wanted here. */
enum { CASTS = 21, ARGMAX = CASTS + 5, SORT = CASTS + 12, ARGMIN = CASTS + 25 };

/* functions_of returns a type's table, or NULL where NumPy is not of version 2. */
static void **functions_of(const array_type *type) {
    void **table = numpy_functions();
    if (table == NULL || ((unsigned (*)(void))table[0])() != VERSION_2)
        return NULL;
    return ((void **(*)(const ndarray_descr *))table[ARRAY_FUNCTIONS])(type->descr);
}

/* is_numpys says whether a function is in NumPy's library, and so may be tried. */
static int is_numpys(void *function) {
    Dl_info its, numpys;
    void **table = numpy_functions();
    return function != NULL && table != NULL && dladdr(function, &its) != 0 && dladdr(table[0], &numpys) != 0 &&
           its.dli_fbase == numpys.dli_fbase;
}

/* has_feature says whether NumPy uses one of a processor's features, which it calls by one name or another. */
static int has_feature(PyObject *features, const char *name, const char *other) {
    PyObject *one = PyDict_GetItemString(features, name), *two = PyDict_GetItemString(features, other);
    return one == Py_True || two == Py_True;
}

/* comes_before says whether an element of a type, of 4 or 8 bytes, is less than another. */
static int comes_before(const array_type *type, const void *one, const void *other) {
    if (type->format[0] == 'd')
        return *(const double *)one < *(const double *)other;
    if (type->size == 8)
        return *(const uint64_t *)one < *(const uint64_t *)other;
    return *(const uint32_t *)one < *(const uint32_t *)other;
}

/* sorts says whether a function sorts numbers of a type, some of which are many and some equal. */
static int sorts(int (*sort)(void *, Py_ssize_t, void *), const array_type *type) {
    enum { COUNT = 300, WIDEST = 8 };
    _Alignas(WIDEST) char sample[COUNT * WIDEST];
    uint64_t state = 1;
    for (int i = 0; i < COUNT; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t word = i % 7 == 0 ? UINT64_MAX >> 12 : state;
        const double real = (double)(int64_t)word;
        const uint32_t half = (uint32_t)(word >> 32);
        memcpy(sample + i * type->size, type->format[0] == 'd' ? (const void *)&real : type->size == 8 ? (const void *)&word : &half,
               (size_t)type->size);
    }
    if (sort(sample, COUNT, NULL) < 0)
        return 0;
    for (int i = 1; i < COUNT; i++)
        if (comes_before(type, sample + i * type->size, sample + (i - 1) * type->size))
            return 0;
    return 1;
}

/* learn_sorts learns sorts of unsigned numbers and of float64, where the processor has the registers that make them faster. */
static void learn_sorts(void) {
    PyObject *features = PyObject_GetAttrString(numpy_module(), "__cpu_features__");
    int wide = features != NULL && PyDict_Check(features) &&
               (has_feature(features, "X86_V4", "AVX512_SKX") || has_feature(features, "X86_V3", "AVX2"));
    Py_XDECREF(features);
    PyErr_Clear();
    for (int type = 0; wide && type < NDARRAY_TYPES; type++) {
        const array_type *known = &array_types[type];
        if (known->number == 0 || strchr("ILQd", known->format[0]) == NULL)
            continue;
        void **functions = functions_of(known);
        int (*sort)(void *, Py_ssize_t, void *) = functions == NULL ? NULL : functions[SORT];
        if (is_numpys((void *)sort) && sorts(sort, known)) {
            dtl_sorter(known->number, (void *)sort);
            state.numpy_loops++;
        }
    }
}

/* The beginning of a ufunc of NumPy's, which is part of its C interface. */
typedef struct {
    PyObject_HEAD
    int inputs, outputs, arguments, identity;
    void **loops;
    void *const *data;
    int count, unused;
    const char *name, *types;
} ufunc;

/* finds says whether a loop finds the one element of many that is unlike the others: the least is zero, the greatest the
 * smallest number above it. */
static int finds(dtl_loop loop, int size, int greatest) {
    enum { COUNT = 300, WIDEST = 16 };
    _Alignas(WIDEST) unsigned char sample[COUNT * WIDEST] = {0}, found[WIDEST] = {0};
    for (int i = 0; i < COUNT; i++)
        sample[i * size] = (i == COUNT / 2) == greatest;
    memcpy(found, sample, (size_t)size);
    dtl_extreme(loop, sample, COUNT, size, found);
    return memcmp(found, sample + COUNT / 2 * size, (size_t)size) == 0;
}

/* adds says whether a loop adds zeros and bytes of 1 to bytes of 1 and 2, which are whole numbers and floats alike. */
static int adds(dtl_loop loop, int size) {
    enum { COUNT = 300, WIDEST = 16 };
    _Alignas(WIDEST) unsigned char sums[COUNT * WIDEST], zeros[COUNT * WIDEST] = {0};
    for (int i = 0; i < COUNT * size; i++)
        sums[i] = (unsigned char)(i % 3);
    dtl_add(loop, sums, zeros, COUNT, size);
    for (int i = 0; i < COUNT * size; i++)
        if (sums[i] != i % 3)
            return 0;
    dtl_add(loop, zeros, sums, COUNT, size);
    return memcmp(zeros, sums, (size_t)(COUNT * size)) == 0;
}

/* has_number says whether an attribute of NumPy's is a number. */
static int has_number(PyObject *object, const char *name, int number) {
    PyObject *value = PyObject_GetAttrString(object, name);
    long is = value == NULL ? -1 : PyLong_AsLong(value);
    Py_XDECREF(value);
    PyErr_Clear();
    return is == number;
}

/* is_known says whether a ufunc of two operands is as it is declared above: its fields are what NumPy says of it. */
static int is_known(PyTypeObject *kind, PyObject *object, const char *name) {
    const ufunc *of = (const ufunc *)object;
    return object != NULL && Py_TYPE(object) == kind && of->inputs == 2 && of->outputs == 1 && of->arguments == 3 &&
           has_number(object, "nin", of->inputs) && has_number(object, "ntypes", of->count) && strcmp(of->name, name) == 0;
}

/* each_loop calls f with the loops of a ufunc of two operands whose result is of their type, and that are for certain formats. */
static void each_loop(PyTypeObject *kind, const char *name, const char *formats, void (*f)(const array_type *, void *loop, int), int which) {
    PyObject *object = PyObject_GetAttrString(numpy_module(), name);
    if (is_known(kind, object, name)) {
        const ufunc *of = (const ufunc *)object;
        for (int i = 0; i < of->count; i++) {
            unsigned type = (unsigned char)of->types[3 * i];
            const array_type *known = type < NDARRAY_TYPES ? &array_types[type] : NULL;
            if (known != NULL && known->number != 0 && strchr(formats, known->format[0]) != NULL &&
                of->types[3 * i + 1] == (char)type && of->types[3 * i + 2] == (char)type && of->data[i] == NULL &&
                is_numpys(of->loops[i]))
                f(known, of->loops[i], which);
        }
    }
    Py_XDECREF(object); /* the module keeps it */
    PyErr_Clear();
}

/* The type of ufuncs; NULL until their layout is known. */
static PyTypeObject *ufuncs;

/* is_laid_out says whether a ufunc of NumPy's has the fields that are declared above. */
static int is_laid_out(PyTypeObject *kind, const char *name, int inputs) {
    PyObject *object = PyObject_GetAttrString(numpy_module(), name);
    const ufunc *of = (const ufunc *)object;
    int is = object != NULL && Py_TYPE(object) == kind && of->inputs == inputs && of->outputs == 1 && of->arguments == inputs + 1 &&
             has_number(object, "ntypes", of->count) && strcmp(of->name, name) == 0;
    Py_XDECREF(object);
    PyErr_Clear();
    return is;
}

int numpy_loop_of(PyObject *object, int operands, const int *types, numpy_loop *found) {
    const ufunc *of = (const ufunc *)object;
    if (ufuncs == NULL || Py_TYPE(object) != ufuncs || of->arguments != operands || of->outputs != 1 || operands > MOST_LOOP_TYPES)
        return 0;
    for (int row = 0; row < of->count; row++) {
        const char *has = of->types + row * operands;
        int fits = 1, alike = 1, numbers = 0;
        for (int i = 0; i < operands; i++) {
            fits &= types[i] < 0 || types[i] == (unsigned char)has[i];
            numbers += types[i] < 0;
            alike &= i == operands - 1 || has[i] == has[0];
        }
        if (!fits || (numbers > 0 && !alike))
            continue;
        for (int i = 0; i < operands; i++) {
            found->types[i] = (unsigned char)has[i];
            if (found->types[i] >= NDARRAY_TYPES || array_types[found->types[i]].number == 0)
                return 0;
        }
        found->call = (dtl_loop)of->loops[row];
        found->data = of->data == NULL ? NULL : (void *)of->data[row];
        return is_numpys((void *)found->call);
    }
    return 0;
}

int numpy_is(PyObject *object, const char *name) {
    return ufuncs != NULL && Py_TYPE(object) == ufuncs && strcmp(((const ufunc *)object)->name, name) == 0;
}

dtl_loop numpy_large_loop(PyObject *object, int type, unsigned arrays) {
    if (ufuncs == NULL || Py_TYPE(object) != ufuncs)
        return NULL;
    return large_result_loop(((const ufunc *)object)->name, array_types[type].format[0], arrays);
}

int numpy_last_truth(PyObject *object) {
    return numpy_is(object, "logical_or") ? 1 : numpy_is(object, "logical_and") ? 0 : -1;
}

/* is_converted says whether NumPy converts an operand to the type of a loop: numbers as here where arrays of integers are wide, or the
 * result is of float64. In others, old versions look at the number's value. */
static int is_converted(int type, int to, int numbers, int result) {
    if (type < 0)
        return to == NDARRAY_DOUBLE;
    if (numbers > 0 && (to != NDARRAY_DOUBLE || (result != NDARRAY_DOUBLE && array_types[type].size < 4)))
        return 0;
    return cast_keeps(type, to);
}

int numpy_loop_near(PyObject *object, int operands, const int *types, numpy_loop *found) {
    const ufunc *of = (const ufunc *)object;
    const int last = operands - 1;
    int numbers = 0;
    if (ufuncs == NULL || Py_TYPE(object) != ufuncs || of->arguments != operands || of->outputs != 1 || operands > MOST_LOOP_TYPES)
        return 0;
    for (int i = 0; i < last; i++)
        numbers += types[i] < 0;
    for (int row = 0; row < of->count; row++) {
        const char *has = of->types + row * operands;
        int fits = types[last] == (unsigned char)has[last];
        for (int i = 0; i < last; i++)
            fits = fits && is_converted(types[i], (unsigned char)has[i], numbers, types[last]);
        if (!fits)
            continue;
        for (int i = 0; i < operands; i++)
            found->types[i] = (unsigned char)has[i];
        found->call = (dtl_loop)of->loops[row];
        found->data = of->data == NULL ? NULL : (void *)of->data[row];
        return is_numpys((void *)found->call);
    }
    return 0;
}

/* put_integer writes an integer of Python's that a type has exactly. */
static int put_integer(PyObject *value, const array_type *type, void *element) {
    int over = 0;
    long long signed_value = PyLong_AsLongLongAndOverflow(value, &over);
    char format = type->format[0];
    if (format == 'd' || format == 'f') {
        long long most = format == 'd' ? 1LL << 53 : 1LL << 24;
        if (over != 0 || signed_value > most || signed_value < -most)
            return 0;
        if (format == 'd')
            *(double *)element = (double)signed_value;
        else
            *(float *)element = (float)signed_value;
        return 1;
    }
    int bits = 8 * type->size;
    if (over != 0 || strchr("bhilq", format) == NULL) { /* unsigned numbers of 64 bits have all that are not negative */
        if (over != 0 || strchr("BHILQ", format) == NULL || signed_value < 0 || (bits < 64 && signed_value >> bits != 0))
            return 0;
    } else if (bits < 64 && (signed_value < -(1LL << (bits - 1)) || signed_value >= 1LL << (bits - 1)))
        return 0;
    memcpy(element, &signed_value, (size_t)type->size); /* the low bytes come first */
    return 1;
}

int numpy_number(PyObject *value, int number, void *element) {
    const array_type *type = &array_types[number], *own;
    dtl_array a;
    scalar s;
    if (PyFloat_CheckExact(value)) {
        double real = PyFloat_AS_DOUBLE(value);
        if (type->format[0] == 'd')
            *(double *)element = real;
        else if (type->format[0] == 'f' && (isinf((float)real) == isinf(real)))
            *(float *)element = (float)real;
        else
            return 0;
        return 1;
    }
    if (PyLong_CheckExact(value))
        return put_integer(value, type, element);
    if ((own = generic_take(value, &a, &s)) != type)
        return 0;
    memcpy(element, a.data, (size_t)type->size);
    return 1;
}

static void learn_extreme(const array_type *type, void *loop, int greatest) {
    if (finds((dtl_loop)loop, type->size, greatest)) {
        dtl_extremes(type->number, greatest, loop);
        state.numpy_loops++;
    }
}

static void learn_sum(const array_type *type, void *loop, int unused) {
    if (adds((dtl_loop)loop, type->size)) {
        dtl_sums(type->number, loop);
        state.numpy_loops++;
    }
}

/* The functions that find where extremes are, by NumPy's number of a type: of the least, and of the greatest. */
static dtl_place_loop places[NDARRAY_TYPES][2];

dtl_place_loop numpy_place_of(int type, int greatest) {
    return type < 0 || type >= NDARRAY_TYPES ? NULL : places[type][greatest != 0];
}

/* locates says whether a function finds the first of two elements that are unlike the others, as finds has them. */
static int locates(dtl_place_loop loop, int size, int greatest) {
    enum { COUNT = 300, WIDEST = 16 };
    _Alignas(WIDEST) unsigned char sample[COUNT * WIDEST] = {0};
    ptrdiff_t place = -1;
    for (int i = 0; i < COUNT; i++)
        sample[i * size] = (i == COUNT / 2 || i == COUNT - 1) == greatest;
    dtl_extreme_at(loop, sample, COUNT, &place);
    return place == COUNT / 2;
}

/* learn_places learns the functions that find where extremes are. */
static void learn_places(void) {
    for (int type = 0; type < NDARRAY_TYPES; type++) {
        const array_type *known = &array_types[type];
        void **functions = known->number == 0 || strchr("?bBhHiIlLqQfd", known->format[0]) == NULL ? NULL : functions_of(known);
        for (int greatest = 0; functions != NULL && greatest < 2; greatest++) {
            void *function = functions[greatest ? ARGMAX : ARGMIN];
            if (!is_numpys(function))
                continue;
            if (known->format[0] == 'd')
                function = (void *)(greatest ? dtl_greatest_place : dtl_least_place);
            if (!locates((dtl_place_loop)function, known->size, greatest))
                continue;
            places[type][greatest] = (dtl_place_loop)function;
            dtl_extreme_places(known->number, greatest, function);
            state.numpy_loops++;
        }
    }
}

void numpy_loops_learn(void) {
    const char *said = getenv("DTL_NUMPY_LOOPS");
    PyObject *module = numpy_known && (said == NULL || strcmp(said, "0") != 0) ? PyImport_ImportModule("numpy") : NULL;
    PyObject *kind = module == NULL ? NULL : PyObject_GetAttrString(module, "ufunc");
    if (kind != NULL && PyType_Check(kind)) {
        learn_sorts();
        each_loop((PyTypeObject *)kind, "minimum", "bBhHiIlLqQfd", learn_extreme, 0);
        each_loop((PyTypeObject *)kind, "maximum", "bBhHiIlLqQfd", learn_extreme, 1);
        each_loop((PyTypeObject *)kind, "add", "bBhHiIlLqQfd", learn_sum, 0);
        learn_places();
        if (is_laid_out((PyTypeObject *)kind, "sqrt", 1) && is_laid_out((PyTypeObject *)kind, "multiply", 2))
            ufuncs = (PyTypeObject *)kind; /* which NumPy keeps */
    }
    Py_XDECREF(kind);
    Py_XDECREF(module);
    PyErr_Clear();
}
