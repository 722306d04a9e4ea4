package board_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/core/board"
)

// TestRoomWhileOthersLay has ranks go on by themselves, as far ahead of each other as they may: they overwrite entries while the
// others look whether these have come.
func TestRoomWhileOthersLay(t *testing.T) {
	const ranks = 4
	calls := 400_000
	if testing.Short() {
		calls = 20_000
	}
	s, err := board.Create(ranks)
	require.NoError(t, err)
	defer s.Close()
	var all sync.WaitGroup
	var failed atomic.Bool
	for rank := range ranks {
		b, err := board.Open(s.Name(), rank, ranks)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, b.Close()); b.Forsake() })
		all.Add(1)
		go func() {
			defer all.Done()
			for range calls {
				progress := board.Behind
				for progress == board.Behind && !failed.Load() {
					if progress, _, _ = b.MakeRoom(board.WaitsForNone, 8); progress == board.Behind {
						runtime.Gosched()
					}
				}
				if progress != board.Room {
					failed.Store(true)
					return
				}
				element := uint64(rank)
				b.Lay(7, board.Entry{Waits: board.WaitsForNone}, unsafe.Pointer(&element), 8)
			}
		}()
	}
	all.Wait()
	assert.False(t, failed.Load(), "a rank that makes the same calls is said to make others")
}
