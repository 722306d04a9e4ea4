package board

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// TestMemoryOfABoard holds what the documentation says (docs/guide/waiting.md) of the memory that a context takes.
func TestMemoryOfABoard(t *testing.T) {
	const kib = 1 << 10
	assert.LessOrEqual(t, slotBytes, 44*kib, "of a rank, however many there are")
	assert.LessOrEqual(t, headBytes, 4*kib)
	for ranks := 1; ranks <= 4096; ranks++ {
		inGroups := 0
		if ranks > GroupSize { // a group of 10.2 KiB for 8 ranks, and for 8 groups; one at each of four levels may have fewer
			inGroups = ranks*3*kib/2 + 4*groupBytes
		}
		assert.LessOrEqual(t, Bytes(ranks), 4*kib+ranks*44*kib+inGroups, "%d ranks", ranks)
	}
	for ranks := 1; ranks <= 4096; ranks++ {
		assert.LessOrEqual(t, extensionBytes(ranks), min(ranks*132, 16896)*kib, "the extension of %d ranks", ranks)
	}
	assert.LessOrEqual(t, unsafe.Sizeof(Local{}), uintptr(kib), "what a rank keeps for itself")
}
