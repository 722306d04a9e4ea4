package progress_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dtl/core/clock"
	"dtl/core/progress"
)

const large = 1 << 30

func TestTheLastBegunIsShown(t *testing.T) {
	assert.Nil(t, progress.Now())
	outer := progress.Begin("sort", "local", large)
	inner := progress.Begin("copy", "exchange", 2*large)
	inner.Add(5)
	inner.Add(large)
	assert.Equal(t, inner, progress.Now())
	assert.EqualValues(t, large+5, progress.Now().Done())
	inner.Add(large)
	assert.EqualValues(t, 2*large, inner.Done(), "no more than there is")
	inner.End()
	assert.Equal(t, outer, progress.Now())
	outer.End()
	outer.End()
	assert.Nil(t, progress.Now())
}

func TestWhatIsSmallIsNotShown(t *testing.T) {
	p := progress.Begin("sort", "local", 100)
	assert.Nil(t, progress.Now())
	p.Add(3)
	p.End()
}

func TestManyAtOnce(t *testing.T) {
	var running sync.WaitGroup
	for range 20 {
		running.Go(func() {
			p := progress.Begin("sort", "local", large)
			p.Add(1)
			assert.NotNil(t, progress.Now())
			p.End()
		})
	}
	running.Wait()
	assert.Nil(t, progress.Now())
}

func TestTheLastThatEndedAreKnown(t *testing.T) {
	for range 100 {
		progress.Begin("sort", "exchange", large).End()
	}
	began := clock.Now()
	for range 3 {
		p := progress.Begin("sort", "merge", large)
		time.Sleep(time.Millisecond)
		p.End()
	}
	found := progress.Since(began)
	assert.Len(t, found, 3)
	for _, p := range found {
		assert.Equal(t, "merge", p.Name)
		assert.GreaterOrEqual(t, p.Ended-p.Began, int64(time.Millisecond))
	}
	assert.Len(t, progress.Since(0), 64)
}
