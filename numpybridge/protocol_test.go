//go:build !cpython

package numpybridge

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/rma"
	"dtl/internal/layout"
)

// inGo are the structs of Go that C looks at.
var inGo = map[string]reflect.Type{
	"dtl_arrival":      reflect.TypeFor[backend.DirectStatus](),
	"dtl_board":        reflect.TypeFor[board.Local](),
	"dtl_ahead":        reflect.TypeFor[comm.Ahead](),
	"dtl_ring":         fieldOf(reflect.TypeFor[board.Local](), "payloads"),
	"dtl_long_payload": reflect.TypeFor[board.LongPayload](),
	"dtl_entry":        reflect.TypeFor[board.Entry](),
	"dtl_call_laid":    reflect.TypeFor[board.Call](),
	"dtl_group":        reflect.TypeFor[board.Group](),
	"dtl_target":       reflect.TypeFor[rma.Target](),
	"dtl_window":       reflect.TypeFor[rma.Local](),
	"dtl_request_peek": pointedTo(reflect.TypeFor[comm.Request](), "peek"),
}

// pointedTo returns the type that a field of a struct points to.
func pointedTo(t reflect.Type, field string) reflect.Type { return fieldOf(t, field).Elem() }

// fieldOf returns the type of a field of a struct.
func fieldOf(t reflect.Type, field string) reflect.Type {
	f, ok := t.FieldByName(field)
	if !ok {
		panic(fmt.Sprintf("%v has no field %s", t, field))
	}
	return f.Type
}

// onlyC are structs that Go has no other of.
var onlyC = []string{"dtl_header", "dtl_signature"}

func TestLayouts(t *testing.T) {
	for _, found := range regexp.MustCompile(`(?m)^\} (\w+);`).FindAllStringSubmatch(header(t), -1) {
		name := found[1]
		if slices.Contains(onlyC, name) || name == "dtl_reach" {
			continue
		}
		require.Contains(t, cStructs, name, "protocol.h has a struct that is compared with none")
		assert.Empty(t, layout.Differences(cStructs[name], inGo[name]))
	}
	assert.Len(t, cStructs, len(inGo))
}

func header(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("protocol.h")
	require.NoError(t, err)
	return regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(text), "")
}

// way returns what an encoded header says of how its elements come.
func way(h wire.Header) int {
	var b [wire.FixedBytes]byte
	h.Put(b[:])
	return int(b[3])
}

func TestConstants(t *testing.T) {
	elements, _ := reflect.TypeFor[board.Entry]().FieldByName("elements")
	want := map[string]int{
		"DTL_NDARRAY": int(wire.NDArray), "DTL_NUMPY_SCALAR": int(wire.NumPyScalar), "DTL_PYTHON_SCALAR": int(wire.PythonScalar),
		"DTL_OBJECT": int(wire.Object), "DTL_ALONG": way(wire.Header{}), "DTL_APART": way(wire.Header{Apart: true}),
		"DTL_OFFERED": way(wire.Header{Offer: true}), "DTL_MAX_DIMS": wire.MaxDims, "DTL_HEADER_FIXED": wire.FixedBytes,
		"DTL_HEADER_MAX": wire.MaxHeaderBytes, "DTL_SUM": int(kernel.Sum), "DTL_PROD": int(kernel.Prod),
		"DTL_OPERATORS": int(kernel.Prod) + 1, "DTL_BYTES": int(dtype.Uint8), "DTL_EAGER": comm.Eager,
		"DTL_OUTSIDE_GO": board.OutsideGo, "DTL_ENTRY_BYTES": int(elements.Type.Size()), "DTL_PAYLOAD_BYTES": board.MaxPayload,
		"DTL_REACHED": int(rma.Reached), "DTL_NO_TARGET": int(rma.NoTarget), "DTL_NO_EPOCH": int(rma.NoEpoch),
		"DTL_OUTSIDE": int(rma.Outside), "DTL_UNFENCED": int(rma.Unfenced), "DTL_FENCED": int(rma.Fenced),
		"DTL_FENCE_USED": int(rma.FenceUsed), "DTL_UNLOCKED": int(rma.Unlocked), "DTL_SHARED": int(rma.Shared),
		"DTL_EXCLUSIVE": int(rma.Exclusive), "DTL_ENTRIES_KEPT": board.EntriesKept, "DTL_FOR_ALL": int(board.WaitsForAll),
		"DTL_FOR_NONE": int(board.WaitsForNone), "DTL_FOR_ROOT": int(board.WaitsForRoot), "DTL_MOST_PAYLOAD_BYTES": board.MostPayload,
		"DTL_RING_PARTS": len(kept{}.longer.used), "DTL_SLICES_FROM": comm.SlicesFrom, "DTL_ANNEX_RANKS": board.ExtensionRanks,
		"DTL_TOGETHER": int(board.WaitsTogether), "DTL_GROUP_SIZE": board.GroupSize, "DTL_COUNT_BITS": 16,
		"DTL_DIFFER": board.Differ, "DTL_AGREE": board.Agree, "DTL_COMBINED": board.Combined,
	}
	for name, value := range want {
		assert.Equal(t, value, cConstants[name], name)
	}
	assert.GreaterOrEqual(t, cConstants["DTL_TYPE_NUMBERS"], int(dtype.N))
	for _, body := range regexp.MustCompile(`(?s)\benum\b[^{;]*\{(.*?)\}`).FindAllStringSubmatch(header(t), -1) {
		for _, part := range strings.Split(body[1], ",") {
			if name := regexp.MustCompile(`^\s*(\w+)`).FindString(part); name != "" {
				assert.Contains(t, cConstants, strings.TrimSpace(name), "protocol.h has a constant that is compared with none")
			}
		}
	}
	assert.Len(t, cConstants, len(want)+1)
}

// draws calls f with so many random numbers' sources, the same ones each time.
func draws(n int, f func(r *rand.Rand)) {
	for i := range n {
		f(rand.New(rand.NewPCG(1, uint64(i))))
	}
}

// oneOf returns one of some values.
func oneOf[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func TestFingerprintsOfBothSides(t *testing.T) {
	draws(3000, func(r *rand.Rand) {
		op := kernel.Op(r.IntN(cConstants["DTL_OPERATORS"]))
		s := wire.Signature{
			Op: oneOf(r, "", "barrier", "allreduce", "broadcast"), Operator: oneOf(r, "", op.String()), ElementsOptional: r.IntN(2) == 0,
			Type: dtype.Type(r.IntN(int(dtype.N))), Count: oneOf(r, 0, 1, 1000, math.MaxInt64), Root: int64(r.IntN(3)),
		}
		fingerprint, want := cFingerprint(s, int(op))
		assert.Equal(t, s.Fingerprint(), fingerprint, "%+v", s)
		assert.Equal(t, s.ElementsHash(), want, "%+v", s)
	})
}

// someHeader returns a header that may be that of an array.
func someHeader(r *rand.Rand) wire.Header {
	h := wire.Header{
		Kind: wire.Kind(r.IntN(4)), Type: dtype.All()[r.IntN(len(dtype.All()))], Number: r.Uint32(), Shape: []int64{},
		Apart: r.IntN(2) == 0,
	}
	h.Offer = h.Apart && r.IntN(2) == 0
	for range oneOf(r, 0, 1, 2, 3, wire.MaxDims) {
		h.Shape = append(h.Shape, oneOf[int64](r, 0, 1, 2, 3, 1<<20, 1<<40, math.MaxInt64))
	}
	return h
}

func TestHeadersOfBothSides(t *testing.T) {
	draws(3000, func(r *rand.Rand) {
		h := someHeader(r)
		put := make([]byte, h.Size())
		h.Put(put)
		assert.Equal(t, put, cPutHeader(h, put[3]))
		for range r.IntN(3) { // what does not come from this protocol
			put[r.IntN(len(put))] = oneOf[byte](r, 0, 1, 3, 4, 63, 64, 65, 128, 255)
		}
		if r.IntN(4) == 0 {
			put = put[:r.IntN(len(put)+1)]
		}
		parsed, err := wire.ParseHeader(put)
		seen, count, how, ok := cGetHeader(put)
		require.Equal(t, err == nil, ok, "% x: %v", put, err)
		if ok {
			assert.Equal(t, wire.CountIn(put), count)
			assert.Equal(t, parsed.Apart, how != 0)
			assert.Equal(t, parsed.Offer, int(how) == cConstants["DTL_OFFERED"])
			parsed.Apart, parsed.Offer = false, false
			assert.Equal(t, parsed, seen)
		}
	})
}

// boards returns a board as so many ranks see it.
func boards(t *testing.T, ranks int) (all []*board.Board) {
	t.Helper()
	s, err := board.Create(ranks)
	require.NoError(t, err)
	defer s.Close()
	for rank := range ranks {
		b, err := board.Open(s.Name(), rank, ranks)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, b.Close()); b.Recycle() })
		all = append(all, b)
		if ranks <= 3 {
			require.NoError(t, b.FillExtension())
			b.UseExtension()
		}
	}
	return all
}

// TestMeetingOfBothSides has one rank lay down its entries by C and one by Go, and each read the other's.
func TestMeetingOfBothSides(t *testing.T) {
	both := boards(t, 2)
	c := inC(both[1], 1, 2)
	for seq, n := range []int{0, 1, 8, 31, 32, 33, 1000, board.MaxPayload, board.MaxPayload + 1, 40000, board.MostPayload} {
		bytes := make([]byte, n)
		binary.LittleEndian.PutUint64(append(bytes, make([]byte, 8)...)[:8], uint64(seq))
		for i := range bytes {
			bytes[i] += byte(i)
		}
		both[0].Lay(uint64(seq), board.Entry{ElementsHash: 7}, unsafe.Pointer(unsafe.SliceData(bytes)), n)
		assert.False(t, both[0].Arrived(1))
		c.lay(uint64(seq), 7, board.WaitsForAll, 0, bytes[:n/3], bytes[n/3:])
		assert.True(t, both[0].Arrived(1))
		assert.True(t, c.arrived(0))
		assert.True(t, c.agree())
		at, length := both[0].Payload(1)
		assert.Equal(t, bytes, unsafe.Slice((*byte)(at), length), "%d bytes", n)
		assert.Equal(t, n, len(c.payload(0)))
		assert.Equal(t, bytes, append([]byte{}, c.payload(0)...), "%d bytes", n)
		e := both[0].Entry(1)
		assert.Equal(t, []uint64{both[0].Entry(0).History, 7, 0}, []uint64{e.History, e.ElementsHash, uint64(e.Code)})
		both[0].AllCame()
	}
}

func TestAgreementOfBothSides(t *testing.T) {
	all := boards(t, 3)
	c, agreed := inC(all[2], 2, 3), 0
	draws(500, func(r *rand.Rand) {
		for _, b := range all {
			b.Forget()
			b.Lay(oneOf[uint64](r, 5, 5, 5, 6), board.Entry{
				ElementsHash: oneOf[uint64](r, 0, 7, 7, 8), Code: oneOf[int16](r, 0, 0, 0, 0, 0, 0, 101),
			}, nil, 0)
		}
		statement := func(rank int) wire.Statement {
			e := all[0].Entry(rank)
			return wire.Statement{Fingerprint: e.History, ElementsHash: e.ElementsHash, Code: int32(e.Code)}
		}
		agreement, want := wire.Agreement{Fingerprint: statement(0).Fingerprint}, true
		for rank := range all {
			want = want && agreement.Includes(statement(rank))
		}
		assert.Equal(t, want, c.agree())
		two := wire.Agreement{Fingerprint: statement(2).Fingerprint, ElementsHash: statement(2).ElementsHash}
		assert.Equal(t, two.Includes(statement(1)), c.agrees(1))
		if want {
			agreed++
		}
		for _, b := range all {
			b.AllCame()
		}
	})
	assert.Greater(t, agreed, 20)
	assert.Less(t, agreed, 400)
}

// TestRoomOfBothSides has a rank of C and one of Go go ahead of a third as far as they may, with the same entries.
func TestRoomOfBothSides(t *testing.T) {
	all := boards(t, 3)
	inGo, c, third := all[0], inC(all[1], 1, 3), all[2]
	state := inC(inGo, 0, 3)
	refused, most := 0, uint64(0)
	draws(5000, func(r *rand.Rand) {
		n := oneOf(r, 0, 8, 32, 33, 100, 1000, 2048, 2049, 5000, board.MaxPayload, 16000, 17000, board.MostPayload)
		waits := oneOf(r, board.WaitsForAll, board.WaitsForNone, board.WaitsForNone, board.WaitsForRoot)
		made, _, _ := inGo.MakeRoom(waits, n)
		require.Equal(t, made == board.Room, c.makeRoom(waits, n))
		if made != board.Room || r.IntN(40) == 0 { // the third catches up
			refused++
			for range r.IntN(int(inGo.Meetings()-third.Meetings()) + 1) {
				third.Lay(3, board.Entry{}, nil, 0)
			}
			return
		}
		layOnBothSides(t, r, inGo, c, waits, n)
		require.Equal(t, state.kept(), c.kept())
		most = max(most, inGo.Meetings()-third.Meetings())
		if third.Meetings() == inGo.Meetings() {
			inGo.Learn(1)
			c.learn(0)
			require.Equal(t, state.kept(), c.kept())
		}
	})
	assert.Greater(t, refused, 100)
	assert.Greater(t, most, uint64(board.EntriesKept/2))
	assert.Less(t, most, uint64(board.EntriesKept))
}

// layOnBothSides has rank 0 lay down an entry with n bytes by Go, and rank 1 the same by C, and both keep the one before, or not.
func layOnBothSides(t *testing.T, r *rand.Rand, inGo *board.Board, c cBoard, waits board.Waits, n int) {
	t.Helper()
	bytes := make([]byte, n)
	call := board.Call{Operation: r.Uint64(), Operator: 2, Type: 3, Count: 4, Root: 1}
	inGo.Describe(call)
	c.describe(call)
	inGo.Lay(3, board.Entry{ElementsHash: 1, Waits: waits, Root: 2}, unsafe.Pointer(unsafe.SliceData(bytes)), n)
	c.lay(3, 1, waits, 2, nil, bytes)
	if r.IntN(8) == 0 {
		inGo.Keep()
		c.keep()
	}
	require.Equal(t, *inGo.Entry(0), *inGo.Entry(1))
	described, there := inGo.CallOf(1, inGo.Meetings())
	require.True(t, there)
	require.Equal(t, call, described)
}

// TestGroupsOfBothSides has ranks come together, in any order, some by C and some by Go.
func TestGroupsOfBothSides(t *testing.T) {
	for _, size := range []int{9, 16, 17, 64, 65, 130} {
		all := boards(t, size)
		c := make([]cBoard, size)
		for rank, b := range all {
			c[rank] = inC(b, rank, size)
		}
		draws(60, func(r *rand.Rand) {
			adds, odd, failing := r.IntN(4) > 0, oneOf(r, -1, -1, r.IntN(size)), oneOf(r, -1, -1, -1, r.IntN(size))
			var sum int64
			for _, rank := range r.Perm(size) {
				number, fingerprint, code := r.Int64(), uint64(5), int16(0)
				if sum += number; rank == odd {
					fingerprint++
				}
				if rank == failing {
					code = 101
				}
				all[rank].Forget()
				all[rank].Lay(fingerprint, board.Entry{Waits: board.WaitsTogether, Code: code}, unsafe.Pointer(&number), 8)
				comeTogether(all[rank], c[rank], r.IntN(2) == 0, adds)
			}
			for rank, b := range all {
				outcomeOfBothSides(t, b, c[rank], odd < 0 && failing < 0, adds, sum)
				b.AllCame()
			}
		})
	}
}

// comeTogether has a rank count itself in, by C or by Go, and add numbers or not.
func comeTogether(b *board.Board, c cBoard, byC, adds bool) {
	switch {
	case byC:
		c.comeTogether(adds)
	case adds:
		b.ComeTogether(func(into, from unsafe.Pointer) { *(*int64)(into) += *(*int64)(from) })
	default:
		b.ComeTogether(nil)
	}
}

// outcomeOfBothSides checks what a rank reads of a meeting in groups.
func outcomeOfBothSides(t *testing.T, b *board.Board, c cBoard, agrees, adds bool, sum int64) {
	t.Helper()
	there, agreed := b.Together()
	assert.Equal(t, []bool{true, agrees}, []bool{there, agreed})
	there, agreed, number := c.together()
	assert.Equal(t, []bool{true, agrees}, []bool{there, agreed})
	if at := b.Combination(); agrees && adds {
		assert.Equal(t, []int64{sum, sum}, []int64{number, *(*int64)(at)})
	} else {
		assert.Nil(t, at)
		assert.Zero(t, number)
	}
}

func TestWindowsAreReachedAlike(t *testing.T) {
	seen := map[rma.Reach]int{}
	draws(20000, func(r *rand.Rand) {
		parts := []part{{0, int32(r.IntN(6))}, {1000, int32(r.IntN(6))}, {math.MaxInt64, int32(r.IntN(6))}}
		fence, everywhere := int32(r.IntN(4)), int32(r.IntN(6))
		target := oneOf[int64](r, -1, 0, 1, 1, 2, 3, math.MaxInt64)
		offset := oneOf[int64](r, math.MinInt64, -1, 0, 1, 992, 1000, 1001, math.MaxInt64)
		bytes := oneOf[int64](r, math.MinInt64, -1, 0, 8, 1000, math.MaxInt64)
		inC, inGo, afterC, afterGo := reaches(fence, everywhere, parts, target, offset, bytes)
		assert.Equal(t, inGo, inC, "%v %d %d %d %d %d", parts, fence, everywhere, target, offset, bytes)
		assert.Equal(t, afterGo, afterC)
		seen[inC]++
	})
	assert.Len(t, seen, 4)
}
