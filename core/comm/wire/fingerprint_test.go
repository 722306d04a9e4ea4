package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/dtype"
	"dtl/core/memory"
)

func TestFingerprint(t *testing.T) {
	seen := map[int64]int{}
	bytes := make([]byte, 300)
	for n := range bytes { // of zeros, each length has its own
		seen[Fingerprint(memory.Of(dtype.Uint8, bytes[:n]))]++
	}
	for i := range bytes { // and so has each single bit
		for bit := range 8 {
			bytes[i] = 1 << bit
			seen[Fingerprint(memory.Of(dtype.Uint8, bytes))]++
			bytes[i] = 0
		}
	}
	assert.Len(t, seen, 300+8*300)
}
