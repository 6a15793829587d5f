#include "baseline.h"

#include <stdbool.h>
#include <string.h>

/* The mailbox is written by the network, or by another process. */
static uint64_t read_mailbox(struct world *world) {
    return atomic_load_explicit((_Atomic uint64_t *)world->mailbox.memory, memory_order_acquire);
}

/* Writes the letter into the other's mailbox, once the letter before has left. */
static void send_write(struct world *world, uint64_t number) {
    while (world->completed < world->posted)
        poll_queue(world, world->queue);
    *(uint64_t *)world->letter.memory = number;
    void *context = take_context(world);
    ssize_t status;
    while ((status = fi_write(world->source, world->letter.memory, sizeof(number), world->letter.descriptor, world->other,
                              world->other_base, world->other_key, context)) == -FI_EAGAIN)
        poll_queue(world, world->queue);
    if (status != 0)
        fail("fi_write", status);
    world->posted++;
}

static void send_data(struct world *world, uint64_t number) {
    while (world->completed < world->posted)
        poll_queue(world, world->queue);
    *(uint64_t *)world->letter.memory = number;
    void *context = take_context(world);
    ssize_t status;
    while ((status = fi_writedata(world->source, world->letter.memory, sizeof(number), world->letter.descriptor,
                                  number & 0xff, world->other, world->other_base, world->other_key, context)) == -FI_EAGAIN)
        poll_queue(world, world->queue);
    if (status != 0)
        fail("fi_writedata", status);
    world->posted++;
}

static void receive_write(struct world *world, uint64_t number) {
    while (read_mailbox(world) != number)
        poll_queue(world, world->queue);
}

static void receive_data(struct world *world, uint64_t goal) {
    while (world->arrived < goal)
        poll_queue(world, world->queue);
}

static void exchange_write(struct world *world) {
    uint64_t number = ++world->sequence;
    send_write(world, number);
    receive_write(world, number);
}

static void exchange_data(struct world *world) {
    uint64_t goal = world->arrived + 1;
    send_data(world, ++world->sequence);
    receive_data(world, goal);
}

static void finish(struct world *world) {
    while (world->completed < world->posted)
        poll_queue(world, world->queue);
}

int ping(struct world *world, const char *work, uint64_t unmeasured, uint64_t count, int64_t *samples) {
    bool data = strcmp(work, "writedata") == 0;
    if (!data && strcmp(work, "write") != 0)
        return -1;
    for (uint64_t done = 0; done < unmeasured; done++)
        data ? exchange_data(world) : exchange_write(world);
    for (uint64_t done = 0; done < count; done++) {
        int64_t begun = now();
        data ? exchange_data(world) : exchange_write(world);
        samples[done] = now() - begun;
    }
    finish(world);
    return 0;
}

int pong(struct world *world, const char *work, uint64_t count) {
    bool data = strcmp(work, "writedata") == 0;
    if (!data && strcmp(work, "write") != 0)
        return -1;
    for (uint64_t done = 0; done < count; done++) {
        uint64_t number = ++world->sequence;
        if (data) {
            receive_data(world, world->arrived + 1);
            send_data(world, number);
        } else {
            receive_write(world, number);
            send_write(world, number);
        }
    }
    finish(world);
    return 0;
}
