/*
 * A rank of libfabric's own barrier and all-reduce: collectives PROVIDER FOLDER ROUNDS. It waits as Waiting.YIELD does.
 */
#define _GNU_SOURCE
#include "ranks.h"

#include <rdma/fi_collective.h>
#include <sched.h>

/* Longer messages between members of an operation never arrive, or end the process. */
#define LONGEST (16 << 10)
#define SPINS 1000

static fi_addr_t group;
static int64_t numbers[LONGEST / sizeof(int64_t)], sums[LONGEST / sizeof(int64_t)];
static void *numbers_descriptor, *sums_descriptor;
static struct fi_context2 context, join_context;

/* Whether an operation has completed. */
static int look(void) {
    struct fi_cq_data_entry entry;
    ssize_t count = fi_cq_read(queue, &entry, 1);
    if (count != -FI_EAGAIN)
        check(count, "fi_cq_read");
    return count == 1;
}

static void join_group(const char *folder) {
    struct fi_av_set_attr empty = {.count = ranks, .start_addr = 1, .end_addr = 0, .stride = 1};
    struct fid_av_set *set;
    check(fi_av_set(vector, &empty, &set, NULL), "fi_av_set");
    for (int other = 0; other < ranks; other++)
        check(fi_av_set_insert(set, insert(folder, other)), "fi_av_set_insert");
    fi_addr_t address;
    check(fi_av_set_addr(set, &address), "fi_av_set_addr");
    struct fid_mc *joined;
    check(fi_join_collective(endpoint, address, set, 0, &joined, &join_context), "fi_join_collective");
    int64_t end = nanoseconds() + PATIENCE * INT64_C(1000000000);
    uint32_t event = 0;
    while (event != FI_JOIN_COMPLETE) {
        struct fi_eq_entry entry;
        look();
        ssize_t length = fi_eq_read(events, &event, &entry, sizeof(entry), 0);
        check(length == -FI_EAGAIN ? 0 : length, "fi_eq_read");
        check(nanoseconds() < end ? 0 : -FI_ETIMEDOUT, "the wait for all to join");
    }
    group = fi_mc_addr(joined);
}

static void await(void) {
    for (int turn = 0; !look(); turn++) {
        if (turn >= SPINS)
            sched_yield();
    }
}

static void barrier(size_t none) {
    (void)none;
    long status;
    while ((status = fi_barrier(endpoint, group, &context)) == -FI_EAGAIN)
        look();
    check(status, "fi_barrier");
    await();
}

static void all_reduce(size_t bytes) {
    long status;
    while ((status = fi_allreduce(endpoint, numbers, bytes / sizeof(*numbers), numbers_descriptor, sums, sums_descriptor, group,
                                  FI_INT64, FI_SUM, 0, &context)) == -FI_EAGAIN)
        look();
    check(status, "fi_allreduce");
    await();
}

int main(int count, char **arguments) {
    start(count, arguments, "collectives");
    open_all(find(arguments[1], FI_MSG | FI_COLLECTIVE));
    numbers_descriptor = descriptor_of(numbers, sizeof(numbers), 1);
    sums_descriptor = descriptor_of(sums, sizeof(sums), 2);
    tell(arguments[2]);
    join_group(arguments[2]);
    long rounds = atol(arguments[3]);
    measure("fi_barrier, fi_allreduce in C", rank, ranks, rounds, "barrier", barrier, 0);
    for (size_t at = 0; at < sizeof(sizes) / sizeof(*sizes) && sizes[at] <= LONGEST; at++) {
        check_sum(all_reduce, numbers, sums, rank, ranks, sizes[at]);
        measure("fi_barrier, fi_allreduce in C", rank, ranks, rounds, "all-reduce", all_reduce, sizes[at]);
    }
    barrier(0);
    sleep(1); /* nobody closes a connection that another still needs */
    return 0;
}
