package scale

import (
	"encoding/json"
	"math"
	"os"
)

// Forms say how counts grow with the number of ranks.
type Forms struct {
	Network    Network
	Operations []Growth
}

// Growth is how the counts of one operation grow. Why says why one is not fixed or proportional to log₂P.
type Growth struct {
	Name, Why              string
	From                   int // of how many ranks on it is so
	Steps, Messages, Bytes Form
}

// Form is a number that grows with the number of ranks P: it is at most Fixed + PerDigit·log₂P + PerDigits·(log₂P)² +
// PerRank·P + PerRankDigit·P·log₂P.
type Form struct {
	Fixed, PerDigit, PerDigits, PerRank, PerRankDigit float64
}

// At returns the form's value.
func (f Form) At(ranks int) float64 {
	p := float64(ranks)
	digits := math.Ceil(math.Log2(p))
	return f.Fixed + f.PerDigit*digits + f.PerDigits*digits*digits + f.PerRank*p + f.PerRankDigit*p*digits
}

// ReadForms reads a file.
func ReadForms(path string) (f Forms, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(text, &f)
}
