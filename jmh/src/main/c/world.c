#define _GNU_SOURCE
#include "baseline.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
/* Regions that have room for one ask for huge pages, as core's do. */
#define HUGE_PAGE (2 << 20)
#define NAME_ROOM 512
#define SMALLEST_QUEUE 128
#define LARGEST_QUEUE 4096

bool ordered;

static void check(long status, const char *call) {
    if (status != 0)
        fail(call, status);
}

static uint64_t capabilities_of(enum family family) {
    return family == MSG ? FI_MSG : family == TAGGED ? FI_TAGGED : family == ATOMIC ? FI_RMA | FI_ATOMIC : FI_RMA;
}

static struct fi_info *make_hints(enum family family, const char *provider, enum fi_threading threading,
                                  enum fi_progress progress) {
    struct fi_info *hints = fi_allocinfo();
    if (hints == NULL)
        fail("fi_allocinfo", -FI_ENOMEM);
    hints->caps = capabilities_of(family);
    hints->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = ordered ? FI_ORDER_WAW : 0;
    hints->domain_attr->threading = threading;
    hints->domain_attr->control_progress = progress;
    hints->domain_attr->data_progress = progress;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup(provider); /* freed with the hints */
    return hints;
}

/* What the provider offers for the hints; one named in full comes before those that are layered on it. */
static int find(struct world *world, const char *provider, const char *node, struct fi_info *hints) {
    uint32_t newest = FI_VERSION(2, 1), version = fi_version() < newest ? fi_version() : newest;
    struct fi_info *found = NULL;
    int status = fi_getinfo(version, node, NULL, node == NULL ? 0 : FI_SOURCE, hints, &found);
    if (status == -FI_ENODATA)
        return status;
    check(status, "fi_getinfo");
    struct fi_info *best = found;
    for (struct fi_info *each = found; each != NULL; each = each->next) {
        if (strcmp(each->fabric_attr->prov_name, provider) == 0) {
            best = each;
            break;
        }
    }
    world->info = fi_dupinfo(best);
    fi_freeinfo(found);
    return 0;
}

struct fid_cq *open_queue(struct world *world) {
    size_t size = world->info->tx_attr->size;
    size = size < SMALLEST_QUEUE ? SMALLEST_QUEUE : size > LARGEST_QUEUE ? LARGEST_QUEUE : size;
    struct fi_cq_attr attributes = {.size = 2 * size, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_NONE};
    struct fid_cq *queue;
    check(fi_cq_open(world->domain, &attributes, &queue, NULL), "fi_cq_open");
    return queue;
}

/* Without one an inject that fails, such as to a peer that has ended, ends the process. */
static void bind_write_counter(struct world *world, struct fid_ep *endpoint) {
    struct fi_cntr_attr attributes = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE};
    struct fid_cntr *counter;
    check(fi_cntr_open(world->domain, &attributes, &counter, NULL), "fi_cntr_open");
    check(fi_ep_bind(endpoint, &counter->fid, FI_WRITE), "fi_ep_bind");
    if (world->counter_count == sizeof(world->counters) / sizeof(world->counters[0]))
        fail("too many endpoints", -FI_ENOMEM);
    world->counters[world->counter_count++] = counter;
}

struct fid_ep *open_endpoint(struct world *world, struct fid_cq *queue) {
    struct fid_ep *endpoint;
    check(fi_endpoint(world->domain, world->info, &endpoint, NULL), "fi_endpoint");
    check(fi_ep_bind(endpoint, &world->vector->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    if (world->family != MSG && world->family != TAGGED &&
        strstr(world->info->fabric_attr->prov_name, "ofi_rxm") != NULL)
        bind_write_counter(world, endpoint);
    check(fi_enable(endpoint), "fi_enable");
    return endpoint;
}

void register_region(struct world *world, struct region *region, char *memory, size_t length, uint64_t access, uint64_t key) {
    region->memory = memory;
    region->length = length;
    check(fi_mr_reg(world->domain, memory, length, access, 0, key, 0, &region->registration, NULL), "fi_mr_reg");
    region->descriptor = fi_mr_desc(region->registration);
    region->base = world->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)memory : 0;
    region->key = fi_mr_key(region->registration);
}

static void open_region(struct world *world, struct region *region, size_t length, uint64_t access, uint64_t key) {
    bool huge = length >= HUGE_PAGE;
    if (posix_memalign((void **)&region->memory, huge ? HUGE_PAGE : PAGE, length) != 0)
        fail("posix_memalign", -FI_ENOMEM);
    if (huge)
        madvise(region->memory, length, MADV_HUGEPAGE); /* as far as the system wants to */
    memset(region->memory, 0, length);
    register_region(world, region, region->memory, length, access, key);
}

fi_addr_t insert_address(struct world *world, const void *name) {
    fi_addr_t address;
    int inserted = fi_av_insert(world->vector, name, 1, &address, 0, NULL);
    if (inserted != 1)
        fail("fi_av_insert", inserted < 0 ? inserted : -FI_EINVAL);
    return address;
}

static void open_all(struct world *world, size_t length) {
    check(fi_fabric(world->info->fabric_attr, &world->fabric, NULL), "fi_fabric");
    check(fi_domain(world->fabric, world->info, &world->domain, NULL), "fi_domain");
    world->queue = open_queue(world);
    world->target_queue = open_queue(world);
    enum fi_av_type type = world->info->domain_attr->av_type;
    struct fi_av_attr attributes = {.type = type == FI_AV_UNSPEC ? FI_AV_TABLE : type};
    check(fi_av_open(world->domain, &attributes, &world->vector, NULL), "fi_av_open");
    world->source = open_endpoint(world, world->queue);
    world->target = open_endpoint(world, world->target_queue);
    bool messages = world->family == MSG || world->family == TAGGED;
    uint64_t two_sided = FI_SEND | FI_RECV;
    open_region(world, &world->local, length, messages ? two_sided : FI_READ | FI_WRITE, 1);
    open_region(world, &world->remote, length, messages ? two_sided : FI_REMOTE_READ | FI_REMOTE_WRITE, 2);
    /* The letter needs no remote rights. But without a registration cache Soft-RoCE gives key 0 to each region that has
     * none, and ofi_rxm, which keeps the keys of all regions for atomic operations, takes a key once. */
    open_region(world, &world->letter, LETTER_ROOM, messages ? two_sided : FI_WRITE | FI_REMOTE_WRITE, 3);
    open_region(world, &world->mailbox, LETTER_ROOM, messages ? two_sided : FI_REMOTE_READ | FI_REMOTE_WRITE, 4);
    char name[NAME_ROOM];
    size_t room = sizeof(name);
    check(fi_getname(&world->target->fid, name, &room), "fi_getname");
    world->peer = insert_address(world, name);
    if (messages) {
        room = sizeof(name);
        check(fi_getname(&world->source->fid, name, &room), "fi_getname");
        world->back = insert_address(world, name);
        post_receives(world);
    }
    for (int at = 0; at < MOST_IN_FLIGHT; at++)
        return_context(world, &world->contexts[at]);
}

int open_world(struct world *world, enum family family, const char *provider, const char *node,
               enum fi_threading threading, enum fi_progress progress, size_t length) {
    world->family = family;
    struct fi_info *hints = make_hints(family, provider, threading, progress);
    int status = find(world, provider, node, hints);
    fi_freeinfo(hints);
    if (status == 0)
        open_all(world, length);
    return status;
}

void open_like(struct world *world, const struct world *first, size_t length) {
    world->family = first->family;
    world->info = fi_dupinfo(first->info);
    if (world->info == NULL)
        fail("fi_dupinfo", -FI_ENOMEM);
    open_all(world, length);
}

void print_world(struct world *world) {
    unsigned char name[NAME_ROOM];
    size_t length = sizeof(name);
    check(fi_getname(&world->source->fid, name, &length), "fi_getname");
    printf("ok %u.%u ", FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
    for (size_t at = 0; at < length; at++)
        printf("%02x", name[at]);
    printf(" %lu %lu %d\n", world->mailbox.base, world->mailbox.key, (int)gettid());
}

void insert_other(struct world *world, const char *address_in_hex, uint64_t base, uint64_t key) {
    unsigned char name[NAME_ROOM] = {0};
    unsigned int byte;
    for (size_t at = 0; at < NAME_ROOM && sscanf(address_in_hex + 2 * at, "%2x", &byte) == 1; at++)
        name[at] = (unsigned char)byte;
    world->other = insert_address(world, name);
    world->other_base = base;
    world->other_key = key;
}

static void close_object(struct fid *object) {
    if (object != NULL)
        check(fi_close(object), "fi_close");
}

void close_world(struct world *world) {
    if (world->info == NULL)
        return;
    close_crew(world);
    close_growth(world);
    close_object(&world->source->fid);
    close_object(&world->target->fid);
    struct region *regions[] = {&world->local, &world->remote, &world->letter, &world->mailbox};
    for (size_t at = 0; at < sizeof(regions) / sizeof(regions[0]); at++) {
        close_object(&regions[at]->registration->fid);
        free(regions[at]->memory);
    }
    close_object(&world->vector->fid);
    for (int at = 0; at < world->counter_count; at++)
        close_object(&world->counters[at]->fid);
    close_object(&world->queue->fid);
    close_object(&world->target_queue->fid);
    close_object(&world->domain->fid);
    close_object(&world->fabric->fid);
    fi_freeinfo(world->info);
    world->info = NULL;
}
