/*
 * A rank of MPI's own barrier and all-reduce: mpi NAME ROUNDS, where NAME is its name in the output. All-reduce is in
 * place, like that of JobCollectives.
 */
#include "rounds.h"

#include <mpi.h>

static int64_t numbers[LARGEST / sizeof(int64_t)];

/* What fails ends all ranks: that is MPI's own way. */
static void barrier(size_t none) {
    (void)none;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_reduce(size_t bytes) {
    MPI_Allreduce(MPI_IN_PLACE, numbers, bytes / sizeof(*numbers), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    if (count != 3 || atol(arguments[2]) < 1) {
        fprintf(stderr, "usage: mpi NAME ROUNDS\n");
        return 2;
    }
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long rounds = atol(arguments[2]);
    measure(arguments[1], rank, ranks, rounds, barrier, 0);
    for (size_t at = 0; at < sizeof(sizes) / sizeof(*sizes); at++) {
        check_sum(all_reduce, numbers, numbers, rank, ranks, sizes[at]);
        measure(arguments[1], rank, ranks, rounds, all_reduce, sizes[at]);
    }
    MPI_Finalize();
    return 0;
}
