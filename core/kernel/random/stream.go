package random

import "math/bits"

// Stream is where the numbers of one call come from. It is cut into blocks, each of which starts somewhere else.
type Stream struct {
	Key  [2]uint64 // of the generator, which follows from its seed
	Call uint64    // the number of the call
}

// Start returns the state in which SFC64 starts in a block: three words, and the counter.
func (s Stream) Start(block uint64) [4]uint64 {
	w := philox([4]uint64{block + 1, 0, s.Call, 0}, s.Key)
	return [4]uint64{w[0], w[1], w[2], 1}
}

// philox is Philox4x64 with ten rounds (Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"): it makes four
// random words of a counter and a key.
func philox(counter [4]uint64, key [2]uint64) [4]uint64 {
	for range 10 {
		high0, low0 := bits.Mul64(0xd2e7470ee14c6c93, counter[0])
		high1, low1 := bits.Mul64(0xca5a826395121157, counter[2])
		counter = [4]uint64{high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0}
		key[0] += 0x9e3779b97f4a7c15
		key[1] += 0xbb67ae8584caa73b
	}
	return counter
}
