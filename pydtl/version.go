package pydtl

// Version returns the library's version, as PEP 440 spells it.
func Version() (version string, err error) {
	defer guard(&err)
	return "0.1.0a1", nil
}
