/*
 * A sample sort as a C program does it: values go to the rank that a splitter says, and each rank sorts once, by radix.
 *
 * The splitters come from samples, so ranks end with as many values as it happens to be.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 1024, RANKS = 64 };

static uint64_t key(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits ^ ((uint64_t)((int64_t)bits >> 63) | (uint64_t)1 << 63);
}

static double value(uint64_t key) {
    uint64_t bits = key ^ ((key >> 63) - 1 | (uint64_t)1 << 63);
    double back;
    memcpy(&back, &bits, sizeof back);
    return back;
}

/* radix sorts keys by eight bits at a time, but for those that all have in common, and returns where they are then. */
static uint64_t *radix(uint64_t *keys, uint64_t *other, size_t n) {
    static size_t counts[8][256];
    memset(counts, 0, sizeof counts);
    for (size_t i = 0; i < n; i++)
        for (int d = 0; d < 8; d++)
            counts[d][keys[i] >> 8 * d & 255]++;
    for (int d = 0; d < 8; d++) {
        size_t at = 0, *count = counts[d];
        if (n > 0 && count[keys[0] >> 8 * d & 255] == n)
            continue;
        for (int i = 0; i < 256; i++) {
            size_t found = count[i];
            count[i] = at;
            at += found;
        }
        for (size_t i = 0; i < n; i++)
            other[count[keys[i] >> 8 * d & 255]++] = keys[i];
        uint64_t *swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* sample_sort sorts all ranks' values and returns the seconds that it took; *got says how many this rank has then. They
 * are in first, which has room for room of them, as second has. It is negative where they do not fit. */
double sample_sort(int handle, const double *in, int n, uint64_t *first, uint64_t *second, int room, int *got) {
    MPI_Comm comm = MPI_Comm_f2c(handle);
    int size, out[RANKS] = {0}, back[RANKS], starts[RANKS], places[RANKS], next[RANKS], total = 0;
    uint64_t mine[SAMPLES], all[RANKS * SAMPLES];
    MPI_Comm_size(comm, &size);
    MPI_Barrier(comm);
    double start = MPI_Wtime();
    for (int i = 0; i < SAMPLES; i++)
        mine[i] = key(in[(size_t)i * n / SAMPLES]);
    MPI_Allgather(mine, SAMPLES, MPI_UINT64_T, all, SAMPLES, MPI_UINT64_T, comm);
    qsort(all, (size_t)size * SAMPLES, sizeof *all, compare);
    for (int i = 0; i < n; i++) {
        uint64_t k = key(in[i]);
        int to = 0;
        for (int rank = 1; rank < size; rank++)
            to += k >= all[rank * SAMPLES];
        out[to]++;
    }
    MPI_Alltoall(out, 1, MPI_INT, back, 1, MPI_INT, comm);
    for (int rank = 0, at = 0; rank < size; rank++) {
        starts[rank] = next[rank] = at;
        places[rank] = total;
        at += out[rank];
        total += back[rank];
    }
    *got = total;
    if (total > room)
        return -1;
    for (int i = 0; i < n; i++) {
        uint64_t k = key(in[i]);
        int to = 0;
        for (int rank = 1; rank < size; rank++)
            to += k >= all[rank * SAMPLES];
        first[next[to]++] = k;
    }
    MPI_Alltoallv(first, out, starts, MPI_UINT64_T, second, back, places, MPI_UINT64_T, comm);
    uint64_t *sorted = radix(second, first, (size_t)total);
    for (int i = 0; i < total; i++) {
        double v = value(sorted[i]);
        memcpy(&first[i], &v, sizeof v);
    }
    return MPI_Wtime() - start;
}
