/*
 * A rank that does what JobCollectives does, with the same algorithms over the same tagged messages: job PROVIDER FOLDER
 * ROUNDS. It is what the same operations cost a C program over libfabric. The number of ranks is a power of two.
 */
#define _GNU_SOURCE
#include "ranks.h"

#include <rdma/fi_tagged.h>
#include <sched.h>

/* As JobCollectives has them: all-reduce of more bytes is a ring, and receives of segments are posted so many at once. */
#define LONGEST_DOUBLING (16 << 10)
#define LONGEST_RXM_EAGER (16 << 10)
#define LONGEST_SEGMENT (512 << 10)
#define SLOTS 4
#define SPINS 1000
#define SENDS 256
#define BATCH 64

struct operation {
    struct fi_context2 context; /* first: libfabric gives its address back */
    int pending;
};

static struct operation receives[SLOTS], sends[SENDS];
static int sent, sends_in_flight, spins, is_rxm;
static fi_addr_t *peers;
static char *reached;
static uint64_t number;
static char *numbers, *blocks, *scratch;
static void *numbers_descriptor, *blocks_descriptor, *scratch_descriptor;
static size_t inject_size;

static void progress(int *turn) {
    struct fi_cq_data_entry entries[BATCH];
    ssize_t count = fi_cq_read(queue, entries, BATCH);
    if (count == -FI_EAGAIN) {
        if (++*turn > spins)
            sched_yield();
        return;
    }
    check(count, "fi_cq_read");
    *turn = 0;
    for (ssize_t at = 0; at < count; at++) {
        struct operation *ended = entries[at].op_context;
        ended->pending = 0;
        if (ended >= sends && ended < sends + SENDS)
            sends_in_flight--;
    }
}

static uint64_t tag(uint64_t step, int sender) {
    return number << 36 | step << 24 | (uint64_t)sender;
}

static void receive(int slot, int from, uint64_t step, void *to, size_t length, void *descriptor) {
    long status;
    int turn = 0;
    while ((status = fi_trecv(endpoint, to, length, descriptor, peers[from], tag(step, from), 0, &receives[slot])) == -FI_EAGAIN)
        progress(&turn);
    check(status, "fi_trecv");
    receives[slot].pending = 1;
}

static void send(int to, uint64_t step, const void *from, size_t length, void *descriptor) {
    long status;
    int turn = 0, injects = reached[to] && length <= inject_size;
    struct operation *own = &sends[sent % SENDS];
    while (!injects && own->pending)
        progress(&turn);
    do {
        status = injects ? fi_tinject(endpoint, from, length, peers[to], tag(step, rank))
                         : fi_tsend(endpoint, from, length, descriptor, peers[to], tag(step, rank), own);
        if (status == -FI_EAGAIN)
            progress(&turn);
    } while (status == -FI_EAGAIN);
    check(status, "fi_tsend");
    if (injects)
        return;
    own->pending = 1;
    sent++;
    sends_in_flight++;
    reached[to] = 1;
}

static void await_slot(int slot) {
    for (int turn = 0; receives[slot].pending;)
        progress(&turn);
}

static void await_sends(int most) {
    for (int turn = 0; sends_in_flight > most;)
        progress(&turn);
}

static void begin(void) {
    number = (number + 1) & 4095;
}

static size_t segment_of(size_t block) {
    size_t longest = is_rxm && block <= SLOTS * LONGEST_RXM_EAGER ? LONGEST_RXM_EAGER : LONGEST_SEGMENT;
    return block < longest ? block : longest;
}

static void barrier(size_t none) {
    (void)none;
    begin();
    for (int distance = 1, step = 0; distance < ranks; distance *= 2, step++) {
        receive(0, (rank - distance + ranks) % ranks, step, scratch, 1, scratch_descriptor);
        send((rank + distance) % ranks, step, scratch + 1, 1, scratch_descriptor);
        await_slot(0);
        await_sends(0);
    }
}

static void add(void *sums, const void *others, size_t bytes) {
    int64_t *own = sums;
    const int64_t *theirs = others;
    for (size_t at = 0; at < bytes / sizeof(*own); at++)
        own[at] += theirs[at];
}

/* A descriptor for each of the memories that ring() sends from and receives into. */
static void *descriptor_for(const char *memory) {
    return memory >= blocks && memory < blocks + (size_t)ranks * LARGEST ? blocks_descriptor : numbers_descriptor;
}

/* Passes blocks on, as Ring does: in so many steps, what arrives is added to what this rank has. */
static void ring(char *data, const char *own, size_t block, int steps, int adding) {
    size_t segment = segment_of(block), in_block = (block + segment - 1) / segment, all = steps * in_block, added = adding * in_block;
    int to = (rank + 1) % ranks, from = (rank - 1 + ranks) % ranks;
    size_t posted = 0, gone = 0;
    for (size_t at = 0; at < all || posted < all; at++) {
        for (; posted < all && posted < at + SLOTS; posted++) {
            size_t which = (rank + 2 * ranks * steps - posted / in_block - 1) % ranks, part = posted % in_block * segment;
            size_t slot = posted % SLOTS;
            if (posted < added)
                receive(slot, from, posted, scratch + slot * segment, segment, scratch_descriptor);
            else
                receive(slot, from, posted, data + which * block + part, segment, descriptor_for(data));
        }
        for (; gone < all && gone < at + SLOTS && gone < at + in_block; gone++) {
            size_t which = (rank + 2 * ranks * steps - gone / in_block) % ranks, part = gone % in_block * segment;
            const char *source = own != NULL && gone < in_block ? own + part : data + which * block + part;
            send(to, gone, source, segment, descriptor_for(source));
        }
        if (at == 0 && own != NULL)
            memcpy(data + rank * block, own, block);
        await_slot(at % SLOTS);
        if (at < added) {
            size_t which = (rank + 2 * ranks * steps - at / in_block - 1) % ranks;
            add(data + which * block + at % in_block * segment, scratch + at % SLOTS * segment, segment);
        }
    }
    await_sends(0);
}

static void all_reduce(size_t bytes) {
    begin();
    if (bytes > LONGEST_DOUBLING) {
        ring(numbers, NULL, bytes / ranks, 2 * (ranks - 1), ranks - 1);
        return;
    }
    for (int bit = 1, step = 2; bit < ranks; bit *= 2, step++) {
        receive(0, rank ^ bit, step, scratch, bytes, scratch_descriptor);
        send(rank ^ bit, step, numbers, bytes, numbers_descriptor);
        await_slot(0);
        await_sends(0);
        add(numbers, scratch, bytes);
    }
}

/* Down a binomial tree, in segments that go on while others arrive. */
static void broadcast(size_t bytes, int root) {
    size_t segment = segment_of(bytes), count = (bytes + segment - 1) / segment, posted = 0;
    int behind = (rank - root + ranks) % ranks, distance = behind == 0 ? ranks : behind & -behind;
    begin();
    for (size_t at = 0; at < count; at++) {
        for (; behind != 0 && posted < count && posted < at + SLOTS; posted++)
            receive(posted % SLOTS, (rank - distance + ranks) % ranks, posted, numbers + posted * segment, segment, numbers_descriptor);
        if (behind != 0)
            await_slot(at % SLOTS);
        for (int child = distance / 2; child > 0; child /= 2)
            send((rank + child) % ranks, at, numbers + at * segment, segment, numbers_descriptor);
        if (behind == 0)
            await_sends(SLOTS);
    }
    await_sends(0);
}

static void broadcast_from_each(size_t bytes) {
    for (int root = 0; root < ranks; root++)
        broadcast(bytes, root);
}

static void all_gather(size_t bytes) {
    begin();
    ring(blocks, numbers, bytes, ranks - 1, 0);
}

static void check_gathered(size_t bytes) {
    memset(numbers, rank + 1, bytes);
    all_gather(bytes);
    for (size_t at = 0; at < ranks * bytes; at++)
        check(blocks[at] == (char)(at / bytes + 1) ? 0 : -FI_EIO, "an all-gather, whose bytes are wrong");
    memset(numbers, 0, bytes);
}

static void check_broadcast(size_t bytes) {
    for (int root = 0; root < ranks; root++) {
        memset(numbers, rank + 1, bytes);
        broadcast(bytes, root);
        for (size_t at = 0; at < bytes; at++)
            check(numbers[at] == (char)(root + 1) ? 0 : -FI_EIO, "a broadcast, whose bytes are wrong");
    }
    memset(numbers, 0, bytes);
}

/* Memory of its own pages, registered. */
static char *memory_of(size_t length, uint64_t key, void **descriptor) {
    char *memory = aligned_alloc(4096, length);
    memset(memory, 0, length);
    *descriptor = descriptor_of(memory, length, key);
    return memory;
}

int main(int count, char **arguments) {
    start(count, arguments, "job");
    if ((ranks & (ranks - 1)) != 0)
        return 0; /* JobCollectives lends elements to other ranks then, and this program does not */
    struct fi_info *info = find(arguments[1], FI_TAGGED);
    inject_size = info->tx_attr->inject_size;
    is_rxm = strstr(arguments[1], "ofi_rxm") != NULL;
    spins = ranks > sysconf(_SC_NPROCESSORS_ONLN) ? 0 : SPINS;
    open_all(info);
    numbers = memory_of(LARGEST, 1, &numbers_descriptor);
    blocks = memory_of((size_t)ranks * LARGEST, 2, &blocks_descriptor);
    scratch = memory_of(SLOTS * LONGEST_SEGMENT, 3, &scratch_descriptor);
    peers = calloc(ranks, sizeof(*peers));
    reached = calloc(ranks, 1);
    tell(arguments[2]);
    for (int other = 0; other < ranks; other++)
        peers[other] = insert(arguments[2], other);
    long rounds = atol(arguments[3]);
    const char *name = "JobCollectives' messages in C";
    measure(name, rank, ranks, rounds, "barrier", barrier, 0);
    for (size_t at = 0; at < sizeof(sizes) / sizeof(*sizes); at++) {
        check_sum(all_reduce, (int64_t *)numbers, (int64_t *)numbers, rank, ranks, sizes[at]);
        measure(name, rank, ranks, rounds, "all-reduce", all_reduce, sizes[at]);
        check_broadcast(sizes[at]);
        measure(name, rank, ranks, rounds, "broadcasts", broadcast_from_each, sizes[at]);
        check_gathered(sizes[at]);
        measure(name, rank, ranks, rounds, "all-gather", all_gather, sizes[at]);
    }
    barrier(0);
    sleep(1); /* nobody closes a connection that another still needs */
    return 0;
}
