package scale

import "sync"

// Counts is what a call took: of what a rank sent and what it received, the more.
type Counts struct {
	Messages int64
	Bytes    int64
	Steps    int64   // messages one after the other that the last rank's end waited for
	Time     float64 // until the last rank's end, in nanoseconds of the model
}

// meter is one rank's account.
type meter struct {
	world *world
	rank  int // in the world

	mu             sync.Mutex
	sent, received struct{ messages, bytes int64 }
	now            instant
	link           float64 // when its link takes the next message
	coming         map[channel][]instant
}

// instant is a place on a rank's clock.
type instant struct {
	time  float64
	steps int64
}

// atLeast moves the clock forward to another instant, if that is later.
func (t *instant) atLeast(o instant) {
	t.time = max(t.time, o.time)
	t.steps = max(t.steps, o.steps)
}

// channel is where messages stay in order.
type channel struct {
	group       int64
	source, tag int // the rank in the world
}

// world is what all ranks share.
type world struct {
	network Network
	meters  []*meter

	mu     sync.Mutex
	groups map[int64]*group
}

// send accounts for a message that starts now.
func (m *meter) send(to *meter, group int64, tag int, bytes int64) {
	l := m.world.network.link(m.rank, to.rank)
	m.mu.Lock()
	m.now.time += l.Overhead
	start := max(m.now.time, m.link)
	through := start + float64(bytes)*l.PerByte
	m.link = max(through, start+l.Gap)
	m.sent.messages++
	m.sent.bytes += bytes
	there := instant{through + l.Latency, m.now.steps + 1}
	m.mu.Unlock()

	to.mu.Lock()
	defer to.mu.Unlock()
	on := channel{group, m.rank, tag}
	to.coming[on] = append(to.coming[on], there)
}

// receive accounts for the next message of another rank, which has come.
func (m *meter) receive(from *meter, group int64, tag int, bytes int64) {
	l := m.world.network.link(m.rank, from.rank)
	m.mu.Lock()
	defer m.mu.Unlock()
	on := channel{group, from.rank, tag}
	if waiting := m.coming[on]; len(waiting) > 1 {
		m.now.atLeast(waiting[0])
		m.coming[on] = waiting[1:]
	} else {
		m.now.atLeast(waiting[0])
		delete(m.coming, on)
	}
	m.now.time += l.Overhead
	m.received.messages++
	m.received.bytes += bytes
}

// clock returns this rank's.
func (m *meter) clock() instant {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// charge accounts for a collective's messages.
func (m *meter) charge(c cost) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent.messages += c.messages
	m.sent.bytes += c.bytes
	m.received.messages += c.messages
	m.received.bytes += c.bytes
}

// pass moves this rank's clock to a collective's end.
func (m *meter) pass(c cost, begun instant) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.atLeast(instant{begun.time + c.time, begun.steps + c.steps})
}

// reset begins anew. Nothing is under way.
func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent, m.received = struct{ messages, bytes int64 }{}, struct{ messages, bytes int64 }{}
	m.now, m.link = instant{}, 0
}

// counts returns the most that any rank has counted.
func (w *world) counts() (c Counts) {
	for _, m := range w.meters {
		m.mu.Lock()
		c.Messages = max(c.Messages, m.sent.messages, m.received.messages)
		c.Bytes = max(c.Bytes, m.sent.bytes, m.received.bytes)
		c.Steps = max(c.Steps, m.now.steps)
		c.Time = max(c.Time, m.now.time)
		m.mu.Unlock()
	}
	return c
}
