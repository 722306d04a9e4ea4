// Package watchdog watches calls that wait for other ranks. If a wait takes long, it reports where all ranks are. If
// it takes too long, or cannot end any more, the call fails.
//
// A call waits in one of two ways:
//
//   - It looks again and again for what it waits for. Then it has a Wait, and calls Check between two looks, which
//     reports, runs signal handlers, and says when to give up.
//   - It is inside the library that connects the ranks, which does not return meanwhile. Then it is a BackendCall: a
//     goroutine looks at the clock, and can end the job, but not the call.
//
// To report where all ranks are, the ranks have to tell each other. The ranks of a communicator are a Group, and
// communicate over a Channel: Shared if they share memory, Messages if not. A rank that waits in a call reports in
// which one. A rank that does not wait is asked, and answers beside its program, with Asked and Answer.
//
// A rank that has closed the communicator or ended its program has left. A wait for something that only such ranks can
// do is in vain; Absence finds this out.
package watchdog

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Program is what the program around the library knows and does, where somebody has said it: before any communication.
var Program struct {
	// Where returns the place in the program that the calling thread is at: "app.py:41"; "" if it does not know.
	Where func() string
	// WhereIs returns the place that a thread of the system is at; "" if it does not know.
	WhereIs func(thread int) string
	// WhereWas returns the place from which a call was made: that of a number, where ranks meet that go on from calls, which
	// an address names. "" if it does not know any more.
	WhereWas func(meets, number uint64) string
	// Interrupted reports whether the user wants to end what the calling thread does.
	Interrupted func() bool
	// Report shows a text to the user.
	Report func(string)
	// End ends all ranks of the job.
	End func()
}

// Limits of waiting, in nanoseconds; 0: none.
var reportAfter, giveUpAfter atomic.Int64

// SetLimits says after how long in one call a report shows where the ranks are, and after how long the call fails;
// 0 is never.
func SetLimits(report, giveUp time.Duration) {
	reportAfter.Store(int64(report))
	giveUpAfter.Store(int64(giveUp))
}

const (
	// Interval is how long a wait goes on between two checks. Nobody is told of a wait that is shorter.
	Interval = 50 * time.Millisecond
	// answering is how long ranks get to say where they are.
	answering = 1200 * time.Millisecond
)

// Place is where the program is, to append to what it does there: " at app.py:41".
func Place() string {
	if Program.Where == nil {
		return ""
	}
	return behind(Program.Where())
}

// PlaceOf is Place of a call that this rank has gone on from.
func PlaceOf(meets, number uint64) string {
	if Program.WhereWas == nil {
		return ""
	}
	return behind(Program.WhereWas(meets, number))
}

// behind is a place to append.
func behind(place string) string {
	if place == "" {
		return ""
	}
	return " at " + place
}

// report shows a text to the user.
func report(text string) {
	if Program.Report != nil {
		Program.Report("dtl: " + text)
	} else {
		os.Stderr.WriteString("dtl: " + text + "\n")
	}
}

// ByRanks names each text that there is once, with the ranks that gave it before a verb: texts has one a rank, "" from those
// that gave none.
func ByRanks(texts []string, verb string) string {
	var parts []string
	for rank, text := range texts {
		if text != "" && slices.Index(texts, text) == rank {
			parts = append(parts, fmt.Sprintf("%s %s%s", ranksWith(texts, text), verb, text))
		}
	}
	return strings.Join(parts, "; ")
}

// ranksWith names the ranks that gave a text: "rank 3", "ranks 0-2, 5".
func ranksWith(texts []string, text string) string {
	var runs []string
	n := 0
	for rank := 0; rank < len(texts); rank++ {
		if texts[rank] != text {
			continue
		}
		first := rank
		for n++; rank+1 < len(texts) && texts[rank+1] == text; n++ {
			rank++
		}
		if first == rank {
			runs = append(runs, fmt.Sprint(first))
		} else {
			runs = append(runs, fmt.Sprint(first, "-", rank))
		}
	}
	if n == 1 {
		return "rank " + runs[0]
	}
	return "ranks " + strings.Join(runs, ", ")
}
