package jobtest

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

const (
	rankVariable  = "DTL_TEST_RANK_OF"
	marksVariable = "DTL_TEST_MARKS"
)

// Kind returns of which kind the job is whose rank this process is; "" if it is none.
func Kind() string { return os.Getenv(rankVariable) }

// OnlyAsRank skips a test where this process is no rank of a job. One that passes leaves word of it.
func OnlyAsRank(t *testing.T) {
	t.Helper()
	if Kind() == "" {
		t.Skip("one rank of a job, which TestJobs starts under a launcher")
	}
	t.Cleanup(func() {
		if !t.Failed() {
			Mark(t, passed)
		}
	})
}

const passed = "passed"

// Mark leaves word that this process has come so far in a test: launchers lose what is printed last.
func Mark(t *testing.T, word string) {
	t.Helper()
	if err := os.WriteFile(marked(os.Getenv(marksVariable), t.Name(), word, strconv.Itoa(os.Getpid())), nil, 0o600); err != nil {
		t.Error(err)
	}
}

// Passed reports whether this rank has passed a test, and returns how many ranks have.
func Passed(test string) (ours bool, all int) {
	folder := os.Getenv(marksVariable)
	_, err := os.Stat(marked(folder, test, passed, strconv.Itoa(os.Getpid())))
	found, _ := filepath.Glob(marked(folder, test, passed, "*")) // of a pattern that is one
	return err == nil, len(found)
}

func marked(folder, test, word, process string) string {
	return filepath.Join(folder, test+"."+word+"."+process)
}
