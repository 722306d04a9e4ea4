package phase_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dtl/core/clock"
	"dtl/core/phase"
)

const large = 1 << 30

func TestTheLastBegunIsShown(t *testing.T) {
	assert.Nil(t, phase.Now())
	outer := phase.Begin("sort", "local", large)
	inner := phase.Begin("copy", "exchange", 2*large)
	inner.Add(5)
	inner.Add(large)
	assert.Equal(t, inner, phase.Now())
	assert.EqualValues(t, large+5, phase.Now().Done())
	inner.Add(large)
	assert.EqualValues(t, 2*large, inner.Done(), "no more than there is")
	inner.End()
	assert.Equal(t, outer, phase.Now())
	outer.End()
	outer.End()
	assert.Nil(t, phase.Now())
}

func TestWhatIsSmallIsNotShown(t *testing.T) {
	p := phase.Begin("sort", "local", 100)
	assert.Nil(t, phase.Now())
	p.Add(3)
	p.End()
}

func TestManyAtOnce(t *testing.T) {
	var running sync.WaitGroup
	for range 20 {
		running.Go(func() {
			p := phase.Begin("sort", "local", large)
			p.Add(1)
			assert.NotNil(t, phase.Now())
			p.End()
		})
	}
	running.Wait()
	assert.Nil(t, phase.Now())
}

func TestTheLastThatEndedAreKnown(t *testing.T) {
	for range 100 {
		phase.Begin("sort", "exchange", large).End()
	}
	began := clock.Now()
	for range 3 {
		p := phase.Begin("sort", "merge", large)
		time.Sleep(time.Millisecond)
		p.End()
	}
	found := phase.Since(began)
	assert.Len(t, found, 3)
	for _, p := range found {
		assert.Equal(t, "merge", p.Name)
		assert.GreaterOrEqual(t, p.Ended-p.Began, int64(time.Millisecond))
	}
	assert.Len(t, phase.Since(0), 64)
}
