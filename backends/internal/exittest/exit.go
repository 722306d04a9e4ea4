// Package exittest lets a test end its process as Python ends: os.Exit skips the handlers of C.
package exittest

// #include <stdlib.h>
import "C"

// Exit ends the process through C's exit.
func Exit(code int) { C.exit(C.int(code)) }
