package handle

import (
	"slices"
	"sync"
	"testing"
)

// holder is an object that only its close lets go.
type holder struct{ object }

func (*holder) Holds() bool { return true }

type insider struct{ object }

func (*insider) Inner() bool { return true }

func TestWhatProgramsKnowNothingOfIsNotListed(t *testing.T) {
	table := NewTable[*insider](Plan)
	h := table.Put(&insider{})
	if slices.ContainsFunc(Live(), func(o Open) bool { return o.Handle == h }) {
		t.Error("it is listed")
	}
	if got := table.Handles(); !slices.Equal(got, []Handle{h}) {
		t.Errorf("handles %v, want %v", got, h)
	}
}

// openOf returns what Live says of one table's handles.
func openOf[T interface{ Close() error }](table *Table[T]) []Open { return table.appendOpen(nil) }

func TestLiveListsWhatIsOpenOldestFirst(t *testing.T) {
	halos, plans := NewTable[*object](Halo), NewTable[*holder](Plan)
	first := halos.Put(&object{})
	closed := halos.Put(&object{})
	last := plans.Put(&holder{})
	if err := halos.Close(closed); err != nil {
		t.Fatal(err)
	}
	var found []Open
	for _, o := range Live() {
		if o.Handle == first || o.Handle == closed || o.Handle == last {
			found = append(found, o)
		}
	}
	if len(found) != 2 || found[0].Handle != first || found[1].Handle != last {
		t.Fatalf("%+v", found)
	}
	if found[0].Kind != Halo || found[0].Holding || found[1].Kind != Plan || !found[1].Holding {
		t.Errorf("%+v", found)
	}
	if found[0].Born > found[1].Born || found[1].Born > Now() || found[0].Where != "" {
		t.Errorf("%+v", found)
	}
	if got := halos.Handles(); !slices.Equal(got, []Handle{first}) {
		t.Errorf("handles %v, want %v", got, first)
	}
}

func TestAHandleThatIsClosedIsNotListedThoughItsObjectIsInUse(t *testing.T) {
	table := NewTable[*object](Halo)
	h := table.Put(&object{})
	ref, err := table.Acquire(h)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.Close(h); err != nil {
		t.Fatal(err)
	}
	if got := openOf(table); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if err := ref.Release(); err != nil || ref.Object.closes != 1 {
		t.Errorf("closed %d times, %v", ref.Object.closes, err)
	}
}

func TestPlacesAreKeptOnlyWhereTheyAreAskedFor(t *testing.T) {
	table := NewTable[*object](Halo)
	table.Put(&object{})
	KeepPlaces(func() string { return "app.py:7" })
	h := table.Put(&object{})
	KeepPlaces(nil)
	table.Put(&object{})
	var places []string
	for _, o := range openOf(table) {
		places = append(places, o.Where)
	}
	if !slices.Equal(places, []string{"", "app.py:7", ""}) {
		t.Errorf("%q", places)
	}
	if err := table.Close(h); err != nil {
		t.Fatal(err)
	}
	table.Put(&object{}) // takes its slot
	if o := openOf(table)[1]; o.Where != "" {
		t.Errorf("a new handle has the place of another: %+v", o)
	}
}

func TestLiveWhileHandlesComeAndGo(t *testing.T) {
	table := NewTable[*holder](Halo)
	kept := table.Put(&holder{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 500 {
				h := table.Put(&holder{})
				ref, err := table.Acquire(h)
				if err != nil {
					t.Error(err)
				}
				if err := table.Close(h); err != nil {
					t.Error(err)
				}
				if err := ref.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		if !slices.Contains(table.Handles(), kept) {
			t.Error("an open handle is missing")
		}
	}
	group.Wait()
	if got := table.Handles(); !slices.Equal(got, []Handle{kept}) {
		t.Errorf("%v, want %v", got, kept)
	}
}
