package board

import (
	"bytes"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/core/status"
)

// pair returns a board as two ranks see it, which are goroutines of this process.
func pair(t *testing.T) (sender, receiver *Board) {
	t.Helper()
	s, err := Create(2)
	require.NoError(t, err)
	defer s.Close()
	boards := [2]*Board{}
	for rank := range boards {
		boards[rank] = must(Open(s.Name(), rank, 2))
		t.Cleanup(func() {
			assert.NoError(t, boards[rank].Close())
			boards[rank].Forsake()
		})
	}
	return boards[0], boards[1]
}

// long is what a test sends: many parts.
const long = 16 << 20

// begun has a receiver collect what a sender offers, which begins a part, as Settled does, and stands still until part is
// called.
func begun(t *testing.T, sender, receiver *Board, from, into []byte) (number int, part func(), rest *Collection) {
	t.Helper()
	for rest == nil { // the receiver copied all of it before the sender came
		number, _ = sender.Offer(unsafe.Pointer(&from[0]), len(from))
		o, begins := &sender.slot(0).presence.offers[number], make(chan int64)
		go func() {
			for state := atomic.LoadUint32(&o.state); state == offered || state == claimed; {
				Pause()
				state = atomic.LoadUint32(&o.state)
			}
			begins <- o.part() * (atomic.AddInt64(&o.next, 1) - 1)
		}()
		var err error
		rest, err = receiver.Collect(0, number, unsafe.Pointer(&into[0]), len(into))
		require.NoError(t, err)
		start := <-begins
		if rest == nil {
			_, err = sender.Settled(number)
			require.NoError(t, err)
		}
		part = func() {
			n := min(o.part(), int64(len(from))-start)
			copy(into[start:start+n], from[start:])
			atomic.AddInt64(&o.finished, n)
		}
	}
	return number, part, rest
}

func TestCopyThatTheSenderEndsLate(t *testing.T) {
	sender, receiver := pair(t)
	from, into := bytes.Repeat([]byte{7}, long), make([]byte, long)
	number, part, rest := begun(t, sender, receiver, from, into)
	over, _ := rest.Test()
	assert.False(t, over)
	part()
	over, err := rest.Test()
	assert.True(t, over)
	assert.NoError(t, err)
	assert.Equal(t, from, into)
	over, err = sender.Settled(number)
	assert.True(t, over)
	assert.NoError(t, err)
}

// A receiver that gives up lets nobody claim the offer again: what the sender adds late would count for the second copy.
func TestReceiverThatGivesUp(t *testing.T) {
	sender, receiver := pair(t)
	from, into := bytes.Repeat([]byte{7}, long), make([]byte, long)
	number, part, rest := begun(t, sender, receiver, from, into)
	rest.GiveUp()
	_, err := receiver.Collect(0, number, unsafe.Pointer(&into[0]), long)
	assert.ErrorIs(t, err, status.Communication)
	part()
	over, err := sender.Settled(number)
	assert.True(t, over)
	assert.ErrorContains(t, err, "the receiver could not copy the elements")
	assert.False(t, sender.offering(), "the number is free")
}

// A sender that gives up does not wait, and the receiver does not keep what may have changed under it.
func TestSenderThatGivesUp(t *testing.T) {
	sender, receiver := pair(t)
	from, into := bytes.Repeat([]byte{7}, long), make([]byte, long)
	number, part, rest := begun(t, sender, receiver, from, into)
	part()
	sender.Withdraw(number)
	assert.True(t, sender.offering(), "the number is the receiver's to free")
	over, err := rest.Test()
	assert.True(t, over)
	assert.ErrorContains(t, err, "rank 0 gave the message up before it was received")
	assert.False(t, sender.offering())
}

func TestSenderThatGivesUpBeforeAndAfter(t *testing.T) {
	sender, receiver := pair(t)
	from, into := bytes.Repeat([]byte{7}, 100), make([]byte, 100)
	number, _ := sender.Offer(unsafe.Pointer(&from[0]), 100)
	sender.Withdraw(number)
	_, err := receiver.Collect(0, number, unsafe.Pointer(&into[0]), 100)
	assert.ErrorContains(t, err, "rank 0 gave the message up before it was received")
	number, _ = sender.Offer(unsafe.Pointer(&from[0]), 100)
	rest, err := receiver.Collect(0, number, unsafe.Pointer(&into[0]), 100)
	assert.NoError(t, err)
	assert.Nil(t, rest)
	assert.Equal(t, from, into)
	sender.Withdraw(number)
	assert.False(t, sender.offering(), "nobody comes for it any more")
}
