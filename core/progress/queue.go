package progress

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Task is under way, and has another step to start when what it waits for has arrived: a receive whose elements come in a
// message of their own, for which the sender waits.
type Task interface {
	// Advance executes the task as far as possible without waiting, unless another thread does so.
	Advance()
}

// queue has the tasks of the whole process, because a rank that waits on one communicator may be needed on another. Calls that
// wait for another rank run them meanwhile, so that no rank is delayed by one that waits for something else first.
var queue struct {
	n    atomic.Int32 // so that the usual case takes no lock
	mu   sync.Mutex
	list []*Entry
	next int // where the next run begins
}

const (
	// tasksAtOnce is how many tasks one run executes.
	tasksAtOnce = 64
	// QueuePause is the time between runs in a wait.
	QueuePause = 100 * time.Microsecond
)

// Entry is a task's place in the queue. The zero Entry is not there.
type Entry struct {
	task   Task
	queued bool
	at     int // guarded by the queue's lock
}

// Set takes a task into the queue, or out of it. One goroutine at a time calls it.
func (e *Entry) Set(t Task, queued bool) {
	if queued == e.queued {
		return
	}
	e.queued = queued
	queue.mu.Lock()
	defer queue.mu.Unlock()
	if queued {
		e.task = t
		queue.list = append(queue.list, e)
		e.at = len(queue.list) - 1
	} else {
		last := len(queue.list) - 1
		queue.list[e.at] = queue.list[last]
		queue.list[e.at].at = e.at
		queue.list[last] = nil
		queue.list = queue.list[:last]
	}
	queue.n.Store(int32(len(queue.list)))
}

// Queued returns the number of tasks in the queue, also for code outside Go.
func Queued() *atomic.Int32 { return &queue.n }

// RunQueue executes some tasks as far as possible without waiting, and reports whether there are any.
func RunQueue() bool {
	if queue.n.Load() == 0 {
		return false
	}
	var some [tasksAtOnce]Task
	for _, t := range takeTasks(some[:0]) {
		t.Advance()
	}
	return true
}

// takeTasks appends the tasks of one run.
func takeTasks(some []Task) []Task {
	queue.mu.Lock()
	defer queue.mu.Unlock()
	n := len(queue.list)
	for range min(n, tasksAtOnce) {
		queue.next = (queue.next + 1) % n
		some = append(some, queue.list[queue.next].task)
	}
	return some
}

// RunQueueBeside lets another thread run the queue, if there is anything in it, until the caller calls the function that it
// returns. Calls that wait in the backend use it, because they cannot run the queue themselves. It does nothing if the library
// accepts no other thread.
func RunQueueBeside() (end func()) {
	if queue.n.Load() == 0 || Limited() {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case <-time.After(QueuePause):
				RunQueue()
			}
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}
