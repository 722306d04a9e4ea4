/*
 * What a C program gets from the same MPI library: loops over one call, timed in C.
 *
 * Built with the library's own mpicc and loaded into the process that times DTL and mpi4py, so that all of them
 * use one MPI, one process and one core. Each function returns the seconds that one call took on this rank; a
 * first call does not count.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* huge_alloc returns touched memory on 2 MiB pages, as far as the kernel gives them. It maps fresh memory: what
 * malloc hands out may lie on small pages already. */
void *huge_alloc(size_t bytes) {
    const size_t page = (size_t)2 << 20;
    bytes = (bytes + page - 1) / page * page;
    char *mapped = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    char *memory = mapped + (page - (uintptr_t)mapped % page) % page;
    madvise(memory, bytes, MADV_HUGEPAGE);
    memset(memory, 0, bytes);
    return memory;
}

double barrier(int handle, int calls) {
    MPI_Comm comm = MPI_Comm_f2c(handle);
    MPI_Barrier(comm);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        MPI_Barrier(comm);
    return (MPI_Wtime() - start) / calls;
}

double allreduce(int handle, const double *in, double *out, int count, int calls) {
    MPI_Comm comm = MPI_Comm_f2c(handle);
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm);
    return (MPI_Wtime() - start) / calls;
}

double broadcast(int handle, double *buffer, int count, int calls) {
    MPI_Comm comm = MPI_Comm_f2c(handle);
    MPI_Bcast(buffer, count, MPI_DOUBLE, 0, comm);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        MPI_Bcast(buffer, count, MPI_DOUBLE, 0, comm);
    return (MPI_Wtime() - start) / calls;
}

static void there_and_back(MPI_Comm comm, int rank, const double *out, double *in, int count) {
    if (rank == 0)
        MPI_Send(out, count, MPI_DOUBLE, 1, 0, comm);
    MPI_Recv(in, count, MPI_DOUBLE, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(out, count, MPI_DOUBLE, 0, 0, comm);
}

/* ping_pong sends to the other of two ranks and receives from it: a call is there and back. */
double ping_pong(int handle, const double *out, double *in, int count, int calls) {
    MPI_Comm comm = MPI_Comm_f2c(handle);
    int rank;
    MPI_Comm_rank(comm, &rank);
    there_and_back(comm, rank, out, in, count);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        there_and_back(comm, rank, out, in, count);
    return (MPI_Wtime() - start) / calls;
}

/* alltoallv sends count elements to each rank, the caller's own among them. */
double alltoallv(int handle, const double *out, double *in, int count, int calls) {
    MPI_Comm comm = MPI_Comm_f2c(handle);
    int size, counts[64], starts[64];
    MPI_Comm_size(comm, &size);
    for (int rank = 0; rank < size && rank < 64; rank++) {
        counts[rank] = count;
        starts[rank] = rank * count;
    }
    MPI_Alltoallv(out, counts, starts, MPI_DOUBLE, in, counts, starts, MPI_DOUBLE, comm);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        MPI_Alltoallv(out, counts, starts, MPI_DOUBLE, in, counts, starts, MPI_DOUBLE, comm);
    return (MPI_Wtime() - start) / calls;
}

/* compute is a piece of work on memory that stays in the cache. */
void compute(double *work, int count) {
    for (int i = 0; i < count; i++)
        work[i] = work[i] * 0.999 + 1;
}

/* overlap computes in pieces while MPI_Iallreduce runs, and looks at it after each. Without out there is only the
 * computation, with no pieces only the communication. */
double overlap(int handle, const double *in, double *out, int count, double *work, int piece, int pieces, int calls) {
    MPI_Comm comm = MPI_Comm_f2c(handle);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        int done;
        if (out != NULL)
            MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, comm, &request);
        for (int k = 0; k < pieces; k++) {
            compute(work, piece);
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return (MPI_Wtime() - start) / calls;
}
