/* Functions of real numbers. */
#include "angles.h"
#include "exponentials.h"

#include "each.h"

OF_ONE(exp, raised)
OF_ONE(exp2, exp2_of)
OF_ONE(expm1, expm1_of)
OF_TWO(power, to_the_power)
OF_ONE(log, log_of)
OF_ONE(log2, log2_of)
OF_ONE(log10, log10_of)
OF_ONE(log1p, log1p_of)
OF_TWO(logaddexp, logaddexp_of)
OF_TWO(logaddexp2, logaddexp2_of)
OF_ONE(sinh, sinh_of)
OF_ONE(cosh, cosh_of)
OF_ONE(tanh, tanh_of)
OF_ONE(arcsinh, arcsinh_of)
OF_ONE(arccosh, arccosh_of)
OF_ONE(arctanh, arctanh_of)
OF_ONE(cbrt, cbrt_of)
OF_ONE(sin, sin_of)
OF_ONE(cos, cos_of)
OF_ONE(tan, tan_of)
OF_ONE(arcsin, arcsin_of)
OF_ONE(arccos, arccos_of)
OF_ONE(arctan, arctan_of)
OF_TWO(arctan2, arctan2_of)
OF_TWO(hypot, hypot_of)
