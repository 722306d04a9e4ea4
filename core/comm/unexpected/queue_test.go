package unexpected

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/memory"
)

// message is one from source with a tag, whose buffer says so.
func message(t *testing.T, source, tag int) Message {
	t.Helper()
	buffer, err := memory.NewStorage(cpu.NewHost(), 8, 8)
	assert.NoError(t, err)
	return Message{Buffer: buffer, Status: backend.Status{Source: source, Tag: tag, Bytes: 8}}
}

func TestFirstThatMatches(t *testing.T) {
	for name, row := range map[string]struct{ source, tag, want int }{ // want: the place in the order; -1: none
		"both":       {2, 7, 1},
		"any source": {backend.AnySource, 7, 1},
		"any tag":    {1, backend.AnyTag, 0},
		"anything":   {backend.AnySource, backend.AnyTag, 0},
		"later":      {1, 9, 3},
		"no source":  {3, backend.AnyTag, -1},
		"no tag":     {backend.AnySource, 1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			var q Queue
			came := []Message{message(t, 1, 5), message(t, 2, 7), message(t, 1, 7), message(t, 1, 9)}
			for _, m := range came {
				q.Put(m)
			}
			var seen Message
			assert.Equal(t, row.want >= 0, q.Peek(row.source, row.tag, func(m Message) { seen = m }))
			assert.EqualValues(t, 4, q.Length().Load(), "a peek takes nothing")
			m, there := q.Take(row.source, row.tag)
			assert.Equal(t, row.want >= 0, there)
			if there {
				assert.Same(t, came[row.want].Buffer, m.Buffer)
				assert.Same(t, m.Buffer, seen.Buffer)
				assert.EqualValues(t, 3, q.Length().Load())
				m.Buffer.Release()
			}
			q.Close()
			assert.Zero(t, q.Length().Load())
		})
	}
}

// TestPutBackKeepsTheOrder takes messages that do not fit out, and puts them back in another order.
func TestPutBackKeepsTheOrder(t *testing.T) {
	var q Queue
	for tag := range 4 {
		q.Put(message(t, 0, tag))
	}
	first, _ := q.Take(0, 0)
	third, _ := q.Take(0, 2)
	q.Put(third)
	q.Put(message(t, 0, 4)) // came later than all
	q.Put(first)
	for tag := range 5 {
		m, there := q.Take(backend.AnySource, backend.AnyTag)
		assert.True(t, there)
		assert.Equal(t, tag, m.Status.Tag)
		m.Buffer.Release()
	}
	_, there := q.Take(backend.AnySource, backend.AnyTag)
	assert.False(t, there)
}
