/* Elements that C has no type for, as containers hold them. */
#pragma once
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
