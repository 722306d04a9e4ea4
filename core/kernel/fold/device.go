package fold

import "dtl/core/dtype"

// OnDevice says how a device folds elements of one type: it makes partials of those, merges most of them, and the host the rest.
type OnDevice struct {
	Name    string   // what is made of the elements
	Merge   string   // how partials are merged there
	Folding *Folding // and on the host, in any order where it goes by places
	Places  bool     // the partials have places, of which the fold knows nothing
}

// deviceFolds are the folds of real numbers. Moments are of two: of the elements, and of their distances from the mean.
var deviceFolds = [NKinds]string{
	Sum: "sum", Prod: "prod", Min: "argmin", Max: "argmax", ArgMin: "argmin", ArgMax: "argmax", Mean: "total", Moment: "distances",
	Squares: "squares", Magnitudes: "magnitudes", Truths: "truths",
}

// deviceKinds are what types are to a device.
var deviceKinds = [dtype.N]string{
	dtype.Float64: "floating", dtype.Float32: "floating", dtype.Int64: "signed", dtype.Int32: "signed", dtype.Int16: "signed",
	dtype.Int8: "signed", dtype.Uint64: "unsigned", dtype.Uint32: "unsigned", dtype.Uint16: "unsigned", dtype.Uint8: "unsigned",
	dtype.Bool: "signed", dtype.Complex64: "", dtype.Complex128: "",
}

// Device returns how a device folds elements of type t, and false where none does: complex ones.
func (f Kind) Device(t dtype.Type) (how OnDevice, ok bool) {
	if f >= NKinds || !t.Valid() || deviceKinds[t] == "" {
		return how, false
	}
	kind := deviceKinds[t]
	how = OnDevice{Name: deviceFolds[f], Merge: "floats", Folding: foldings[t][f]}
	switch f {
	case Sum:
		if kind == "floating" {
			how.Name = "total"
			break
		}
		how.Merge = "integers"
	case Truths:
		how.Merge = "integers"
	case Prod:
		how.Merge = "products"
		if kind == "floating" {
			how.Merge = "float_products"
		}
	case Min, ArgMin:
		how.Merge, how.Folding, how.Places = "argmin_"+kind, foldings[t][ArgMin], f == Min
	case Max, ArgMax:
		how.Merge, how.Folding, how.Places = "argmax_"+kind, foldings[t][ArgMax], f == Max
	case Moment:
		how.Folding = foldings[t][Mean]
	}
	return how, true
}

// DotOnDevice returns how a device makes what Dot makes of elements of type t, and false where none does.
func DotOnDevice(t dtype.Type) (how OnDevice, ok bool) {
	if how, ok = Sum.Device(t); ok {
		how.Name = "dot"
		how.Folding, _ = DotFolding(t)
	}
	return how, ok
}

// Merged returns what partials are merged to.
func (d OnDevice) Merged(found [][4]int64) (p Partial) {
	for i := range found {
		d.Folding.Merge(&p, (*Partial)(&found[i]))
	}
	if d.Places {
		p[extremeWhere] = 0
	}
	return p
}

// MomentOf returns the partial of a moment: how many elements there are, their mean, and their distances from it, as they were merged.
func MomentOf(count int64, mean float64, distances *Partial) (p Partial) {
	if count > 0 {
		p[momentCount] = count
		p.setFloat(momentSpread, rounded(distances.floats(0)))
		p.setFloat(momentMean, mean)
	}
	return p
}
