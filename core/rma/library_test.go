package rma

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"

	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// pages maps some pages, as libraries do that share them with other processes, or do not.
func pages(t *testing.T, how int) ([]byte, memory.Span) {
	t.Helper()
	mapped, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|how)
	assert.NoError(t, err)
	return mapped, memory.Span{Addr: unsafe.Pointer(&mapped[page]), Count: page, Type: dtype.Uint8}
}

// TestSecondMappingOutlivesTheFirst: what the library unmaps stays where views have it.
func TestSecondMappingOutlivesTheFirst(t *testing.T) {
	mapped, part := pages(t, unix.MAP_SHARED)
	again, err := mapAgain(part)
	assert.NoError(t, err)
	view := unsafe.Slice((*byte)(again.Addr()), page)
	assert.Zero(t, view[0], "nothing is left of the test of the mapping")
	mapped[page+5] = 7
	assert.EqualValues(t, 7, view[5])
	view[6] = 8
	assert.EqualValues(t, 8, mapped[page+6])
	assert.NoError(t, unix.Munmap(mapped))
	assert.EqualValues(t, []byte{7, 8}, view[5:7])
	again.Release()
}

// TestMemoryOfOneProcessIsNotMappedAgain: nor memory that does not begin with a page.
func TestMemoryOfOneProcessIsNotMappedAgain(t *testing.T) {
	mapped, part := pages(t, unix.MAP_PRIVATE)
	_, err := mapAgain(part)
	assert.ErrorIs(t, err, status.Unsupported)
	assert.NoError(t, unix.Munmap(mapped))
	mapped, part = pages(t, unix.MAP_SHARED)
	_, err = mapAgain(part.Slice(1, page))
	assert.ErrorIs(t, err, status.Unsupported)
	assert.NoError(t, unix.Munmap(mapped))
}
