#include "baseline.h"

#include <string.h>

/* The two endpoints, and the tags of what each receives. */
enum side { SOURCE, TARGET };
static const uint64_t tags[] = {1, 2};

static struct region *region_of(struct world *world, enum side side) {
    return side == SOURCE ? &world->local : &world->remote;
}

/* Receives have the second half of the region. */
static void post_receive(struct world *world, enum side side, size_t slot) {
    struct region *region = region_of(world, side);
    struct fid_ep *endpoint = side == SOURCE ? world->source : world->target;
    char *buffer = region->memory + region->length / 2 + slot * MESSAGE_ROOM;
    void *context = &world->receive_contexts[side][slot];
    ssize_t status = world->family == MSG
                         ? fi_recv(endpoint, buffer, MESSAGE_ROOM, region->descriptor, FI_ADDR_UNSPEC, context)
                         : fi_trecv(endpoint, buffer, MESSAGE_ROOM, region->descriptor, FI_ADDR_UNSPEC, tags[side], 0, context);
    if (status != 0)
        fail("fi_recv or fi_trecv", status);
}

void post_receives(struct world *world) {
    for (size_t slot = 0; slot < RECEIVES; slot++) {
        post_receive(world, SOURCE, slot);
        post_receive(world, TARGET, slot);
    }
}

/* Reads a batch of completions; a receive that has ended is posted again. */
static long poll_messages(struct world *world, enum side side) {
    ssize_t count = fi_cq_read(side == SOURCE ? world->queue : world->target_queue, world->entries, BATCH);
    if (count <= 0) {
        if (count == -FI_EAGAIN || count == 0)
            return 0;
        fail("fi_cq_read", count);
    }
    for (ssize_t at = 0; at < count; at++) {
        char *context = world->entries[at].op_context;
        size_t offset = context - (char *)world->receive_contexts[side];
        if (offset < sizeof(world->receive_contexts[side])) {
            world->received[side]++;
            post_receive(world, side, offset / sizeof(struct fi_context2));
        } else {
            world->completed++;
            world->idle[world->idle_count++] = context;
        }
    }
    return count;
}

static inline bool try_send(struct world *world, enum side from, size_t size) {
    struct region *region = region_of(world, from);
    struct fid_ep *endpoint = from == SOURCE ? world->source : world->target;
    fi_addr_t to = from == SOURCE ? world->peer : world->back;
    void *context = take_context(world);
    ssize_t status = world->family == MSG ? fi_send(endpoint, region->memory, size, region->descriptor, to, context)
                                          : fi_tsend(endpoint, region->memory, size, region->descriptor, to,
                                                     tags[from == SOURCE ? TARGET : SOURCE], context);
    if (status == 0) {
        world->posted++;
        return true;
    }
    return_context(world, context);
    if (status != -FI_EAGAIN)
        fail("fi_send or fi_tsend", status);
    return false;
}

static void poll_both(struct world *world) {
    poll_messages(world, TARGET);
    poll_messages(world, SOURCE);
}

/* One message, and its arrival. */
static void deliver(struct world *world, enum side from, size_t size) {
    enum side to = from == SOURCE ? TARGET : SOURCE;
    uint64_t goal = world->received[to] + 1;
    while (!try_send(world, from, size))
        poll_both(world);
    while (world->received[to] < goal) {
        if (poll_messages(world, to) == 0)
            poll_messages(world, from);
    }
}

static void round_trip_each(struct world *world, size_t size, uint64_t count) {
    for (uint64_t done = 0; done < count; done++) {
        deliver(world, SOURCE, size);
        deliver(world, TARGET, size);
    }
    while (world->completed < world->posted)
        poll_both(world);
}

/* Keeps a window of messages in flight, never more than there are receives for. */
static void stream_messages(struct world *world, size_t size, uint64_t window, uint64_t count) {
    uint64_t goal = world->posted + count, goal_of_target = world->received[TARGET] + count;
    uint64_t first = world->posted - world->received[TARGET];
    while (world->completed < goal || world->received[TARGET] < goal_of_target) {
        while (world->posted < goal && world->posted - world->completed < window &&
               world->posted - world->received[TARGET] - first < RECEIVES) {
            if (!try_send(world, SOURCE, size))
                break;
        }
        poll_both(world);
    }
}

static void message_each(struct world *world, size_t size, uint64_t count) {
    stream_messages(world, size, 1, count);
}

run_each *cold_message_work(const char *name) {
    return strcmp(name, "roundtrip") == 0 ? round_trip_each : strcmp(name, "messages") == 0 ? message_each : NULL;
}

bool run_messages(struct world *world, const char *work, size_t size, uint64_t window, uint64_t count) {
    if (size > MESSAGE_ROOM || (world->family != MSG && world->family != TAGGED))
        return false;
    if (strcmp(work, "roundtrip") == 0)
        round_trip_each(world, size, count);
    else if (strcmp(work, "messages") == 0)
        stream_messages(world, size, window, count);
    else
        return false;
    return true;
}
