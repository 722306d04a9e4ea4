/* What the tests' driver says of its errors, in the real one's words. */
#include <stddef.h>

#include "names.h"

int cuGetErrorString(int code, const char **text);
int cuGetErrorString(int code, const char **text) {
    static const struct {
        int code;
        const char *text;
    } texts[] = {
        {0, "no error"}, {1, "invalid argument"}, {2, "out of memory"},
        {3, "initialization error"}, {4, "driver shutting down"}, {100, "no " PLATFORM "-capable device is detected"},
        {101, "invalid device ordinal"}, {200, "device kernel image is invalid"}, {201, "invalid device context"}, {209, "no kernel image is available for execution on the device"}, {500, "named symbol not found"},
        {400, "invalid resource handle"}, {600, "device not ready"},
        {700, "an illegal memory access was encountered"}, {716, "misaligned address"}, {719, "unspecified launch failure"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == code) {
            *text = texts[i].text;
            return 0;
        }
    *text = NULL;
    return 1;
}
