// Command table prints what every operation takes on some numbers of ranks: go run ./internal/scale/table 4 16 64.
package main

import (
	"fmt"
	"os"
	"strconv"
	"text/tabwriter"
	"time"

	"dtl/internal/scale"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(numbers []string) error {
	forms, err := scale.ReadForms("docs/scale.json")
	if err != nil {
		return err
	}
	if len(numbers) == 0 {
		numbers = []string{"4", "8", "16", "64"}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "operation\tranks\tsteps\tmessages\tbytes\tmemory\ttime\t")
	for _, text := range numbers {
		ranks, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		results, err := scale.Simulate(forms.Network, ranks, scale.Operations())
		if err != nil {
			return err
		}
		for _, r := range results {
			fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%d\t%v\t\n", r.Name, r.Ranks, r.Steps, r.Messages, r.Bytes, r.Memory,
				time.Duration(r.Time).Round(time.Microsecond/10))
		}
		heap, err := scale.HeapOfCommunicator(forms.Network, ranks)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "heap of a communicator\t%d\t\t\t\t%d\t\t\n", ranks, heap)
	}
	return out.Flush()
}
