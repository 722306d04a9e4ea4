package pydtl

import (
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/hashmap"
	"dtl/core/runtime"
)

// MapCreate returns an empty map over a context's ranks, from keys of keyBytes each to elements of a type. keyType is the
// number of the keys' element type, or 0 for strings, which are text if they have four bytes a character. The placement is that of the
// values. Collective.
func MapCreate(ctx, keyType, keyBytes int64, text bool, elementType, placement int64) (h int64, err error) {
	defer guard(&err)
	key := hashmap.Key{Type: dtype.Type(keyType), Bytes: int(keyBytes), Text: text}
	return on(ctx, func(c *runtime.Context) (int64, error) {
		m, err := hashmap.New(c, key, dtype.Type(elementType), container.Placement(placement))
		if err != nil {
			return 0, err
		}
		return int64(hashmap.Maps.Put(m)), nil
	})
}

// MapLocalSize returns the number of entries on this rank.
func MapLocalSize(m int64) (n int64, err error) {
	defer guard(&err)
	return using(hashmap.Maps, m, func(m *hashmap.Map) (int64, error) { return m.LocalSize(), nil })
}

// MapLen returns the number of entries on all ranks as the last call left them.
func MapLen(m int64) (n int64, err error) {
	defer guard(&err)
	return using(hashmap.Maps, m, (*hashmap.Map).Len)
}

// MapPlacement returns where the values are.
func MapPlacement(m int64) (placement int64, err error) {
	defer guard(&err)
	return using(hashmap.Maps, m, func(m *hashmap.Map) (int64, error) { return int64(m.Placement()), nil })
}

// MapSync returns when every rank has called it, by the same name. Collective.
func MapSync(m int64, name string) (ok bool, err error) {
	defer guard(&err)
	return using(hashmap.Maps, m, func(m *hashmap.Map) (bool, error) { return true, m.Sync(name) })
}

// MapClear removes all entries. Collective.
func MapClear(m int64) (ok bool, err error) {
	defer guard(&err)
	return using(hashmap.Maps, m, func(m *hashmap.Map) (bool, error) { return true, m.Clear() })
}

// MapClose closes a map. Its handle is invalid from then on. Local.
func MapClose(m int64) (ok bool, err error) {
	defer guard(&err)
	return true, hashmap.Maps.Close(handle.Handle(m))
}
