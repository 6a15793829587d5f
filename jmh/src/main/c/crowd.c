#include "baseline.h"

#include <poll.h>
#include <sched.h>

/* How many polls go by between looks at the clock, or for a command; as in Crowd.java. */
#define TURNS 256

static bool is_commanded(void) {
    struct pollfd in = {.fd = 0, .events = POLLIN};
    return poll(&in, 1, 0) != 0;
}

void serve(struct world *world) {
    do {
        for (int turn = 0; turn < TURNS; turn++)
            poll_queue(world, world->queue);
    } while (!is_commanded());
}

static bool try_read_other(struct world *world) {
    void *context = take_context(world);
    ssize_t status = fi_read(world->source, world->local.memory, sizeof(uint64_t), world->local.descriptor, world->other,
                             world->other_base, world->other_key, context);
    if (status == 0) {
        world->posted++;
        return true;
    }
    return_context(world, context);
    if (status != -FI_EAGAIN)
        fail("fi_read", status);
    return false;
}

uint64_t crowd(struct world *world, uint64_t window, bool yields, int64_t nanoseconds) {
    int64_t end = now() + nanoseconds;
    uint64_t before = world->completed;
    do {
        for (int turn = 0; turn < TURNS; turn++) {
            while (world->posted - world->completed < window && try_read_other(world))
                ;
            if (poll_queue(world, world->queue) == 0 && yields)
                sched_yield();
        }
    } while (now() < end);
    return world->completed - before;
}
