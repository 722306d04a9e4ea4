package cma

import (
	"bytes"
	"os"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/core/status"
)

// pair returns the presences as two ranks see them, which are goroutines of this process.
func pair(t *testing.T) (sender, receiver *Presences) {
	t.Helper()
	memory, keys := make([]Presence, 2), make([]uint64, 2)
	for rank := range memory {
		memory[rank].Introduce(os.Getpid(), &keys[rank])
	}
	at := func(rank int) *Presences {
		p := At(&memory[0], int(unsafe.Sizeof(memory[0])), rank, 2)
		p.TryReading()
		require.True(t, p.Reads(rank))
		return &p
	}
	t.Cleanup(func() { assert.Len(t, append(memory, Presence{}), 3) }) // the addresses alone do not keep it
	return at(0), at(1)
}

// A long message is so many parts long.
const part, parts, long = 256 << 10, 64, parts * part

// begun has a receiver collect what a sender offers, which begins a part, as Settled does, and stands still until part is
// called.
func begun(t *testing.T, sender, receiver *Presences, from, into []byte) (number int, end func(), rest *Collection) {
	t.Helper()
	for rest == nil { // the receiver copied all of it before the sender came
		number, _ = sender.Offer(unsafe.Pointer(&from[0]), len(from))
		o, begins := sender.offer(0, number), make(chan int64)
		go func() {
			for state := uint32(open); state == open || state == claimed; state = atomic.LoadUint32((*uint32)(&o.state)) {
			}
			begins <- part * (atomic.AddInt64((*int64)(&o.next), 1) - 1)
		}()
		var err error
		rest, err = receiver.Collect(0, number, unsafe.Pointer(&into[0]), len(into))
		require.NoError(t, err)
		start := <-begins
		if rest == nil {
			_, err = sender.Settled(number)
			require.NoError(t, err)
		}
		end = func() {
			copy(into[start:start+part], from[start:])
			atomic.AddInt64((*int64)(&o.finished), part)
		}
	}
	return number, end, rest
}

func TestCopyThatTheSenderEndsLate(t *testing.T) {
	sender, receiver := pair(t)
	from, into := bytes.Repeat([]byte{7}, long), make([]byte, long)
	number, end, rest := begun(t, sender, receiver, from, into)
	over, _ := rest.Test()
	assert.False(t, over)
	end()
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
	number, end, rest := begun(t, sender, receiver, from, into)
	rest.GiveUp()
	_, err := receiver.Collect(0, number, unsafe.Pointer(&into[0]), long)
	assert.ErrorIs(t, err, status.Communication)
	end()
	over, err := sender.Settled(number)
	assert.True(t, over)
	assert.ErrorContains(t, err, "the receiver could not copy the elements")
	assert.False(t, sender.Offering(), "the number is free")
}

// A sender that gives up does not wait, and the receiver does not keep what may have changed under it.
func TestSenderThatGivesUp(t *testing.T) {
	sender, receiver := pair(t)
	from, into := bytes.Repeat([]byte{7}, long), make([]byte, long)
	number, end, rest := begun(t, sender, receiver, from, into)
	end()
	sender.Withdraw(number)
	assert.True(t, sender.Offering(), "the number is the receiver's to free")
	over, err := rest.Test()
	assert.True(t, over)
	assert.ErrorContains(t, err, "rank 0 gave the message up before it was received")
	assert.False(t, sender.Offering())
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
	assert.False(t, sender.Offering(), "nobody comes for it any more")
}
