/*
 * A rank of MPI's own collectives: mpi NAME ROUNDS, where NAME is its name in the output. They do what JobTimes does with
 * JobCollectives: all-reduce is in place, each rank broadcasts in turn, and an all-gather has a block of each rank.
 */
#include "rounds.h"

#include <mpi.h>

static int rank, ranks;
static int64_t numbers[LARGEST / sizeof(int64_t)], *blocks;

/* What fails ends all ranks: that is MPI's own way. */
static void barrier(size_t none) {
    (void)none;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_reduce(size_t bytes) {
    MPI_Allreduce(MPI_IN_PLACE, numbers, bytes / sizeof(*numbers), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void broadcast_from_each(size_t bytes) {
    for (int root = 0; root < ranks; root++)
        MPI_Bcast(numbers, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void all_gather(size_t bytes) {
    MPI_Allgather(numbers, bytes, MPI_BYTE, blocks, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    if (count != 3 || atol(arguments[2]) < 1) {
        fprintf(stderr, "usage: mpi NAME ROUNDS\n");
        return 2;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long rounds = atol(arguments[2]);
    measure(arguments[1], rank, ranks, rounds, "barrier", barrier, 0);
    blocks = calloc(ranks, LARGEST);
    for (size_t at = 0; at < sizeof(sizes) / sizeof(*sizes); at++) {
        check_sum(all_reduce, numbers, numbers, rank, ranks, sizes[at]);
        measure(arguments[1], rank, ranks, rounds, "all-reduce", all_reduce, sizes[at]);
        measure(arguments[1], rank, ranks, rounds, "broadcasts", broadcast_from_each, sizes[at]);
        measure(arguments[1], rank, ranks, rounds, "all-gather", all_gather, sizes[at]);
    }
    MPI_Finalize();
    return 0;
}
