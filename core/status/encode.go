package status

import (
	"errors"
	"fmt"
	"strings"
)

// Encode writes err as "[code op] cause", the form in which errors leave Go. Nothing but the exception
// module of the Python package reads it. What is not UTF-8, such as a path, is made so: Python reads nothing else.
func Encode(err error) string {
	op, text := "", err.Error()
	var e *Error
	if errors.As(err, &e) {
		op = e.Op
		// Also where it is wrapped without a word more, as by a mark or the join of one error, the operation stands once.
		if text == e.Error() {
			text = e.Err.Error()
		}
	}
	return strings.ToValidUTF8(fmt.Sprintf("[%d %s] %s", int(CodeOf(err)), op, text), "\uFFFD")
}
