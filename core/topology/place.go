// Package topology says where ranks run, on which CPUs and beside which GPUs, and which neighbours they have in grids
// and graphs. It communicates nothing: ranks exchange their places as lines of text, and everything else is computed
// from these.
package topology

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"dtl/core/status"
)

// NoDevice stands for no GPU.
const NoDevice = -1

// Place is where a rank runs.
type Place struct {
	Host    string   // the machine's name
	Boot    string   // what tells machines of one name apart
	CPUs    []int    // that the rank may run on
	Allowed []int    // that it could be bound to
	Domains []Domain // of those
	GPUs    int      // that the rank sees
	Device  int      // the number of the rank's own among them; NoDevice: it has chosen none
}

// Here returns the place of this process, quickly: with the GPUs that the machine lists, for which no driver starts.
func Here(device int) Place {
	m := Kernel()
	p := Place{Boot: m.Boot(), Allowed: Allowed(), GPUs: m.GPUs(os.Getenv), Device: device}
	p.Domains = m.Domains(p.Allowed)
	p.Host, _ = os.Hostname() // one without a name is told by the other
	var err error
	if p.CPUs, err = Mask(); err != nil {
		p.CPUs = p.Allowed
	}
	return p
}

// separators of a place's fields and of places: none of them is part of a field.
const (
	fieldEnd = "\t"
)

// String is the place as a line of text, which Parse reads.
func (p Place) String() string {
	fields := []string{word(p.Host), word(p.Boot), FormatList(p.CPUs), FormatList(p.Allowed), domainsText(p.Domains),
		strconv.Itoa(p.GPUs), strconv.Itoa(p.Device)}
	return strings.Join(fields, fieldEnd)
}

// word is a text without separators, and not too long for a line.
func word(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, text)
	return text[:min(len(text), 255)]
}

func domainsText(domains []Domain) string {
	var parts []string
	for _, d := range domains {
		parts = append(parts, fmt.Sprint(d.ID, ":", FormatList(d.CPUs)))
	}
	return strings.Join(parts, ";")
}

// Parse returns the place that a line describes.
func Parse(line string) (p Place, err error) {
	fields := strings.Split(line, fieldEnd)
	if len(fields) != 7 {
		return p, status.New(status.Internal, "a place of %d fields: %q", len(fields), line)
	}
	p.Host, p.Boot = fields[0], fields[1]
	var failed [5]error
	p.CPUs, failed[0] = ParseList(fields[2])
	p.Allowed, failed[1] = ParseList(fields[3])
	p.Domains, failed[2] = parseDomains(fields[4])
	p.GPUs, failed[3] = strconv.Atoi(fields[5])
	p.Device, failed[4] = strconv.Atoi(fields[6])
	for _, e := range failed {
		if e != nil {
			return p, status.New(status.Internal, "a place that cannot be read, %q: %w", line, e)
		}
	}
	return p, nil
}

func parseDomains(text string) (domains []Domain, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ";") {
		number, list, _ := strings.Cut(part, ":")
		var d Domain
		if d.ID, err = strconv.Atoi(number); err != nil {
			return nil, err
		}
		if d.CPUs, err = ParseList(list); err != nil {
			return nil, err
		}
		domains = append(domains, d)
	}
	return domains, nil
}
