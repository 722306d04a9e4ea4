"""Write what cgo needs to embed this Python into a Go test: a pkg-config that knows python3, and a Python.h.

cpy3 was written for CPython 3.7. The Python.h here goes before the real one and supplies the few functions that
later versions dropped, which no test calls.

    python configure.py FOLDER

writes FOLDER/pkg-config and the header beside it, and prints the header's folder; nothing where this Python has no
shared library to embed. By pkg-config, only cpy3 gets the header, so that the other packages are those of the wheel.
Go's build cache looks neither at what pkg-config says nor at headers: the folder is named after the header's text, and
is to be among the flags with which Go compiles cpy3.
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
*--cflags*) echo '-I{own} -Wno-deprecated-declarations' ;;
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
            own=own,
            libdir=sysconfig.get_config_var("LIBDIR"),
            version=sysconfig.get_config_var("LDVERSION"),
        )
    )
    script.chmod(0o755)
    print(own)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve())
