package status

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestIsTheCodeAndTheCause(t *testing.T) {
	err := error(New(OutOfBounds, "rank %d outside [0, %d): %w", 7, 4, io.EOF))
	wrapped := fmt.Errorf("while waiting: %w", err)
	for _, e := range []error{err, In("send", err), wrapped} {
		if !errors.Is(e, OutOfBounds) || !errors.Is(e, io.EOF) || errors.Is(e, InvalidArgument) || CodeOf(e) != OutOfBounds {
			t.Errorf("%v: code %v", e, CodeOf(e))
		}
	}
}

func TestIn(t *testing.T) {
	bare := New(InvalidArgument, "root -1")
	for _, row := range []struct {
		name string
		err  error
		want string
		code Code
	}{
		{"fills in the operation", In("reduce", bare), "reduce: root -1", InvalidArgument},
		{"keeps the one that is there", In("outer", In("inner", bare)), "inner: root -1", InvalidArgument},
		{"keeps what was said around it", In("send", fmt.Errorf("a, and %w", bare)), "send: a, and root -1", InvalidArgument},
		{"another error is a bug", In("reduce", io.EOF), "reduce: EOF", Internal},
	} {
		if row.err.Error() != row.want || CodeOf(row.err) != row.code {
			t.Errorf("%s: %q, code %v", row.name, row.err, CodeOf(row.err))
		}
	}
	if In("reduce", nil) != nil {
		t.Error("no error became one")
	}
	if bare.Op != "" {
		t.Error("the given error was changed")
	}
}

func TestCodeOf(t *testing.T) {
	for _, row := range []struct {
		name string
		err  error
		want Code
	}{
		{"none", nil, OK},
		{"a code by itself", Unsupported, Unsupported},
		{"a code with the system's number", New(FileErrno+28, "full"), FileErrno + 28},
		{"a wrapped code", fmt.Errorf("x: %w", OutOfMemory), OutOfMemory},
		{"an error without a code", io.EOF, Internal},
	} {
		if got := CodeOf(row.err); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

// marked wraps an error without a word more, as watchdog.InVain does.
type marked struct{ error }

func (m marked) Unwrap() error { return m.error }

func TestEncode(t *testing.T) {
	for _, row := range []struct {
		name string
		err  error
		want string
	}{
		{"with an operation", In("recv", New(Communication, "message truncated")), "[300 recv] message truncated"},
		{"without", New(OutOfMemory, "%d bytes", 5), "[200 ] 5 bytes"},
		{"without a code", io.EOF, "[1 ] EOF"},
		{"one of several calls", errors.Join(nil, In("recv", New(Communication, "cut off"))), "[300 recv] cut off"},
		{"one that is marked", marked{In("wait", New(Mismatch, "ranks disagree"))}, "[301 wait] ranks disagree"},
		{"a path that is not UTF-8", New(OutOfMemory, "/lib/\xff"), "[200 ] /lib/\uFFFD"},
	} {
		if got := Encode(row.err); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestNumbers states those that the Python package knows.
func TestNumbers(t *testing.T) {
	for code, want := range map[Code]string{
		0: "ok", 1: "internal", 100: "invalid argument", 101: "invalid type", 102: "invalid handle", 103: "out of bounds",
		104: "unsupported", 200: "out of memory", 300: "communication", 400: "backend", 401: "backend unavailable",
		999: "code 999",
	} {
		if code.String() != want {
			t.Errorf("%d: %q, want %q", int(code), code, want)
		}
	}
}

func TestRecovered(t *testing.T) {
	var err *Error
	func() {
		defer func() { err = Recovered(recover()) }()
		panic("index 3")
	}()
	text := err.Error()
	if CodeOf(err) != Internal || !strings.Contains(text, "index 3") || !strings.Contains(text, "TestRecovered") {
		t.Errorf("%v: want the value and the stack", text)
	}
}
