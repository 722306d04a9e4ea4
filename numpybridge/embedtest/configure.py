"""Write what cgo needs to embed this Python into a Go test: a pkg-config that knows python3, and a Python.h.

cpy3 was written for CPython 3.7. The Python.h here goes before the real one and supplies the few functions that
later versions dropped, which no test calls.

    python configure.py FOLDER

writes FOLDER/pkg-config and the header beside it, and prints the C flags to build with. Go's build cache looks at
CGO_CFLAGS, but neither at what pkg-config says nor at headers, so the header's folder is named after its text. Prints
nothing where this Python has no shared library to embed.
"""

from __future__ import annotations

import hashlib
import pathlib
import sys
import sysconfig

HEADER = """\
#ifndef DTL_EMBED_PYTHON_H
#define DTL_EMBED_PYTHON_H
#define PY_SSIZE_T_CLEAN
#include_next <Python.h>
#if PY_VERSION_HEX >= 0x03090000
static inline int PyDict_ClearFreeList(void) { return 0; }
static inline int PyFloat_ClearFreeList(void) { return 0; }
static inline int PyList_ClearFreeList(void) { return 0; }
static inline void PyEval_ReInitThreads(void) {}
__attribute__((weak)) int PySignal_SetWakeupFd(int fd) { return -1; } /* still declared, no longer defined */
#endif
#endif
"""

PKG_CONFIG = """\
#!/bin/sh
case "$*" in
*--libs*) echo '-L{libdir} -Wl,-rpath,{libdir} -lpython{version}' ;;
esac
"""


def main(folder: pathlib.Path) -> None:
    """Write both files, and print the flags."""
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        return
    own = folder / hashlib.sha256(HEADER.encode()).hexdigest()[:8]
    own.mkdir(parents=True, exist_ok=True)
    (own / "Python.h").write_text(HEADER)
    script = folder / "pkg-config"
    script.write_text(
        PKG_CONFIG.format(
            libdir=sysconfig.get_config_var("LIBDIR"),
            version=sysconfig.get_config_var("LDVERSION"),
        )
    )
    script.chmod(0o755)
    print(f"-O2 -std=gnu11 -I{own} -I{sysconfig.get_path('include')} -Wno-deprecated-declarations")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
