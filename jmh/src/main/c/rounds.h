/* Measures for the C programs of scripts/bench --job: a line for a barrier, and for each size of another operation. */
#ifndef OFI4J_ROUNDS_H
#define OFI4J_ROUNDS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Beyond it, as JobTimes does, a tenth of the rounds. */
#define SMALL 4096

static const size_t sizes[] = {8, 4 << 10, 64 << 10, 1 << 20};
#define LARGEST (1 << 20)

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int compare(const void *one, const void *other) {
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

/* Runs an operation as often unmeasured, and then prints the median; 0 bytes are a barrier. */
static void measure(const char *who, int rank, int ranks, long rounds, const char *name, void (*operation)(size_t bytes), size_t bytes) {
    if (bytes > SMALL)
        rounds = (rounds + 9) / 10;
    int64_t *took = malloc(rounds * sizeof(*took));
    for (long round = -rounds; round < rounds; round++) {
        int64_t start = nanoseconds();
        operation(bytes);
        if (round >= 0)
            took[round] = nanoseconds() - start;
    }
    qsort(took, rounds, sizeof(*took), compare);
    if (rank == 0 && bytes == 0)
        printf("%d ranks, median of %ld: %s, %s %.1f us\n", ranks, rounds, who, name, took[rounds / 2] / 1e3);
    else if (rank == 0)
        printf("%d ranks, median of %ld: %s, %s of %zu bytes %.1f us\n", ranks, rounds, who, name, bytes, took[rounds / 2] / 1e3);
    fflush(stdout);
    free(took);
}

/* Ends the process unless all-reduce sums up the ranks' numbers, each one more than the rank. */
static void check_sum(void (*operation)(size_t bytes), int64_t *in, const int64_t *out, int rank, int ranks, size_t bytes) {
    size_t count = bytes / sizeof(*in);
    for (size_t at = 0; at < count; at++)
        in[at] = rank + 1;
    operation(bytes);
    for (size_t at = 0; at < count; at++) {
        if (out[at] != ranks * (ranks + INT64_C(1)) / 2) {
            fprintf(stderr, "element %zu of %zu is %ld\n", at, count, (long)out[at]);
            exit(1);
        }
    }
    for (size_t at = 0; at < count; at++)
        in[at] = 0;
}

#endif
