/* What a CUDA driver has by other names and numbers than HIP's. */
#ifndef FAKE_NAMES_H
#define FAKE_NAMES_H

#define PLATFORM "CUDA"

enum { MANAGED_MEMORY = 83, CONCURRENT_MANAGED = 89, MULTIPROCESSORS = 16, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

/* 12.9 */
enum { DRIVER_VERSION = 12090 };

#define fake_module fake_ptx_module
#define fake_argument fake_ptx_argument

/* What is current for a thread that has chosen nothing. */
#define AT_FIRST NULL

/* The last of the handles that are default streams. */
enum { LAST_DEFAULT_STREAM = 2 };

#endif
