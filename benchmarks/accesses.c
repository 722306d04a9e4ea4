/* What a C program gets of the same window: loops over one access and a flush, timed in C as in transfers.c. */
#include <mpi.h>
#include <stdint.h>

enum { PUT, GET, ADD };

static void once(MPI_Win win, int kind, char *buffer, int bytes, int target) {
    static const int64_t one = 1;
    if (kind == PUT)
        MPI_Put(buffer, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
    else if (kind == GET)
        MPI_Get(buffer, bytes, MPI_BYTE, target, 0, bytes, MPI_BYTE, win);
    else
        MPI_Fetch_and_op(&one, buffer, MPI_INT64_T, target, 0, MPI_SUM, win);
    MPI_Win_flush(target, win);
}

double accesses(int handle, int kind, char *buffer, int bytes, int target, int calls) {
    MPI_Win win = MPI_Win_f2c(handle);
    once(win, kind, buffer, bytes, target);
    double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        once(win, kind, buffer, bytes, target);
    return (MPI_Wtime() - start) / calls;
}
