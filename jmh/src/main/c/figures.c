#include "baseline.h"

#include <stdio.h>
#include <stdlib.h>

#define LINE 64
#define LOADS (1 << 20)
#define ADDS (1 << 22)

/* A number that nobody can foresee, of a sequence that is always the same. */
static uint64_t next_number(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* How many nanoseconds a load takes whose address the one before it has given, each in a line of its own. */
static double load_time(size_t bytes) {
    size_t lines = bytes / LINE;
    char *memory = aligned_alloc(LINE, bytes);
    size_t *order = malloc(lines * sizeof(*order));
    uint64_t state = 88172645463325252;
    if (memory == NULL || order == NULL)
        fail("malloc", -FI_ENOMEM);
    for (size_t at = 0; at < lines; at++)
        order[at] = at;
    for (size_t left = lines - 1; left > 0; left--) { /* a single cycle through all of them */
        size_t other = next_number(&state) % left, swapped = order[left];
        order[left] = order[other];
        order[other] = swapped;
    }
    for (size_t at = 0; at < lines; at++)
        *(void **)(memory + order[at] * LINE) = memory + order[(at + 1) % lines] * LINE;
    void *volatile *at = (void *volatile *)memory;
    for (size_t done = 0; done < lines; done++)
        at = *at;
    int64_t start = now();
    for (size_t done = 0; done < LOADS; done++)
        at = *at;
    int64_t time = now() - start;
    if (at == NULL)
        puts("");
    free(order);
    free(memory);
    return (double)time / LOADS;
}

static double locked_add_time(void) {
    static atomic_long sum;
    int64_t start = now();
    for (int done = 0; done < ADDS; done++)
        atomic_fetch_add(&sum, 1);
    return (double)(now() - start) / ADDS;
}

/* Additions, each of which waits for the one before it, take a cycle each. */
static double add_time(void) {
    uint64_t sum = 0;
    int64_t start = now();
    for (int done = 0; done < ADDS; done++) {
        sum += done;
        __asm__ volatile("" : "+r"(sum)); /* so that the compiler does not know the sum */
    }
    return (double)(now() - start) / ADDS;
}

void print_figures(void) {
    printf("%.2f GHz, a load from 256 KiB %.1f ns, from 8 MiB %.1f, from 64 MiB %.1f, a locked add %.1f\n", 1 / add_time(),
           load_time(256 << 10), load_time(8 << 20), load_time(64 << 20), locked_add_time());
}
