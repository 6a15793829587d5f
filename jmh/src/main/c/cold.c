#include "baseline.h"

#include <stdlib.h>

#define LINE 64

/* Reads and writes each cache line, as a program does with its own data. */
static void walk(volatile uint64_t *memory, size_t bytes) {
    for (size_t at = 0; at < bytes / sizeof(*memory); at += LINE / sizeof(*memory))
        memory[at]++;
}

int64_t run_cold(struct world *world, const char *work, size_t size, size_t walked, uint64_t count) {
    static volatile uint64_t *memory;
    static size_t length;
    run_each *each = world->family == RMA || world->family == ATOMIC ? cold_work(work) : cold_message_work(work);
    if (each == NULL)
        return -1;
    if (walked > length) {
        free((void *)memory);
        memory = calloc(1, walked);
        length = walked;
        if (memory == NULL)
            fail("calloc", -FI_ENOMEM);
    }
    int64_t time = 0;
    for (uint64_t done = 0; done < count; done++) {
        walk(memory, walked);
        int64_t start = now();
        each(world, size, 1);
        int64_t end = now();
        if (world->family == RMA || world->family == ATOMIC)
            make_progress(world);
        walk(memory, walked);
        int64_t empty = now(); /* what two looks at the clock take */
        empty = now() - empty;
        if (empty < end - start) /* unless this thread lost its processor between the two */
            time += end - start - empty;
    }
    return time;
}
