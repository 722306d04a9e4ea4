package random

import "testing"

// The vectors that the authors of Philox publish with it, in kat_vectors of Random123.
func TestPhiloxIsItsAuthors(t *testing.T) {
	const ones = ^uint64(0)
	for _, row := range []struct {
		counter [4]uint64
		key     [2]uint64
		want    [4]uint64
	}{
		{want: [4]uint64{0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}},
		{
			[4]uint64{ones, ones, ones, ones}, [2]uint64{ones, ones},
			[4]uint64{0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0},
		},
		{
			[4]uint64{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
			[2]uint64{0x452821e638d01377, 0xbe5466cf34e90c6c},
			[4]uint64{0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6},
		},
	} {
		if got := philox(row.counter, row.key); got != row.want {
			t.Errorf("philox(%#x, %#x) = %#x, not %#x", row.counter, row.key, got, row.want)
		}
	}
}

func TestBlocksAndCallsStartElsewhere(t *testing.T) {
	seen := map[[4]uint64]bool{}
	for call := range uint64(3) {
		for block := range uint64(3) {
			for key := range uint64(3) {
				start := Stream{Key: [2]uint64{key, 7}, Call: call}.Start(block)
				if start[3] != 1 || seen[start] {
					t.Errorf("call %d, block %d, key %d: %#x", call, block, key, start)
				}
				seen[start] = true
			}
		}
	}
}
