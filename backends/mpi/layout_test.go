package mpi

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/backend"
	"dtl/internal/layout"
)

// TestStatusIsTheBackends: code outside this backend reads what SendFor and RecvFor write.
func TestStatusIsTheBackends(t *testing.T) {
	ours := reflect.TypeOf(statusOf).In(0).Elem() // a test file cannot name it
	assert.Empty(t, layout.Differences(ours, reflect.TypeFor[backend.DirectStatus]()))
}
