/* Elements of one type as elements of another, as a cast of C has it where the type holds the number.
 *
 * A float that an integer does not hold becomes what its lowest bits are, as on most hosts; beyond 64 bits it becomes anything. */
#include "each.h"

#define CONVERSION(name, S, D, expression)                                            \
    KERNEL name(operands s);                                                          \
    KERNEL name(operands s) {                                                         \
        for (long long i = FIRST; i < s.n; i += STEP) {                               \
            S x = ((const S *)s.a)[i];                                                \
            ((D *)s.out)[i] = expression;                                             \
        }                                                                             \
    }

static inline unsigned long long to_unsigned(double x) {
    return x < 0x1p63 ? (unsigned long long)(long long)x : (unsigned long long)x;
}

/* Half precision, which the host has as NumPy's float16 and containers as its bits: rounded once, to even. */
static inline unsigned short to_half(double x) {
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    unsigned sign = (unsigned)(bits >> 48) & 0x8000;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    unsigned long long fraction = bits & 0xfffffffffffff, digits = fraction | 1ull << 52;
    if (exponent == 1024 && fraction != 0)
        return (unsigned short)(sign | 0x7e00 | (unsigned)(fraction >> 42));
    if (exponent > 15)
        return (unsigned short)(sign | 0x7c00);
    if (exponent < -25)
        return (unsigned short)sign;
    int lost = exponent < -14 ? 28 - exponent : 42;
    unsigned half = (exponent < -14 ? 0 : (unsigned)(exponent + 14) << 10) + (unsigned)(digits >> lost);
    unsigned long long rest = digits & ((1ull << lost) - 1), tie = 1ull << (lost - 1);
    return (unsigned short)(sign | (half + (rest > tie || (rest == tie && half & 1))));
}

static inline float from_half(unsigned short half) {
    unsigned exponent = half >> 10 & 0x1f, fraction = half & 0x3ff, sign = (unsigned)(half & 0x8000) << 16, bits;
    float small = (float)fraction * 0x1p-24f;
    __builtin_memcpy(&bits, &small, sizeof bits);
    if (exponent != 0)
        bits = (exponent == 0x1f ? 0xff : exponent + 112) << 23 | fraction << 13;
    bits |= sign;
    __builtin_memcpy(&small, &bits, sizeof bits);
    return small;
}

/* Those that are alike for all sources. */
#define TO_FLOATS(type, S)                                                            \
    CONVERSION(as_bool_##type, S, boolean, x != 0)                                    \
    CONVERSION(as_complex128_##type, S, complex128, ((complex128){x, 0}))             \
    CONVERSION(as_complex64_##type, S, complex64, ((complex64){x, 0}))

#define TO_INTEGERS(type, S)                                                          \
    TO_FLOATS(type, S)                                                                \
    CONVERSION(as_int64_##type, S, long long, x)                                      \
    CONVERSION(as_int32_##type, S, int, x)                                            \
    CONVERSION(as_int16_##type, S, short, x)                                          \
    CONVERSION(as_int8_##type, S, signed char, x)                                     \
    CONVERSION(as_uint64_##type, S, unsigned long long, x)                            \
    CONVERSION(as_uint32_##type, S, unsigned, x)                                      \
    CONVERSION(as_uint16_##type, S, unsigned short, x)                                \
    CONVERSION(as_uint8_##type, S, unsigned char, x)                                  \
    CONVERSION(as_float64_##type, S, double, x)                                       \
    CONVERSION(as_float32_##type, S, float, x)

/* A real number v of an element x as integers. */
#define AS_INTEGERS(type, S, v)                                                       \
    CONVERSION(as_int64_##type, S, long long, (long long)v)                           \
    CONVERSION(as_int32_##type, S, int, (int)(long long)v)                            \
    CONVERSION(as_int16_##type, S, short, (short)(long long)v)                        \
    CONVERSION(as_int8_##type, S, signed char, (signed char)(long long)v)             \
    CONVERSION(as_uint64_##type, S, unsigned long long, to_unsigned(v))               \
    CONVERSION(as_uint32_##type, S, unsigned, (unsigned)(long long)v)                 \
    CONVERSION(as_uint16_##type, S, unsigned short, (unsigned short)(long long)v)     \
    CONVERSION(as_uint8_##type, S, unsigned char, (unsigned char)(long long)v)

#define FROM_FLOATS(type, S)                                                          \
    TO_FLOATS(type, S)                                                                \
    AS_INTEGERS(type, S, x)

/* What is imaginary is lost, but for whether there is anything. */
#define FROM_COMPLEX(type, S)                                                         \
    AS_INTEGERS(type, S, x.re)                                                        \
    CONVERSION(as_float64_##type, S, double, (double)x.re)                            \
    CONVERSION(as_float32_##type, S, float, (float)x.re)                              \
    CONVERSION(as_bool_##type, S, boolean, x.re != 0 || x.im != 0)

TO_INTEGERS(int64, long long)
TO_INTEGERS(int32, int)
TO_INTEGERS(int16, short)
TO_INTEGERS(int8, signed char)
TO_INTEGERS(uint64, unsigned long long)
TO_INTEGERS(uint32, unsigned)
TO_INTEGERS(uint16, unsigned short)
TO_INTEGERS(uint8, unsigned char)
TO_INTEGERS(bool, boolean)
FROM_FLOATS(float64, double)
FROM_FLOATS(float32, float)
CONVERSION(as_float32_float64, double, float, (float)x)
CONVERSION(as_float64_float32, float, double, (double)x)
CONVERSION(as_complex64_complex128, complex128, complex64, ((complex64){(float)x.re, (float)x.im}))
CONVERSION(as_complex128_complex64, complex64, complex128, ((complex128){(double)x.re, (double)x.im}))
FROM_COMPLEX(complex128, complex128)
FROM_COMPLEX(complex64, complex64)
CONVERSION(as_float16_float64, double, unsigned short, to_half(x))
CONVERSION(as_float16_float32, float, unsigned short, to_half(x))
CONVERSION(from_float16_uint16, unsigned short, float, from_half(x))
