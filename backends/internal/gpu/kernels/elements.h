/* Elements that C has no type for, as containers hold them. */
#include "threads.h"

typedef unsigned char boolean; /* 0 or 1 */

typedef struct {
    _Alignas(16) double re;
    double im;
} complex128;

typedef struct {
    _Alignas(8) float re;
    float im;
} complex64;

/* What is computed of each element. An operand is an array, or, where that is 0, one number for all elements: x of a, y of b. c is
 * where's condition. */
typedef struct {
    void *out;
    const void *a, *b, *c;
    long long n;
    unsigned long long x[2], y[2];
} operands;
