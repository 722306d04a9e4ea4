package hashmap

import "errors"

// completed is a round in which something was put.
type completed struct {
	portion
	coming []int64
	pass   pass
	before int // keys that had come in the rounds before
}

// putRound applies what came. If a rank has no memory for it, all take back what they did since the call began.
func (x *exchange) putRound(w portion, r round) error {
	x.rounds = append(x.rounds, completed{w, r.coming, x.at, x.log.Len()})
	var mine error
	if x.m.cells != nil {
		mine = x.putOnDevice(r.whole())
	} else {
		for rank := range r.coming {
			if mine == nil {
				mine = x.apply(x.m.table, r.batch(rank), x.log)
			}
		}
	}
	_, err := x.m.settle(x.c, x.op, mine)
	if err == nil {
		return nil
	}
	return errors.Join(err, x.rollBack())
}

// rollBack undoes all rounds, the last first. The log has no keys, so those are sent again.
func (x *exchange) rollBack() error {
	x.m.total = x.before
	for i := len(x.rounds) - 1; i >= 0; i-- {
		last := x.rounds[i]
		if last.pass != x.at {
			x.fill(last.pass)
		}
		r := x.newRound(last.portion, last.coming)
		if err := x.sendKeys(r); err != nil {
			return err
		}
		end := last.before + r.total()
		for rank := len(last.coming) - 1; rank >= 0; rank-- {
			end -= int(last.coming[rank])
			if done := x.log.Len() - end; done > 0 { // what found no memory is not in the log
				x.log.Undo(x.m.table, r.batch(rank).keys, done)
			}
		}
	}
	if x.m.cells != nil {
		x.m.cells.undo()
	}
	return nil
}
