package board

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"dtl/core/status"
)

const someBytes = 5000

// made returns a segment that ends with the test.
func made(t *testing.T) *Segment {
	t.Helper()
	s, err := CreateSegment(someBytes)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// opens maps a segment by its name, writes to it, and returns its first byte from before.
func opens(t *testing.T, name string) byte {
	t.Helper()
	memory, err := OpenSegment(name, someBytes)
	require.NoError(t, err)
	first := memory[0]
	memory[0]++
	require.NoError(t, unix.Munmap(memory))
	return first
}

// elsewhere returns a segment's name as it looks to a process that does not see its maker: what is there is another file.
func elsewhere(s *Segment, file *os.File) string {
	fields := strings.SplitN(s.Name(), "/", 3)
	return fmt.Sprintf("%s/%d/%s", fields[0], file.Fd(), fields[2])
}

func TestSegmentHasNoPath(t *testing.T) {
	s := made(t)
	assert.NoFileExists(t, path(s.token))
	assert.LessOrEqual(t, len(s.Name()), NameBytes)
	assert.True(t, OnThisMachine(s.Name()))
	assert.Equal(t, byte(0), opens(t, s.Name()))
	assert.Equal(t, byte(1), opens(t, s.Name()+"\x00\x00"), "what another has written")
	s.Close()
	_, err := OpenSegment(s.Name(), someBytes)
	assert.ErrorIs(t, err, status.Backend)
}

func TestSegmentOfAProcessThatIsNotSeen(t *testing.T) {
	s, other, device := made(t), made(t), must(os.Open(os.DevNull))
	defer device.Close()
	for _, file := range []*os.File{other.file, device} {
		_, err := OpenSegment(elsewhere(s, file), someBytes)
		assert.ErrorIs(t, err, status.Backend)
	}
	require.NoError(t, s.Link())
	assert.Equal(t, byte(0), opens(t, elsewhere(s, other.file)))
	assert.Equal(t, byte(1), opens(t, s.Name()))
	s.Close()
	assert.NoFileExists(t, path(s.token))
}

func TestPathsOfProcessesThatHaveEnded(t *testing.T) {
	ended, alive, next := made(t), made(t), made(t)
	require.NoError(t, alive.Link())
	require.NoError(t, ended.Link())
	require.NoError(t, ended.file.Close(), "as the system does")
	require.NoError(t, next.Link())
	assert.NoFileExists(t, path(ended.token))
	assert.FileExists(t, path(alive.token))
}

func TestSegmentThatDoesNotFit(t *testing.T) {
	_, err := CreateSegment(1 << 50)
	assert.ErrorIs(t, err, status.OutOfMemory)
}

func TestNamesThatAreNone(t *testing.T) {
	for _, name := range []string{"", "\x00", "1/2/3", "a/b/" + strings.Repeat("0", tokenBytes) + "/", "1/2/" + strings.Repeat("0", tokenBytes) + "/"} {
		assert.False(t, OnThisMachine(name), name)
		_, err := OpenSegment(name, someBytes)
		assert.ErrorIs(t, err, status.Backend, name)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
