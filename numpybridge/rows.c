//go:build cpython

/* Loops over rows of Arrow's columns. They do not hold the interpreter's lock, so that threads take parts of the same rows. */
#include "../core/kernel/rows/find.h"
#include "../core/kernel/rows/hash.h"
#include "../core/kernel/rows/rows.h"
#include "borrowed.h"
#include "rows.h"

const char take_fixed_doc[] = PyDoc_STR(
"take_fixed($module, out, values, length, width, rows, count, /)\n--\n\n"
"Copy rows of a column of length elements of width bytes each to out: 0 for a row outside the column.");

PyObject *bridge_take_fixed(PyObject *module, PyObject *args) {
    PyObject *out, *values, *rows, *answer = NULL;
    long long length, width, count;
    if (!PyArg_ParseTuple(args, "OOLLOL:take_fixed", &out, &values, &length, &width, &rows, &count))
        return NULL;
    borrowed b = {.count = 0};
    void *to = borrow(&b, out, 1, count * width, "out");
    const void *from = to == NULL ? NULL : borrow(&b, values, 0, length * width, "values");
    const int64_t *at = from == NULL ? NULL : borrow(&b, rows, 0, count * 8, "rows");
    if (at != NULL) {
        Py_BEGIN_ALLOW_THREADS
        dtl_take_elements(to, from, at, count, length, width);
        Py_END_ALLOW_THREADS
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}

const char part_fixed_doc[] = PyDoc_STR(
"part_fixed($module, out, values, width, parts, count, ends, many, /)\n--\n\n"
"Copy count elements of 1, 2, 4 or 8 bytes each to out, behind those of the same of many parts. ends are how far each\n"
"part has come, of int64.");

PyObject *bridge_part_fixed(PyObject *module, PyObject *args) {
    PyObject *out, *values, *parts, *ends, *answer = NULL;
    long long width, count, many;
    if (!PyArg_ParseTuple(args, "OOLOLOL:part_fixed", &out, &values, &width, &parts, &count, &ends, &many))
        return NULL;
    borrowed b = {.count = 0};
    Py_ssize_t room = PyObject_Length(out); // of bytes
    void *to = room < 0 ? NULL : borrow(&b, out, 1, room, "out");
    const void *from = to == NULL ? NULL : borrow(&b, values, 0, count * width, "values");
    const int64_t *of = from == NULL ? NULL : borrow(&b, parts, 0, count * 8, "parts");
    int64_t *at = of == NULL ? NULL : borrow(&b, ends, 1, many * 8, "ends");
    if (at != NULL) {
        int64_t done;
        Py_BEGIN_ALLOW_THREADS
        done = width < 1 ? 0 : dtl_part_elements(to, room / width, from, of, count, at, many, width);
        Py_END_ALLOW_THREADS
        if (done == count)
            answer = Py_NewRef(Py_None);
        else
            PyErr_Format(PyExc_ValueError, "element %lld of %lld, of %lld bytes, has no room in its part", (long long)done, count, width);
    }
    release(&b);
    return answer;
}

const char take_bits_doc[] = PyDoc_STR(
"take_bits($module, out, bits, first, length, rows, count, /)\n--\n\n"
"Copy rows of a column of length bits, which begins at the bit first, to out: 0 for a row outside the column. None for\n"
"bits is a column of ones. Returns how many bits of out are 1.");

PyObject *bridge_take_bits(PyObject *module, PyObject *args) {
    PyObject *out, *bits, *rows, *answer = NULL;
    long long first, length, count;
    if (!PyArg_ParseTuple(args, "OOLLOL:take_bits", &out, &bits, &first, &length, &rows, &count))
        return NULL;
    borrowed b = {.count = 0};
    void *to = borrow(&b, out, 1, (count + 7) / 8, "out");
    const int64_t *at = to == NULL ? NULL : borrow(&b, rows, 0, count * 8, "rows");
    const void *from = at == NULL || bits == Py_None ? NULL : borrow(&b, bits, 0, (first + length + 7) / 8, "bits");
    if (at != NULL && (from != NULL || bits == Py_None)) {
        int64_t ones;
        Py_BEGIN_ALLOW_THREADS
        ones = dtl_take_bits(to, from, first, length, at, count);
        Py_END_ALLOW_THREADS
        answer = PyLong_FromLongLong(ones);
    }
    release(&b);
    return answer;
}

const char take_offsets_doc[] = PyDoc_STR(
"take_offsets($module, ends, starts, offsets, length, rows, count, /)\n--\n\n"
"Write the offsets of rows of a column of length texts to ends, count + 1 of int32, and where the texts begin in the\n"
"column to starts, as many. Returns the bytes of all; if they are more than 2**31 - 1, the offsets mean nothing.");

PyObject *bridge_take_offsets(PyObject *module, PyObject *args) {
    PyObject *ends, *starts, *offsets, *rows, *answer = NULL;
    long long length, count;
    if (!PyArg_ParseTuple(args, "OOOLOL:take_offsets", &ends, &starts, &offsets, &length, &rows, &count))
        return NULL;
    borrowed b = {.count = 0};
    int32_t *to = borrow(&b, ends, 1, (count + 1) * 4, "ends");
    int32_t *begins = to == NULL ? NULL : borrow(&b, starts, 1, count * 4, "starts");
    const int32_t *from = begins == NULL ? NULL : borrow(&b, offsets, 0, (length + 1) * 4, "offsets");
    const int64_t *at = from == NULL ? NULL : borrow(&b, rows, 0, count * 8, "rows");
    if (at != NULL) {
        int64_t total;
        Py_BEGIN_ALLOW_THREADS
        total = dtl_measure_texts(to, begins, from, length, at, count);
        Py_END_ALLOW_THREADS
        answer = PyLong_FromLongLong(total);
    }
    release(&b);
    return answer;
}

const char take_text_doc[] = PyDoc_STR(
"take_text($module, out, room, ends, starts, count, data, size, /)\n--\n\n"
"Copy the texts that take_offsets has found in size bytes of data to the room bytes of out.");

PyObject *bridge_take_text(PyObject *module, PyObject *args) {
    PyObject *out, *ends, *starts, *data, *answer = NULL;
    long long room, count, size;
    if (!PyArg_ParseTuple(args, "OLOOLOL:take_text", &out, &room, &ends, &starts, &count, &data, &size))
        return NULL;
    borrowed b = {.count = 0};
    char *to = borrow(&b, out, 1, room, "out");
    const int32_t *upto = to == NULL ? NULL : borrow(&b, ends, 0, (count + 1) * 4, "ends");
    const int32_t *begins = upto == NULL ? NULL : borrow(&b, starts, 0, count * 4, "starts");
    const char *from = begins == NULL ? NULL : borrow(&b, data, 0, size, "data");
    if (from != NULL && upto[count] > room)
        PyErr_Format(PyExc_ValueError, "out has room for %lld bytes, and the texts have %d", room, (int)upto[count]);
    else if (from != NULL) {
        Py_BEGIN_ALLOW_THREADS
        dtl_copy_texts(to, room, upto, begins, count, from, size);
        Py_END_ALLOW_THREADS
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}

/* take_keys reads how keys are passed: their buffer, their size in bytes, the bitmap or None, its first bit, and how many they are. */
static int take_keys(borrowed *b, PyObject *of, dtl_keys *k) {
    PyObject *keys, *bits;
    long long first_bit, count;
    if (!PyArg_ParseTuple(of, "OiOLL:keys", &keys, &k->size, &bits, &first_bit, &count))
        return 0;
    k->count = count;
    k->first_bit = first_bit;
    k->keys = borrow(b, keys, 0, count * k->size, "keys");
    k->bits = k->keys == NULL || bits == Py_None ? NULL : borrow(b, bits, 0, (first_bit + count + 7) / 8, "bits");
    return k->keys != NULL && (bits == Py_None || k->bits != NULL);
}

/* take_places reads how places are passed: their buffer, the least key, how many keys there may be, and whether null has a place behind. */
static int take_places(borrowed *b, PyObject *of, dtl_places *p) {
    PyObject *rows;
    long long low, width;
    if (!PyArg_ParseTuple(of, "OLLp:places", &rows, &low, &width, &p->null_place))
        return 0;
    p->low = low;
    p->width = width;
    p->rows = borrow(b, rows, 1, 4 * (width + p->null_place + 1), "places");
    return p->rows != NULL;
}

const char place_rows_doc[] = PyDoc_STR(
"place_rows($module, places, keys, first, /)\n--\n\n"
"Put rows from first on in the places of their keys.\n\n"
"places are an array of int32, one more than the number of the row in each, 0 for none, and a last 0; the key of the\n"
"first; how many keys there may be; and whether null has a place behind theirs. keys are their buffer; their size, 4\n"
"or 8 bytes; the bitmap of those that are not null, or None; the first bit of it; and how many keys there are.");

PyObject *bridge_place_rows(PyObject *module, PyObject *args) {
    PyObject *places, *keys, *answer = NULL;
    long long first;
    if (!PyArg_ParseTuple(args, "O!O!L:place_rows", &PyTuple_Type, &places, &PyTuple_Type, &keys, &first))
        return NULL;
    borrowed b = {.count = 0};
    dtl_places p;
    dtl_keys k;
    if (take_places(&b, places, &p) && take_keys(&b, keys, &k)) {
        Py_BEGIN_ALLOW_THREADS
        dtl_place_rows(&p, &k, first);
        Py_END_ALLOW_THREADS
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}

const char find_rows_doc[] = PyDoc_STR(
"find_rows($module, places, keys, of, found, /)\n--\n\n"
"Write to found the row in the place of each key, -1 for none. Unless of is None, leave those without out, and write\n"
"to of which key each is of. Returns how many rows were found. Both are of int64, with room for one more than keys.");

PyObject *bridge_find_rows(PyObject *module, PyObject *args) {
    PyObject *places, *keys, *of, *found, *answer = NULL;
    if (!PyArg_ParseTuple(args, "O!O!OO:find_rows", &PyTuple_Type, &places, &PyTuple_Type, &keys, &of, &found))
        return NULL;
    borrowed b = {.count = 0};
    dtl_places p;
    dtl_keys k;
    if (take_places(&b, places, &p) && take_keys(&b, keys, &k)) {
        int64_t *rows = borrow(&b, found, 1, 8 * (k.count + 1), "found");
        int64_t *whose = rows == NULL || of == Py_None ? NULL : borrow(&b, of, 1, 8 * (k.count + 1), "of");
        if (rows != NULL && (whose != NULL || of == Py_None)) {
            int64_t n;
            Py_BEGIN_ALLOW_THREADS
            n = dtl_find_rows(&p, &k, whose, rows);
            Py_END_ALLOW_THREADS
            answer = PyLong_FromLongLong(n);
        }
    }
    release(&b);
    return answer;
}

const char hash_texts_doc[] = PyDoc_STR(
"hash_texts($module, out, offsets, count, data, size, /)\n--\n\n"
"Write a hash of each of count texts in size bytes of data to out, of uint64.");

PyObject *bridge_hash_texts(PyObject *module, PyObject *args) {
    PyObject *out, *offsets, *data, *answer = NULL;
    long long count, size;
    if (!PyArg_ParseTuple(args, "OOLOL:hash_texts", &out, &offsets, &count, &data, &size))
        return NULL;
    borrowed b = {.count = 0};
    uint64_t *to = borrow(&b, out, 1, 8 * count, "out");
    const int32_t *ends = to == NULL ? NULL : borrow(&b, offsets, 0, 4 * (count + 1), "offsets");
    const char *from = ends == NULL ? NULL : borrow(&b, data, 0, size, "data");
    if (from != NULL) {
        Py_BEGIN_ALLOW_THREADS
        dtl_hash_texts(to, ends, count, from, size);
        Py_END_ALLOW_THREADS
        answer = Py_NewRef(Py_None);
    }
    release(&b);
    return answer;
}
