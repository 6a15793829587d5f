/* The objects of a rank of the C programs of scripts/bench --job, and the addresses of the others. OFI4J_RANK and OFI4J_SIZE
 * have its rank and the number of ranks. All are on one machine, and exchange their addresses through files in a folder. It
 * asks for the objects that JobTimes asks for. */
#ifndef OFI4J_RANKS_H
#define OFI4J_RANKS_H

#include "rounds.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <string.h>
#include <unistd.h>

#define NAME_ROOM 512
#define PATIENCE 60

static int rank, ranks;
static struct fid_domain *domain;
static struct fid_cq *queue;
static struct fid_eq *events;
static struct fid_av *vector;
static struct fid_ep *endpoint;

static void check(long status, const char *call) {
    if (status < 0) {
        fprintf(stderr, "%s gave %ld, %s\n", call, status, fi_strerror((int)-status));
        exit(1);
    }
}

/* Learns the rank and the number of ranks, and ends with the usage if they or the arguments are missing. */
static void start(int count, char **arguments, const char *program) {
    const char *own = getenv("OFI4J_RANK"), *all = getenv("OFI4J_SIZE");
    if (count != 4 || atol(arguments[3]) < 1 || own == NULL || all == NULL) {
        fprintf(stderr, "usage: %s PROVIDER FOLDER ROUNDS, started by scripts/launch\n", program);
        exit(2);
    }
    rank = atoi(own);
    ranks = atoi(all);
}

static struct fi_info *find(const char *provider, uint64_t capabilities) {
    struct fi_info *hints = fi_allocinfo(), *found;
    hints->caps = capabilities;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup(provider);
    check(fi_getinfo(fi_version() < FI_VERSION(2, 1) ? fi_version() : FI_VERSION(2, 1), NULL, NULL, 0, hints, &found), "fi_getinfo");
    fi_freeinfo(hints);
    return found;
}

static void *descriptor_of(void *memory, size_t length, uint64_t key) {
    struct fid_mr *registration;
    check(fi_mr_reg(domain, memory, length, FI_SEND | FI_RECV, 0, key, 0, &registration, NULL), "fi_mr_reg");
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

#endif
