package scale_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dtl/internal/scale"
)

// cluster has four ranks a node, so that few ranks are on several.
func cluster(t *testing.T) scale.Forms {
	forms, err := scale.ReadForms("../../docs/scale.json")
	require.NoError(t, err)
	forms.Network.PerNode = 4
	return forms
}

// check compares what was counted with the forms: it is at most what they say, and where exact is set not much less. So what
// grows faster than its form fails, and a form that says too much does, too.
func check(t *testing.T, forms scale.Forms, r scale.Result, exact bool) {
	t.Helper()
	for _, g := range forms.Operations {
		if g.Name != r.Name || r.Ranks < g.From {
			continue
		}
		for _, x := range []struct {
			what    string
			counted int64
			form    scale.Form
		}{{"steps", r.Steps, g.Steps}, {"messages", r.Messages, g.Messages}, {"bytes", r.Bytes, g.Bytes}} {
			about := fmt.Sprintf("%s of %s on %d ranks", x.what, r.Name, r.Ranks)
			most := x.form.At(r.Ranks)
			assert.LessOrEqual(t, float64(x.counted), 1.05*most, about)
			if exact {
				assert.GreaterOrEqual(t, 1.4*float64(x.counted), most, about)
			}
		}
	}
}

func TestCountsGrowAsTheFormsSay(t *testing.T) {
	numbers := []int{4, 8, 16, 64}
	if testing.Short() {
		numbers = []int{4, 16}
	}
	forms := cluster(t)
	for _, ranks := range numbers {
		results, err := scale.Simulate(forms.Network, ranks, scale.Operations())
		require.NoError(t, err)
		require.Len(t, forms.Operations, len(results))
		for i, r := range results {
			require.Equal(t, r.Name, forms.Operations[i].Name)
			check(t, forms, r, ranks == 64)
		}
	}
}

// A form says why if it grows faster than the digits of the number of ranks.
func TestGrowthHasAReason(t *testing.T) {
	for _, g := range cluster(t).Operations {
		assert.LessOrEqual(t, g.Steps.PerRankDigit, 0.0, g.Name)
		if g.Name != "alltoall 8 KiB" { // its parts go one after the other in the model
			assert.Zero(t, g.Steps.PerRank, g.Name)
		}
		fast := g.Messages.PerRank != 0 || g.Bytes.PerRank != 0 || g.Messages.PerRankDigit != 0 || g.Bytes.PerRankDigit != 0
		assert.Equal(t, fast, g.Why != "", g.Name)
	}
}

func TestCommunicatorTakesAsMuchOfTheHeapOnManyRanks(t *testing.T) {
	forms := cluster(t)
	few, err := scale.HeapOfCommunicator(forms.Network, 8)
	require.NoError(t, err)
	many, err := scale.HeapOfCommunicator(forms.Network, 128)
	require.NoError(t, err)
	assert.Less(t, many, few+2048) // another table of 16 bytes a rank would not do
}

// Beyond so many ranks that each makes proposals, what a sort takes for its splitters grows as the number of ranks.
func TestSortOnManyRanksHasNoTableOfRanksByRanks(t *testing.T) {
	if testing.Short() {
		t.Skip("128 and 256 ranks are many; runs without -short")
	}
	forms, took := cluster(t), []scale.Result{}
	for _, ranks := range []int{128, 256} {
		results, err := scale.Simulate(forms.Network, ranks, []scale.Operation{scale.Sorting(scale.Elements)})
		require.NoError(t, err)
		check(t, forms, results[0], true)
		took = append(took, results...)
	}
	assert.Less(t, took[1].Memory, 2*took[0].Memory)
}
