package status

import (
	"errors"
	"fmt"
)

// Encode writes err as "[code op] cause", the form in which errors leave Go. Nothing but the exception
// module of the Python package reads it.
func Encode(err error) string {
	op, text := "", err.Error()
	var e *Error
	if errors.As(err, &e) {
		op = e.Op
	}
	if err == error(e) {
		text = e.Err.Error()
	}
	return fmt.Sprintf("[%d %s] %s", int(CodeOf(err)), op, text)
}
