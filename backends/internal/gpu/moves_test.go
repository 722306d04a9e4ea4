package gpu

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// randomBytes returns n bytes, and a copy of them on a device.
func randomBytes(t *testing.T, q backend.Queue, on *device, n int) ([]byte, memory.Span, *memory.Storage) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, uint64(n)))
	given := make([]byte, n)
	for i := range given {
		given[i] = byte(random.Uint32())
	}
	there, storage := span(t, on.Memory(), n, dtype.Uint8)
	must(t, q.Copy(there, memory.Of(dtype.Uint8, given)))
	return given, there, storage
}

// read returns a device's bytes.
func read(t *testing.T, q backend.Queue, s memory.Span) []byte {
	t.Helper()
	got := make([]byte, s.Bytes())
	must(t, q.Copy(memory.Of(dtype.Uint8, got), s.Raw()))
	return got
}

// checkPlaces takes n of 90 elements, and puts them back where others are.
func checkPlaces(t *testing.T, q backend.Queue, on *device, size, n int) {
	t.Helper()
	const all = 90
	given, there, first := randomBytes(t, q, on, all*size)
	defer first.Release()
	places, want := make([]int64, 0, n), []byte{}
	for _, at := range rand.New(rand.NewPCG(2, 3)).Perm(all)[:n] {
		places = append(places, int64(at))
		want = append(want, given[at*size:(at+1)*size]...)
	}
	p := backend.Places{At: memory.Of(dtype.Int64, places), Size: size, Scale: size}
	out, second := span(t, on.Memory(), n*size, dtype.Uint8)
	defer second.Release()
	must(t, q.Take(out, there, p))
	got := make([]byte, n*size)
	must(t, q.Take(memory.Of(dtype.Uint8, got), there, p))
	if !bytes.Equal(read(t, q, out), want) || !bytes.Equal(got, want) {
		t.Error("others were taken")
	}
	for _, from := range []memory.Span{out, memory.Of(dtype.Uint8, want)} {
		must(t, q.Fill(there, []byte{7}))
		must(t, q.Put(there, from, p))
		expected := bytes.Repeat([]byte{7}, all*size)
		for i, at := range places {
			copy(expected[int(at)*size:], want[i*size:(i+1)*size])
		}
		if !bytes.Equal(read(t, q, there), expected) {
			t.Error("others were put")
		}
	}
}

// TestPlaces takes elements of all sizes from places, and puts them there, on the device and by way of the host.
func TestPlaces(t *testing.T) { onEach(t, testPlaces) }

func testPlaces(t *testing.T, d driver) {
	on := d.device(0)
	q := queueOf(t, on)
	for _, size := range []int{1, 2, 4, 8, 16, 3, 12, 40} {
		for _, n := range []int{0, 1, 2, 57, 90} {
			t.Run(fmt.Sprintf("%d elements of %d bytes", n, size), func(t *testing.T) { checkPlaces(t, q, on, size, n) })
		}
	}
	two, _ := span(t, on.Memory(), 2, dtype.Int64)
	three := backend.Places{At: memory.Of(dtype.Int64, []int64{0, 1, 1}), Size: 8, Scale: 8}
	for _, err := range []error{q.Take(two, two, three), q.Put(two, two, three)} {
		if status.CodeOf(err) != status.Internal {
			t.Errorf("got %v, want that two elements are not three", err)
		}
	}
	must(t, q.Put(two, memory.Of(dtype.Int64, []int64{5}), three)) // one alone goes everywhere
	if got := read(t, q, two); got[0] != 5 || got[8] != 5 {
		t.Errorf("got %v, want 5 twice", got)
	}
}

// randomRuns returns runs of units among 600, and how many bytes they reach to.
func randomRuns(random *rand.Rand, unit int64, n int) (all []backend.Run, to int64) {
	for range n {
		r := backend.Run{To: to, From: unit * random.Int64N(100), Unit: unit, Count: random.Int64N(40)}
		r.ToStep = unit * (1 + random.Int64N(3))
		r.FromStep = unit * (random.Int64N(9) - 2)
		if last := r.From + (r.Count-1)*r.FromStep; last < 0 {
			r.FromStep = 0
		}
		all = append(all, r)
		to += r.Count*r.ToStep + unit
	}
	return all, to
}

// TestRuns moves runs of many kinds, at addresses that no wide word begins at, too.
func TestRuns(t *testing.T) { onEach(t, testRuns) }

func testRuns(t *testing.T, d driver) {
	on := d.device(0)
	q := queueOf(t, on)
	random := rand.New(rand.NewPCG(4, 5))
	for trial := range 60 {
		unit := []int64{1, 2, 3, 4, 8, 12, 16, 64}[trial%8]
		all, to := randomRuns(random, unit, trial%9)
		given, there, first := randomBytes(t, q, on, int(600*unit))
		want := bytes.Repeat([]byte{9}, int(to))
		for _, r := range all {
			for k := range r.Count {
				copy(want[r.To+k*r.ToStep:][:unit], given[r.From+k*r.FromStep:])
			}
		}
		out, second := span(t, on.Memory(), int(to), dtype.Uint8)
		for _, src := range []memory.Span{there, memory.Of(dtype.Uint8, given)} {
			must(t, q.Fill(out, []byte{9}))
			must(t, q.Runs(out, src, all))
			if !bytes.Equal(read(t, q, out), want) {
				t.Errorf("trial %d: units of %d bytes, runs %v", trial, unit, all)
			}
		}
		first.Release()
		second.Release()
	}
	given, there, _ := randomBytes(t, q, on, 64)
	got := make([]byte, 16)
	must(t, q.Runs(memory.Of(dtype.Uint8, got), there, []backend.Run{{From: 1, FromStep: 4, ToStep: 1, Unit: 1, Count: 16}}))
	for i := range got {
		if got[i] != given[4*i+1] {
			t.Fatalf("packed for the host: byte %d is %d, want %d", i, got[i], given[4*i+1])
		}
	}
}

// TestTruths has masks of one piece and of many, and of more totals than the host combines.
func TestTruths(t *testing.T) { onEach(t, testTruths) }

func testTruths(t *testing.T, d driver) {
	on := d.device(0)
	q := queueOf(t, on)
	for _, n := range []int{0, 1, 63, 64, 65, 5000, 70 * leastPiece * eachThread} {
		for name, truth := range map[string]func(i int) bool{
			"none":  func(int) bool { return false },
			"all":   func(int) bool { return true },
			"third": func(i int) bool { return i%3 == 1 },
			"late":  func(i int) bool { return i > n-5 },
		} {
			given, want := make([]byte, n), []int64{}
			for i := range given {
				if truth(i) {
					given[i] = 1
					want = append(want, int64(i)+100)
				}
			}
			mask, storage := span(t, on.Memory(), n, dtype.Bool)
			must(t, q.Copy(mask, memory.Of(dtype.Bool, given)))
			found, count, err := q.Truths(mask, 100)
			must(t, err)
			got := make([]int64, count)
			must(t, q.Copy(memory.Of(dtype.Int64, got), memory.Span{Addr: found.Addr(), Count: count, Type: dtype.Int64, Place: found.Place()}))
			if !slices.Equal(got, want) {
				t.Errorf("%s of %d: got %d places, want %d", name, n, len(got), len(want))
			}
			found.Release()
			storage.Release()
		}
	}
}

// TestWordOf holds that no thread moves a word that begins between two.
func TestWordOf(t *testing.T) {
	for want, all := range map[int][]uint64{16: {32, 64, 0}, 8: {32, 24}, 4: {16, ^uint64(11)}, 2: {6}, 1: {16, 1}} {
		if got := wordOf(all...); got != want {
			t.Errorf("words of %v have %d bytes, want %d", all, got, want)
		}
	}
}
