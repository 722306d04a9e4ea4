package status

import (
	"errors"
	"fmt"
	"strings"
)

// Encode writes err as "[code op] cause", the form in which errors leave Go. Nothing but the exception
// module of the Python package reads it. What is not UTF-8, such as a path, is made so: Python reads nothing else.
func Encode(err error) string {
	// The join of one error is that error, whose operation is to stand once.
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) == 1 {
		err = joined.Unwrap()[0]
	}
	op, text := "", err.Error()
	var e *Error
	if errors.As(err, &e) {
		op = e.Op
	}
	if err == error(e) {
		text = e.Err.Error()
	}
	return strings.ToValidUTF8(fmt.Sprintf("[%d %s] %s", int(CodeOf(err)), op, text), "\uFFFD")
}
