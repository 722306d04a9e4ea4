package container

import "sync"

// readersWriterLock lets many use a structure at once, or one change it. Unlike sync.RWMutex, who uses it already may use it
// again while somebody waits to change it: a move from a container to itself does.
type readersWriterLock struct {
	mu       sync.Mutex
	idle     sync.Cond
	users    int
	changing bool
}

func (l *readersWriterLock) RLock() {
	l.mu.Lock()
	for l.changing {
		l.wait()
	}
	l.users++
	l.mu.Unlock()
}

func (l *readersWriterLock) RUnlock() {
	l.mu.Lock()
	l.users--
	l.wake()
	l.mu.Unlock()
}

// Lock waits until nobody uses the structure.
func (l *readersWriterLock) Lock() {
	l.mu.Lock()
	for l.changing || l.users > 0 {
		l.wait()
	}
	l.changing = true
	l.mu.Unlock()
}

// Unlock ends a change.
func (l *readersWriterLock) Unlock() {
	l.mu.Lock()
	l.changing = false
	l.wake()
	l.mu.Unlock()
}

func (l *readersWriterLock) wait() {
	l.idle.L = &l.mu
	l.idle.Wait()
}

func (l *readersWriterLock) wake() {
	if l.idle.L != nil { // somebody has waited
		l.idle.Broadcast()
	}
}
