package container

import "sync"

// gate lets many use a structure at once, or one change it. Unlike sync.RWMutex, who uses it already may use it again
// while somebody waits to change it: a move from a container to itself does.
type gate struct {
	mu       sync.Mutex
	idle     sync.Cond
	users    int
	changing bool
}

func (g *gate) enter() {
	g.mu.Lock()
	for g.changing {
		g.wait()
	}
	g.users++
	g.mu.Unlock()
}

func (g *gate) leave() {
	g.mu.Lock()
	g.users--
	g.wake()
	g.mu.Unlock()
}

// Lock waits until nobody uses the structure.
func (g *gate) Lock() {
	g.mu.Lock()
	for g.changing || g.users > 0 {
		g.wait()
	}
	g.changing = true
	g.mu.Unlock()
}

// Unlock ends a change.
func (g *gate) Unlock() {
	g.mu.Lock()
	g.changing = false
	g.wake()
	g.mu.Unlock()
}

func (g *gate) wait() {
	g.idle.L = &g.mu
	g.idle.Wait()
}

func (g *gate) wake() {
	if g.idle.L != nil { // somebody has waited
		g.idle.Broadcast()
	}
}
