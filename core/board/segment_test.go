package board

import (
	"crypto/rand"
	"encoding/hex"
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

// TestFilesOfOthers has files beside segments that are none, though they begin like their names or have such a name.
func TestFilesOfOthers(t *testing.T) {
	token := func() string {
		random := make([]byte, tokenBytes/2)
		_, _ = rand.Read(random)
		return hex.EncodeToString(random)
	}
	regular := func(text string, mode os.FileMode) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), mode) }
	}
	room := strings.Repeat("x", 2*tokenBytes)
	files := map[string]func(string) error{
		path("notes-" + token()): regular(room, 0o600),
		path("X" + token()[1:]):  regular(room, 0o600),
		path(token() + ".bak"):   regular(room, 0o600),
		path(token()):            regular("short", 0o600),
		path(token()):            regular(room, 0o644),
		path(token()):            func(path string) error { return os.Mkdir(path, 0o700) },
		path(token()):            func(path string) error { return unix.Mkfifo(path, 0o600) },
		path(token()):            func(path string) error { return os.Symlink(os.DevNull, path) },
	}
	for path, put := range files {
		require.NoError(t, put(path))
		t.Cleanup(func() { _ = os.Remove(path) })
	}
	require.NoError(t, made(t).Link())
	for path := range files {
		_, err := os.Lstat(path)
		assert.NoError(t, err)
	}
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
