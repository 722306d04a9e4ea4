/* Calls of the tests' driver that are to fail. */
#include "../failures.h"
#include "parts.h"

/* fake_fail has calls fail, in the form of DTL_FAKE_GPU_FAIL, instead of those that were to fail. */
void fake_fail(const char *text);
void fake_fail(const char *text) { fail("DTL_FAKE_GPU_FAIL", text); }

__attribute__((constructor)) static void begin(void) { fake_fail(getenv("DTL_FAKE_GPU_FAIL")); }

int fake_failing(const char *symbol) { return failing(symbol); }

int fake_lasting(void) { return lasting(); }
