package dtype_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/dtype"
)

func TestNamedTypes(t *testing.T) {
	days := dtype.Named("datetime64[D]", 8)
	assert.True(t, days.Named() && days.Sent())
	assert.False(t, days.Valid() || days.Opaque() || days.Held())
	assert.Equal(t, "datetime64[D]", days.String())
	assert.Equal(t, 8, days.Size())
	assert.Equal(t, days, dtype.Named("datetime64[D]", 8))
	assert.Equal(t, days, dtype.FromFormat(days.Format(), 8))
	assert.NotEqual(t, days, dtype.Named("datetime64[s]", 8))
	assert.NotEqual(t, days, dtype.Named("datetime64[D]", 4))
	for _, other := range []dtype.Type{dtype.Float64, dtype.Uint64, dtype.OfSize(8), dtype.OfSize(1 << 24)} {
		assert.False(t, other.Named(), other)
	}
}

func TestNoNamedTypes(t *testing.T) {
	for name, typ := range map[string]dtype.Type{
		"no name":         dtype.Named("", 8),
		"long name":       dtype.Named(strings.Repeat("x", dtype.MaxName+1), 8),
		"no bytes":        dtype.Named("x", 0),
		"too many bytes":  dtype.Named("x", 1<<24+1),
		"a record":        dtype.FromFormat("T{8s:name:}", 8),
		"another size":    dtype.FromFormat("T{8s:\x01x:}", 16),
		"no end":          dtype.FromFormat("T{8s:\x01x", 8),
		"an empty record": dtype.FromFormat("T{", 8),
	} {
		assert.Equal(t, dtype.Invalid, typ, name)
	}
}
