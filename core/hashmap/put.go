package hashmap

import "errors"

// visited is a round in which something was put.
type visited struct {
	window
	coming []int64
	sweep  sweep
	before int // keys that had come in the rounds before
}

// put applies what came. If a rank has no memory for it, all take back what they did since the call began.
func (v *passage) put(w window, r round) error {
	v.visits = append(v.visits, visited{w, r.coming, v.at, v.journal.Len()})
	var mine error
	for rank := range r.coming {
		if mine == nil {
			mine = v.apply(v.m.table, r.batch(rank), v.journal)
		}
	}
	_, err := v.m.settle(v.c, v.op, mine)
	if err == nil {
		return nil
	}
	return errors.Join(err, v.rewind())
}

// rewind undoes all rounds, the last first. The journal has no keys, so those are sent again.
func (v *passage) rewind() error {
	v.m.total = v.before
	for i := len(v.visits) - 1; i >= 0; i-- {
		last := v.visits[i]
		if last.sweep != v.at {
			v.fill(last.sweep)
		}
		r := v.newRound(last.window, last.coming)
		if err := v.ask(r); err != nil {
			return err
		}
		end := last.before + r.total()
		for rank := len(last.coming) - 1; rank >= 0; rank-- {
			end -= int(last.coming[rank])
			if done := v.journal.Len() - end; done > 0 { // what found no memory is not in the journal
				v.journal.Undo(v.m.table, r.batch(rank).keys, done)
			}
		}
	}
	return nil
}
