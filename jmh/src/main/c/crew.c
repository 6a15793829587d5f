/* Several threads that write, each through an endpoint of its own, or all through one; as in Crew.java. */
#define _GNU_SOURCE
#include "baseline.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST_THREADS 64
/* Each thread's count and place has cache lines of its own. */
#define APART 128
/* How long the regions of a thread's own world are. */
#define ROOM (1 << 16)

struct member {
    _Alignas(APART) _Atomic uint64_t completed;
    struct fi_context2 context;
    uint64_t posted;
    pthread_t thread;
    struct crew *crew;
    struct world *world;
    size_t number;
};

struct crew {
    struct member members[MOST_THREADS];
    size_t count;
    bool shared;
    bool ends;
    size_t size;
    uint64_t operations;
    pthread_barrier_t start;
    pthread_barrier_t end;
};

/* Whoever reads a completion counts it for the thread that waits for it. */
static long poll_for_all(struct crew *crew, struct fid_cq *queue) {
    struct fi_cq_data_entry entries[BATCH];
    ssize_t count = fi_cq_read(queue, entries, BATCH);
    if (count <= 0) {
        if (count == -FI_EAGAIN || count == 0)
            return 0;
        fail("fi_cq_read", count);
    }
    for (ssize_t at = 0; at < count; at++) {
        size_t offset = (char *)entries[at].op_context - (char *)crew->members;
        if (offset < sizeof(crew->members)) {
            struct member *member = &crew->members[offset / sizeof(struct member)];
            uint64_t before = atomic_load_explicit(&member->completed, memory_order_relaxed);
            atomic_store_explicit(&member->completed, before + 1, memory_order_release);
        }
    }
    return count;
}

static void write_through_one(struct member *member) {
    struct crew *crew = member->crew;
    struct world *world = member->world;
    size_t offset = member->number * APART;
    for (uint64_t done = 0; done < crew->operations; done++) {
        ssize_t status;
        while ((status = fi_write(world->source, world->local.memory + offset, crew->size, world->local.descriptor,
                                  world->peer, world->remote.base + offset, world->remote.key, &member->context)) == -FI_EAGAIN) {
            poll_for_all(crew, world->target_queue);
            poll_for_all(crew, world->queue);
        }
        if (status != 0)
            fail("fi_write", status);
        member->posted++;
        while (atomic_load_explicit(&member->completed, memory_order_acquire) < member->posted) {
            if (poll_for_all(crew, world->queue) == 0)
                poll_for_all(crew, world->target_queue);
        }
    }
}

static void *work(void *argument) {
    struct member *member = argument;
    struct crew *crew = member->crew;
    if (!crew->shared) {
        struct world *first = member->world;
        member->world = calloc(1, sizeof(*member->world));
        if (member->world == NULL)
            fail("calloc", -FI_ENOMEM);
        open_like(member->world, first, ROOM);
    }
    for (;;) {
        pthread_barrier_wait(&crew->start);
        if (crew->ends)
            break;
        if (crew->shared)
            write_through_one(member);
        else
            run_work(member->world, "write", crew->size, 1, crew->operations);
        pthread_barrier_wait(&crew->end);
    }
    if (!crew->shared) {
        close_world(member->world);
        free(member->world);
    }
    return NULL;
}

bool open_crew(struct world *world, size_t count, bool shared) {
    close_crew(world);
    if (count == 0 || count > MOST_THREADS)
        return false;
    struct crew *crew = aligned_alloc(APART, sizeof(*crew));
    if (crew == NULL)
        fail("aligned_alloc", -FI_ENOMEM);
    memset(crew, 0, sizeof(*crew));
    crew->count = count;
    crew->shared = shared;
    pthread_barrier_init(&crew->start, NULL, count + 1);
    pthread_barrier_init(&crew->end, NULL, count + 1);
    for (size_t number = 0; number < count; number++) {
        struct member *member = &crew->members[number];
        member->crew = crew;
        member->world = world;
        member->number = number;
        if (pthread_create(&member->thread, NULL, work, member) != 0)
            fail("pthread_create", -FI_ENOMEM);
    }
    world->crew = crew;
    return true;
}

void close_crew(struct world *world) {
    struct crew *crew = world->crew;
    if (crew == NULL)
        return;
    crew->ends = true;
    pthread_barrier_wait(&crew->start);
    for (size_t number = 0; number < crew->count; number++)
        pthread_join(crew->members[number].thread, NULL);
    free(crew);
    world->crew = NULL;
}

int64_t run_crew(struct world *world, size_t size, uint64_t count) {
    struct crew *crew = world->crew;
    if (crew == NULL || size > APART)
        return -1;
    crew->size = size;
    crew->operations = count;
    int64_t begun = now();
    pthread_barrier_wait(&crew->start);
    pthread_barrier_wait(&crew->end);
    return (now() - begun) / (int64_t)crew->count;
}
