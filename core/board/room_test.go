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
// others look whether these have come, and what they have called.
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
		t.Cleanup(func() { assert.NoError(t, b.Close()); b.Recycle() })
		all.Add(1)
		go func() {
			defer all.Done()
			for range calls {
				progress, came := board.Behind, uint64(0)
				for progress == board.Behind && !failed.Load() {
					if progress, _, came = b.MakeRoom(board.WaitsForNone, 8); progress == board.Behind {
						runtime.Gosched()
					}
				}
				if progress != board.Room || !haveMadeCall(b, came) {
					failed.Store(true)
					return
				}
				element := uint64(rank)
				b.Describe(call(b.Meetings() + 1))
				b.Lay(7, board.Entry{Waits: board.WaitsForNone}, unsafe.Pointer(&element), 8)
			}
		}()
	}
	all.Wait()
	assert.False(t, failed.Load(), "a rank that has come, and makes the same calls, is said not to have come, or to make others")
}

// call returns what the ranks say of a call.
func call(seq uint64) board.Call {
	return board.Call{Operation: seq, Operator: 2 * seq, Type: int64(seq), Count: int64(3 * seq), Root: int64(seq)}
}

// haveMadeCall reports whether all ranks have come to a meeting, unless that is 0, and those whose entry is still there have described
// their call as this one has.
func haveMadeCall(b *board.Board, seq uint64) bool {
	history, mine := b.HistoryOf(b.Rank(), seq)
	for rank := range b.Size() {
		if seq == 0 {
			break
		}
		if !b.Came(rank, seq) {
			return false
		}
		if theirs, there := b.HistoryOf(rank, seq); there && mine && theirs != history {
			return false
		}
		if c, there := b.CallOf(rank, seq); there && c != call(seq) {
			return false
		}
	}
	return true
}
