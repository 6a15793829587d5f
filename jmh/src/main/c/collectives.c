/*
 * A rank of libfabric's own barrier and all-reduce: collectives PROVIDER FOLDER ROUNDS. OFI4J_RANK and OFI4J_SIZE have
 * its rank and the number of ranks. All ranks are on one machine, and exchange their addresses through files in the
 * folder. It asks for the objects that JobTimes asks for, and waits as Waiting.YIELD does.
 */
#define _GNU_SOURCE
#include "rounds.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

/* Longer messages between members of an operation never arrive, or end the process. */
#define LONGEST (16 << 10)
#define NAME_ROOM 512
#define SPINS 1000
#define PATIENCE 60

static int rank, ranks;
static struct fid_domain *domain;
static struct fid_cq *queue;
static struct fid_eq *events;
static struct fid_av *vector;
static struct fid_ep *endpoint;
static fi_addr_t group;
static int64_t numbers[LONGEST / sizeof(int64_t)], sums[LONGEST / sizeof(int64_t)];
static void *numbers_descriptor, *sums_descriptor;
static struct fi_context2 context, join_context;

static void check(long status, const char *call) {
    if (status < 0) {
        fprintf(stderr, "%s gave %ld, %s\n", call, status, fi_strerror((int)-status));
        exit(1);
    }
}

static struct fi_info *find(const char *provider) {
    struct fi_info *hints = fi_allocinfo(), *found;
    hints->caps = FI_MSG | FI_COLLECTIVE;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup(provider);
    check(fi_getinfo(fi_version() < FI_VERSION(2, 1) ? fi_version() : FI_VERSION(2, 1), NULL, NULL, 0, hints, &found), "fi_getinfo");
    fi_freeinfo(hints);
    return found;
}

static void *descriptor_of(void *memory, uint64_t key) {
    struct fid_mr *registration;
    check(fi_mr_reg(domain, memory, LONGEST, FI_SEND | FI_RECV, 0, key, 0, &registration, NULL), "fi_mr_reg");
    return fi_mr_desc(registration);
}

static void open_all(struct fi_info *info) {
    struct fid_fabric *fabric;
    check(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    check(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    struct fi_cq_attr of_queue = {.size = 1024, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_NONE};
    check(fi_cq_open(domain, &of_queue, &queue, NULL), "fi_cq_open");
    struct fi_eq_attr of_events = {.wait_obj = FI_WAIT_NONE};
    check(fi_eq_open(fabric, &of_events, &events, NULL), "fi_eq_open");
    struct fi_av_attr of_vector = {.type = FI_AV_TABLE};
    check(fi_av_open(domain, &of_vector, &vector, NULL), "fi_av_open");
    check(fi_endpoint(domain, info, &endpoint, NULL), "fi_endpoint");
    check(fi_ep_bind(endpoint, &events->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(endpoint, &vector->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_enable(endpoint), "fi_enable");
    numbers_descriptor = descriptor_of(numbers, 1);
    sums_descriptor = descriptor_of(sums, 2);
}

/* Writes the own address to a file that gets its name when it is whole. */
static void tell(const char *folder) {
    char name[NAME_ROOM], path[NAME_ROOM], whole[NAME_ROOM];
    size_t length = sizeof(name);
    check(fi_getname(&endpoint->fid, name, &length), "fi_getname");
    snprintf(path, sizeof(path), "%s/%d.part", folder, rank);
    snprintf(whole, sizeof(whole), "%s/%d", folder, rank);
    FILE *file = fopen(path, "w");
    if (file == NULL || fwrite(name, 1, length, file) != length || fclose(file) != 0 || rename(path, whole) != 0)
        check(-FI_EIO, "a file of the folder");
}

static fi_addr_t insert(const char *folder, int other) {
    char name[NAME_ROOM] = {0}, path[NAME_ROOM];
    snprintf(path, sizeof(path), "%s/%d", folder, other);
    FILE *file;
    for (int turn = 0; (file = fopen(path, "r")) == NULL; turn++) {
        check(turn < PATIENCE * 100 ? 0 : -FI_ETIMEDOUT, "the wait for another rank");
        usleep(10000);
    }
    check(fread(name, 1, sizeof(name), file) > 0 ? 0 : -FI_EIO, "a file of the folder");
    fclose(file);
    fi_addr_t address;
    check(fi_av_insert(vector, name, 1, &address, 0, NULL) == 1 ? 0 : -FI_EINVAL, "fi_av_insert");
    return address;
}

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
    const char *own = getenv("OFI4J_RANK"), *all = getenv("OFI4J_SIZE");
    if (count != 4 || atol(arguments[3]) < 1 || own == NULL || all == NULL) {
        fprintf(stderr, "usage: collectives PROVIDER FOLDER ROUNDS, started by scripts/launch\n");
        return 2;
    }
    rank = atoi(own);
    ranks = atoi(all);
    open_all(find(arguments[1]));
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
