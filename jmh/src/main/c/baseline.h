/*
 * The C side of scripts/bench: what io.ofi4j.jmh.compare does through the public API, done through libfabric's own.
 * Both sides ask for the same objects with the same hints, post and poll in the same order, and obey the same commands.
 */
#ifndef BASELINE_H
#define BASELINE_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>
#include <time.h>

/* How many completions one poll takes at most, as in World.java. */
#define BATCH 16
/* After how many injects progress is made; a power of two, as in Work.java. */
#define INJECTS_PER_POLL 16
/* The most operations in flight. */
#define MOST_IN_FLIGHT 4096
#define LETTER_ROOM 64
/* How many receives each endpoint has posted, and how long they are, as in MessageWork.java. */
#define RECEIVES 128
#define MESSAGE_ROOM 64
/* The most endpoints that a world grows to. */
#define MOST_ENDPOINTS 1024

/* What the endpoints can do. */
enum family { RMA, ATOMIC, MSG, TAGGED };

struct region {
    char *memory;
    size_t length;
    struct fid_mr *registration;
    void *descriptor;
    uint64_t base;
    uint64_t key;
};

/* An endpoint and the queue of its completions. */
struct sender {
    struct fid_ep *endpoint;
    struct fid_cq *queue;
};

/* What --scale has grow; see growth.c. */
struct growth {
    struct region *locals;
    struct region *remotes;
    size_t regions;
    size_t peers;
    struct sender *senders;
    size_t sender_count;
    /* The one that the next operation uses, so that a short slice does not use the first ones only. */
    size_t next;
};

struct crew;

/* What a worker has open: two endpoints that share an address vector, each with a completion queue. */
struct world {
    enum family family;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *vector;
    struct fid_cq *queue;
    struct fid_cq *target_queue;
    struct fid_ep *source;
    struct fid_ep *target;
    /* Of writes, one for each endpoint, where the provider needs them. */
    struct fid_cntr *counters[MOST_ENDPOINTS + 1];
    int counter_count;
    struct region local;
    struct region remote;
    /* What goes to the other process, and where its letters arrive. */
    struct region letter;
    struct region mailbox;
    fi_addr_t peer;
    /* The source, as the target sees it. */
    fi_addr_t back;
    fi_addr_t other;
    uint64_t other_base;
    uint64_t other_key;
    uint64_t sequence;

    uint64_t posted;
    uint64_t completed;
    uint64_t arrived;
    struct fi_context2 contexts[MOST_IN_FLIGHT];
    void *idle[MOST_IN_FLIGHT];
    int idle_count;
    struct fi_cq_data_entry entries[BATCH];

    /* Of messages: of the source's receives and of the target's. */
    struct fi_context2 receive_contexts[2][RECEIVES];
    uint64_t received[2];

    struct growth growth;
    /* Threads, where there are any. */
    struct crew *crew;
};

/* Whether an order of writes is asked for. */
extern bool ordered;

/* Ends the process with one sentence on stdout, which the driver shows. */
noreturn void fail(const char *call, long status);

/* 0, or -FI_ENODATA where no provider offers that. */
int open_world(struct world *world, enum family family, const char *provider, const char *node,
               enum fi_threading threading, enum fi_progress progress, size_t length);
/* Opens another with the same provider and models. */
void open_like(struct world *world, const struct world *first, size_t length);
struct fid_cq *open_queue(struct world *world);
struct fid_ep *open_endpoint(struct world *world, struct fid_cq *queue);
void register_region(struct world *world, struct region *region, char *memory, size_t length, uint64_t access, uint64_t key);
fi_addr_t insert_address(struct world *world, const void *name);
void insert_other(struct world *world, const char *address_in_hex, uint64_t base, uint64_t key);
void print_world(struct world *world);
void close_world(struct world *world);

/* Runs so many operations; how many nanoseconds that took, or -1 where there is no such work. */
int64_t run_work(struct world *world, const char *work, size_t size, uint64_t window, uint64_t count);

/* Does so many operations of a size, one after the other. */
typedef void run_each(struct world *world, size_t size, uint64_t count);

struct work {
    const char *name;
    run_each *run;
};

/* The work between whose operations other memory can be walked, or NULL. */
run_each *cold_work(const char *name);
run_each *cold_message_work(const char *name);
/*
 * Runs so many operations, and walks so many bytes of other memory before each; how many nanoseconds the operations
 * took, without the walks, or -1 where there is no such work.
 */
int64_t run_cold(struct world *world, const char *work, size_t size, size_t walked, uint64_t count);

/* Prints what memory takes on this machine. */
void print_figures(void);

/* The same for messages, where there is such work for the endpoints. */
bool run_messages(struct world *world, const char *work, size_t size, uint64_t window, uint64_t count);
void post_receives(struct world *world);

/* Makes so many regions, peers, queues or endpoints, those included that are there; whether it can. */
bool grow(struct world *world, const char *what, size_t count);
void close_growth(struct world *world);
/* Runs operations that use another of them each time, where there is such work. */
bool run_grown(struct world *world, const char *work, size_t size, uint64_t count);
/* How many bytes of this process are in memory. */
int64_t resident(void);

/* Starts threads, each with an endpoint of its own or all with one, in place of those before; whether it can. */
bool open_crew(struct world *world, size_t count, bool shared);
void close_crew(struct world *world);
/* Has each thread run so many writes; how many nanoseconds that took, for one thread's share, or -1 without threads. */
int64_t run_crew(struct world *world, size_t size, uint64_t count);

/* So many exchanges with another process, one after the other; what each took goes to samples, in nanoseconds. */
int ping(struct world *world, const char *work, uint64_t unmeasured, uint64_t count, int64_t *samples);
/* The other side of that. */
int pong(struct world *world, const char *work, uint64_t count);

/* Serves the operations of others until there is another command. */
void serve(struct world *world);
/* Reads 8 bytes of another process, so many reads in flight, for so long; how many have completed. */
uint64_t crowd(struct world *world, uint64_t window, bool yields, int64_t nanoseconds);

static inline int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Reads a batch of completions, frees their contexts, and counts them; how many there were. */
static inline long poll_queue(struct world *world, struct fid_cq *queue) {
    ssize_t count = fi_cq_read(queue, world->entries, BATCH);
    if (count <= 0) {
        if (count == -FI_EAGAIN || count == 0)
            return 0;
        fail("fi_cq_read", count);
    }
    for (ssize_t at = 0; at < count; at++) {
        void *context = world->entries[at].op_context;
        /* What a peer's write causes has none of our contexts; its flags differ between providers. */
        if ((uintptr_t)context - (uintptr_t)world->contexts < sizeof(world->contexts)) {
            world->completed++;
            world->idle[world->idle_count++] = context;
        } else {
            world->arrived++;
        }
    }
    return count;
}

static inline void make_progress(struct world *world) {
    poll_queue(world, world->target_queue);
    poll_queue(world, world->queue);
}

static inline void *take_context(struct world *world) {
    return world->idle[--world->idle_count];
}

static inline void return_context(struct world *world, void *context) {
    world->idle[world->idle_count++] = context;
}

#endif
