#include "baseline.h"

#include <stdbool.h>
#include <string.h>

static void await_completions(struct world *world, uint64_t goal) {
    while (world->completed < goal) {
        if (poll_queue(world, world->queue) == 0)
            poll_queue(world, world->target_queue);
    }
}

/* Whether it was accepted; false where there is no room. */
static inline bool accepted(struct world *world, ssize_t status, void *context, const char *call) {
    if (status == 0) {
        world->posted++;
        return true;
    }
    return_context(world, context);
    if (status != -FI_EAGAIN)
        fail(call, status);
    return false;
}

static inline bool try_write(struct world *world, size_t offset, size_t size) {
    void *context = take_context(world);
    return accepted(world,
                    fi_write(world->source, world->local.memory + offset, size, world->local.descriptor, world->peer,
                             world->remote.base + offset, world->remote.key, context),
                    context, "fi_write");
}

static inline bool try_read(struct world *world, size_t offset, size_t size) {
    void *context = take_context(world);
    return accepted(world,
                    fi_read(world->source, world->local.memory + offset, size, world->local.descriptor, world->peer,
                            world->remote.base + offset, world->remote.key, context),
                    context, "fi_read");
}

static inline bool try_write_data(struct world *world, size_t size, uint64_t data) {
    void *context = take_context(world);
    return accepted(world,
                    fi_writedata(world->source, world->local.memory, size, world->local.descriptor, data, world->peer,
                                 world->remote.base, world->remote.key, context),
                    context, "fi_writedata");
}

static inline bool try_prepared(struct world *world, const struct iovec *local) {
    void *context = take_context(world);
    return accepted(world,
                    fi_writev(world->source, local, &world->local.descriptor, 1, world->peer, world->remote.base,
                              world->remote.key, context),
                    context, "fi_writev");
}

static inline bool try_fetch_add(struct world *world) {
    void *context = take_context(world);
    return accepted(world,
                    fi_fetch_atomic(world->source, world->local.memory, 1, world->local.descriptor,
                                    world->local.memory + LETTER_ROOM, world->local.descriptor, world->peer,
                                    world->remote.base, world->remote.key, FI_UINT64, FI_SUM, context),
                    context, "fi_fetch_atomic");
}

static void fetch_add_each(struct world *world, size_t size, uint64_t count) {
    (void)size; /* that of the integer */
    for (uint64_t done = 0; done < count; done++) {
        while (!try_fetch_add(world))
            make_progress(world);
        await_completions(world, world->posted);
    }
}

static void write_one(struct world *world, size_t size) {
    while (!try_write(world, 0, size))
        make_progress(world);
    await_completions(world, world->posted);
}

static void write_each(struct world *world, size_t size, uint64_t count) {
    for (uint64_t done = 0; done < count; done++)
        write_one(world, size);
}

/* Writes that were prepared once. */
static void prepared_each(struct world *world, size_t size, uint64_t count) {
    struct iovec local = {.iov_base = world->local.memory, .iov_len = size};
    for (uint64_t done = 0; done < count; done++) {
        while (!try_prepared(world, &local))
            make_progress(world);
        await_completions(world, world->posted);
    }
}

static void read_each(struct world *world, size_t size, uint64_t count) {
    for (uint64_t done = 0; done < count; done++) {
        while (!try_read(world, 0, size))
            make_progress(world);
        await_completions(world, world->posted);
    }
}

/* With the target's completion: it, too, is awaited before the next. */
static void write_data_each(struct world *world, size_t size, uint64_t count) {
    for (uint64_t done = 0; done < count; done++) {
        uint64_t goal = world->arrived + 1;
        while (!try_write_data(world, size, done & 0xff))
            make_progress(world);
        await_completions(world, world->posted);
        while (world->arrived < goal) {
            if (poll_queue(world, world->target_queue) == 0)
                poll_queue(world, world->queue);
        }
    }
}

static inline void inject_one(struct world *world, size_t size) {
    ssize_t status;
    while ((status = fi_inject_write(world->source, world->local.memory, size, world->peer, world->remote.base,
                                     world->remote.key)) == -FI_EAGAIN)
        make_progress(world);
    if (status != 0)
        fail("fi_inject_write", status);
}

/* A write behind them says that the provider has taken them all. */
static void inject_each(struct world *world, size_t size, uint64_t count) {
    for (uint64_t done = 0; done < count; done++) {
        inject_one(world, size);
        if ((done & (INJECTS_PER_POLL - 1)) == 0)
            make_progress(world);
    }
    write_one(world, size);
}

static void poll_each(struct world *world, size_t size, uint64_t count) {
    (void)size;
    for (uint64_t done = 0; done < count; done++)
        poll_queue(world, world->queue);
}

/* Keeps a window, a power of two, of writes in flight, each with a place of its own. */
static void stream(struct world *world, size_t size, uint64_t window, uint64_t count) {
    uint64_t goal = world->posted + count;
    while (world->completed < goal) {
        while (world->posted < goal && world->posted - world->completed < window) {
            if (!try_write(world, (world->posted & (window - 1)) * size, size))
                break;
        }
        if (poll_queue(world, world->queue) == 0)
            poll_queue(world, world->target_queue);
    }
}

/* Without progress: what is between two operations makes it. */
static void inject_alone(struct world *world, size_t size, uint64_t count) {
    for (uint64_t done = 0; done < count; done++)
        inject_one(world, size);
}

static const struct work works[] = {
    {"write", write_each}, {"read", read_each},         {"inject", inject_each},    {"writedata", write_data_each},
    {"poll", poll_each},   {"prepared", prepared_each}, {"fetchadd", fetch_add_each}, {NULL, NULL},
};

/* Where it is not the same: one operation at a time. */
static const struct work cold_works[] = {{"inject", inject_alone}, {NULL, NULL}};

static run_each *found(const struct work *all, const char *name) {
    while (all->name != NULL && strcmp(all->name, name) != 0)
        all++;
    return all->run;
}

run_each *cold_work(const char *name) {
    run_each *only = found(cold_works, name);
    return only != NULL ? only : found(works, name);
}

int64_t run_work(struct world *world, const char *work, size_t size, uint64_t window, uint64_t count) {
    run_each *each = found(works, work);
    int64_t start = now();
    if (each != NULL)
        each(world, size, count);
    else if (strcmp(work, "stream") == 0)
        stream(world, size, window, count);
    else if (strcmp(work, "threads") == 0)
        return run_crew(world, size, count);
    else if (!run_messages(world, work, size, window, count) && !run_grown(world, work, size, count))
        return -1;
    return now() - start;
}
