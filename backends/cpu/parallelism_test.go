package cpu

import "testing"

func TestOwnProcessors(t *testing.T) {
	for _, row := range []struct {
		name         string
		allowed, all int
		variables    map[string]string
		want         int
	}{
		{"alone", 8, 8, nil, 8},
		{"bound", 3, 8, map[string]string{"MPI_LOCALNRANKS": "4"}, 3},
		{"divided", 8, 8, map[string]string{"OMPI_COMM_WORLD_LOCAL_SIZE": "4"}, 2},
		{"more ranks than processors", 8, 8, map[string]string{"PMIX_LOCAL_SIZE": "20"}, 0},
		{"no number", 8, 8, map[string]string{"MPI_LOCALNRANKS": "many"}, 8},
		{"no ranks", 8, 8, map[string]string{"MPI_LOCALNRANKS": "0"}, 8},
		{"nobody knows how many there are", 8, 0, nil, 8},
	} {
		if got := own(row.allowed, row.all, func(name string) string { return row.variables[name] }); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}

func TestOnline(t *testing.T) {
	for list, want := range map[string]int{"0-3\n": 4, "0": 1, "0-3,8,10-11\n": 7, "": 0, "all": 0} {
		if got := online(list); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
	}
}
