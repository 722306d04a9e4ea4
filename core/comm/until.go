package comm

import (
	"time"

	"dtl/core/progress"
)

// Until waits until ask says yes, as all who wait for another rank do. call says for what, which may change. An error
// of ask ends the wait, too.
func (c *Comm) Until(call func() string, ask func() (bool, error)) error {
	const selfish, pause = 256, 50 * time.Microsecond
	v := c.vigil("")
	defer v.end()
	said := ""
	for turn := 1; ; turn++ {
		if done, err := ask(); done || err != nil {
			return err
		}
		c.letGo(turn)
		if turn > selfish {
			time.Sleep(pause)
		}
		if turn%64 != 0 {
			continue
		}
		if now := call(); now != said {
			said = now
			v.say(now)
		}
		if err := v.look(); err != nil {
			return err
		}
	}
}

// letGo is idle where there may be no board.
func (c *Comm) letGo(turn int) {
	if c.board != nil {
		c.idle(turn)
		return
	}
	progress.RunQueue()
	yield()
}
