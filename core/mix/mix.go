// Package mix has the steps of hashes that ranks compare, and by which they divide keys.
//
// C includes mix.h for the same step (numpybridge/protocol.h and core/comm/agreement/nodes); a test of numpybridge runs both on
// the same cases.
package mix

// Step adds a word to a hash: a step of FNV-1a, after which high bits take part in low ones.
func Step(h, v uint64) uint64 {
	h = (h ^ v) * 1099511628211
	return h ^ h>>32
}

// Golden is what SplitMix64 adds to its state before each output: 2⁶⁴ over the golden ratio.
const Golden = 0x9e3779b97f4a7c15

// SplitMix64 returns the output of that generator (Steele, Lea and Flood, OOPSLA 2014) in a state: a bijection in which each bit of the
// state flips about half of the output's.
func SplitMix64(state uint64) uint64 {
	state += Golden
	state = (state ^ state>>30) * 0xbf58476d1ce4e5b9
	state = (state ^ state>>27) * 0x94d049bb133111eb
	return state ^ state>>31
}
