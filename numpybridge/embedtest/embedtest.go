//go:build cpython

// Package embedtest runs a Python interpreter inside a Go test process, with the module _bridge built in, so that
// a test sees both sides of the memory that they share.
package embedtest

/*
#include <Python.h>
extern PyObject *PyInit__bridge(void);
static int add_bridge(void) { return PyImport_AppendInittab("_bridge", PyInit__bridge); }
*/
import "C"

import (
	"errors"
	"fmt"

	python3 "github.com/go-python/cpy3"

	_ "dtl/numpybridge" // PyInit__bridge
)

// Start starts the interpreter. The caller's goroutine is locked to its thread, and stays the only one that runs
// Python. Stop ends it.
func Start() error {
	if C.add_bridge() != 0 {
		return errors.New("_bridge could not be added to the built-in modules")
	}
	python3.Py_Initialize()
	return nil
}

// Stop ends the interpreter.
func Stop() { python3.Py_Finalize() }

// Run runs Python statements in the module __main__. An exception is printed, and is an error.
func Run(statements string) error {
	if python3.PyRun_SimpleString(statements) != 0 {
		return fmt.Errorf("an exception left\n%s", statements)
	}
	return nil
}

// Int returns the integer that a variable of the module __main__ holds.
func Int(variable string) (int64, error) {
	main := python3.PyImport_AddModule("__main__") // borrowed
	value := main.GetAttrString(variable)
	if value == nil {
		python3.PyErr_Clear()
		return 0, fmt.Errorf("__main__ has no %s", variable)
	}
	defer value.DecRef()
	return int64(python3.PyLong_AsLongLong(value)), nil
}
