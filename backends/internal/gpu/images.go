package gpu

import (
	"bytes"
	"compress/bzip2"
	"embed"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"dtl/core/status"
)

// made are what `make kernels` makes of the sources beside them. PTX is text, which CUDA's driver compiles for its device when it is
// loaded, and keeps on disk. HIP's driver takes code objects, of which each is for one chip: `make kernels-amd` makes them, for those who
// want them.
//
//go:embed kernels/*.ptx kernels/amd
var made embed.FS

// codes has the code objects.
var codes = sync.OnceValue(func() fs.FS {
	below, err := fs.Sub(made, "kernels/amd")
	if err != nil {
		panic(err) // the name is a path
	}
	return below
})

// sources are the files of kernels.
var sources = []string{
	"complex", "conversions", "divisions", "elementwise", "floats", "functions", "histograms", "lines", "moves", "reductions", "scans", "sorts",
}

// texts are the PTX by families, each that of a module, so that nobody waits for a driver that compiles what is not needed. What a source has
// before its first kernel, tables among it, all of its modules have.
var texts = sync.OnceValue(func() map[string][]byte {
	all := map[string][]byte{}
	for _, source := range sources {
		text, err := made.ReadFile("kernels/" + source + ".ptx")
		if err != nil {
			panic(err) // they are embedded
		}
		const entry = ".visible .entry "
		parts := strings.Split(string(text), entry)
		for _, kernel := range parts[1:] {
			name, _, _ := strings.Cut(kernel, "(")
			family := familyOf(source, name)
			if all[family] == nil {
				all[family] = []byte(parts[0])
			}
			all[family] = append(append(all[family], entry...), kernel...)
		}
	}
	for family := range all {
		all[family] = append(all[family], 0)
	}
	return all
})

// familyOf returns what a kernel is in one module with: those of its source that are of the same type, or, as functions of numbers are
// long, itself.
func familyOf(source, kernel string) string {
	if source == "complex" || source == "functions" {
		return source + " " + kernel
	}
	return source + " " + kernel[strings.LastIndexByte(kernel, '_')+1:]
}

// chips are AMD's for which there are kernels.
var chips = []string{"gfx90a", "gfx942", "gfx1100"}

// chipOf returns what an architecture such as gfx90a:sramecc+:xnack- is a variant of. Code that names none is for all.
func chipOf(architecture string) string {
	chip, _, _ := strings.Cut(architecture, ":")
	return chip
}

// codeOf returns the name of the code object of a source.
func codeOf(source, architecture string) string {
	return source + "." + chipOf(architecture) + ".co.bz2"
}

// checkChip refuses an architecture for which there are no kernels.
func checkChip(architecture string) error {
	if chip := chipOf(architecture); architecture != "" && !slices.Contains(chips, chip) {
		return status.New(status.BackendUnavailable, "it is a %s, and this version of DTL has kernels for %s", chip,
			strings.Join(chips, ", "))
	}
	if architecture == "" {
		return nil
	}
	if _, err := fs.Stat(codes(), codeOf(sources[0], architecture)); err != nil {
		return status.New(status.BackendUnavailable, "this build of DTL has no kernels for AMD's chips, which `make kernels-amd` makes "+
			"of its sources before it is built")
	}
	return nil
}

// image is what a driver loads: key tells it from others, and read returns it, or nil where there is none.
type image struct {
	key  string
	read func() ([]byte, error)
}

// imageOf returns the one that has a kernel. An architecture that is not known is that of a driver that compiles.
func imageOf(architecture, source, name string) image {
	if architecture == "" {
		key := familyOf(source, name)
		return image{key, func() ([]byte, error) { return texts()[key], nil }}
	}
	key := codeOf(source, architecture)
	return image{key, func() ([]byte, error) { return codeObject(key) }}
}

// codeObject returns the code of a source for a chip, without the line before it that says of what it was made.
func codeObject(path string) ([]byte, error) {
	file, err := fs.ReadFile(codes(), path)
	if err != nil {
		return nil, status.New(status.Internal, "no kernels: %w", err)
	}
	all, err := io.ReadAll(bzip2.NewReader(bytes.NewReader(file)))
	if err != nil {
		return nil, status.New(status.Internal, "%s: %w", path, err)
	}
	_, code, _ := bytes.Cut(all, []byte("\n"))
	return code, nil
}
