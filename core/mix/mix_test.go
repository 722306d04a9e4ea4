package mix

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSplitMix64: the first outputs from two seeds, as published.
func TestSplitMix64(t *testing.T) {
	for seed, outputs := range map[uint64][]uint64{
		0:       {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f},
		1234567: {6457827717110365317, 3203168211198807973, 9817491932198370423},
	} {
		for i, output := range outputs {
			assert.Equal(t, output, SplitMix64(seed+uint64(i)*Golden))
		}
	}
}
