#include "baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* How long each of many regions is; all lie in the memory of the first two. As in Growth.java. */
#define GROWN_REGION 64
/* Where a struct sockaddr_in has the port and the second byte of the address. */
#define PORT_AT 2
#define SECOND_BYTE_AT 5
#define NAME_ROOM 512

static void *grown(void *array, size_t count, size_t size) {
    void *larger = realloc(array, count * size);
    if (larger == NULL)
        fail("realloc", -FI_ENOMEM);
    return larger;
}

/*
 * Keys grant access: core chooses them at random. A provider that looks for them in a tree takes longer than for one
 * key after the other.
 */
static uint64_t random_key(struct world *world) {
    uint64_t key;
    if (getrandom(&key, sizeof(key), 0) != sizeof(key))
        fail("getrandom", -FI_EOTHER);
    size_t bytes = world->info->domain_attr->mr_key_size;
    return bytes >= sizeof(key) ? key >> 1 : key & ((UINT64_C(1) << bytes * 8) - 1);
}

static bool grow_regions(struct world *world, struct growth *growth, size_t count) {
    if (count * GROWN_REGION > world->local.length)
        return false;
    growth->locals = grown(growth->locals, count, sizeof(*growth->locals));
    growth->remotes = grown(growth->remotes, count, sizeof(*growth->remotes));
    for (; growth->regions < count; growth->regions++) {
        size_t at = growth->regions;
        register_region(world, &growth->locals[at], world->local.memory + at * GROWN_REGION, GROWN_REGION, FI_WRITE,
                        random_key(world));
        register_region(world, &growth->remotes[at], world->remote.memory + at * GROWN_REGION, GROWN_REGION,
                        FI_REMOTE_WRITE, random_key(world));
    }
    return true;
}

/* Internet addresses that are nobody's. */
static bool grow_peers(struct world *world, struct growth *growth, size_t count) {
    unsigned char name[NAME_ROOM];
    size_t length = sizeof(name);
    int status = fi_getname(&world->source->fid, name, &length);
    if (status != 0)
        fail("fi_getname", status);
    if (growth->peers == 0)
        growth->peers = 1; /* the target */
    for (; growth->peers < count; growth->peers++) {
        uint16_t port = 1024 + growth->peers;
        name[PORT_AT] = port >> 8;
        name[PORT_AT + 1] = port & 0xff;
        name[SECOND_BYTE_AT] = 1;
        insert_address(world, name);
    }
    return true;
}

/* Endpoints, each with a queue of its own or all with that of the source, which is the first. */
static bool grow_senders(struct world *world, struct growth *growth, size_t count, bool queues) {
    growth->senders = grown(growth->senders, count, sizeof(*growth->senders));
    for (; growth->sender_count < count; growth->sender_count++) {
        struct sender *sender = &growth->senders[growth->sender_count];
        bool first = growth->sender_count == 0;
        sender->queue = queues && !first ? open_queue(world) : world->queue;
        sender->endpoint = first ? world->source : open_endpoint(world, sender->queue);
    }
    return true;
}

bool grow(struct world *world, const char *what, size_t count) {
    struct growth *growth = &world->growth;
    if (strcmp(what, "regions") == 0)
        return grow_regions(world, growth, count);
    if (strcmp(what, "peers") == 0)
        return grow_peers(world, growth, count);
    if (strcmp(what, "queues") == 0)
        return grow_senders(world, growth, count, true);
    return strcmp(what, "endpoints") == 0 && grow_senders(world, growth, count, false);
}

void close_growth(struct world *world) {
    struct growth *growth = &world->growth;
    for (size_t at = 1; at < growth->sender_count; at++)
        fi_close(&growth->senders[at].endpoint->fid);
    for (size_t at = 1; at < growth->sender_count; at++) {
        if (growth->senders[at].queue != world->queue)
            fi_close(&growth->senders[at].queue->fid);
    }
    for (size_t at = 0; at < growth->regions; at++) {
        fi_close(&growth->locals[at].registration->fid);
        fi_close(&growth->remotes[at].registration->fid);
    }
    free(growth->senders);
    free(growth->locals);
    free(growth->remotes);
    *growth = (struct growth){0};
}

/* From and to another region each time. */
static void write_to_each(struct world *world, size_t size, uint64_t count) {
    struct growth *growth = &world->growth;
    size_t at = growth->next;
    for (uint64_t done = 0; done < count; done++) {
        struct region *local = &growth->locals[at], *remote = &growth->remotes[at];
        void *context = take_context(world);
        ssize_t status;
        while ((status = fi_write(world->source, local->memory, size, local->descriptor, world->peer, remote->base,
                                  remote->key, context)) == -FI_EAGAIN)
            make_progress(world);
        if (status != 0)
            fail("fi_write", status);
        world->posted++;
        at = at + 1 == growth->regions ? 0 : at + 1;
        while (world->completed < world->posted) {
            if (poll_queue(world, world->queue) == 0)
                poll_queue(world, world->target_queue);
        }
    }
    growth->next = at;
}

/*
 * Through another endpoint each time. The target makes progress after each: a provider that completes what it has only
 * sent would else fill the connections.
 */
static void write_from_each(struct world *world, size_t size, uint64_t count) {
    struct growth *growth = &world->growth;
    size_t at = growth->next;
    for (uint64_t done = 0; done < count; done++) {
        struct sender *sender = &growth->senders[at];
        void *context = take_context(world);
        ssize_t status;
        while ((status = fi_write(sender->endpoint, world->local.memory, size, world->local.descriptor, world->peer,
                                  world->remote.base, world->remote.key, context)) == -FI_EAGAIN) {
            poll_queue(world, world->target_queue);
            poll_queue(world, sender->queue);
        }
        if (status != 0)
            fail("fi_write", status);
        world->posted++;
        at = at + 1 == growth->sender_count ? 0 : at + 1;
        while (world->completed < world->posted) {
            if (poll_queue(world, sender->queue) == 0)
                poll_queue(world, world->target_queue);
        }
        poll_queue(world, world->target_queue);
    }
    growth->next = at;
}

bool run_grown(struct world *world, const char *work, size_t size, uint64_t count) {
    if (strcmp(work, "regions") == 0 && world->growth.regions > 0 && size <= GROWN_REGION)
        write_to_each(world, size, count);
    else if (strcmp(work, "senders") == 0 && world->growth.sender_count > 0)
        write_from_each(world, size, count);
    else
        return false;
    return true;
}

int64_t resident(void) {
    char line[128];
    long kibibytes = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r"); /* other files have a number that is some pages off */
    while (file != NULL && kibibytes < 0 && fgets(line, sizeof(line), file) != NULL)
        sscanf(line, "Rss: %ld", &kibibytes);
    if (kibibytes < 0)
        fail("/proc/self/smaps_rollup", -FI_EOTHER);
    fclose(file);
    return kibibytes * 1024;
}
