/*
 * A worker: obeys commands on stdin, one a line, and answers each with a line on stdout.
 *
 *     open PROVIDER NODE THREADING PROGRESS LENGTH FAMILY
 *                                                    ok VERSION ADDRESS BASE KEY THREAD, or absent
 *     other ADDRESS BASE KEY                         ok
 *     run WORK SIZE WINDOW COUNT                     ok NANOSECONDS 0
 *     cold WORK SIZE WALKED COUNT                    ok NANOSECONDS 0
 *     ping WORK UNMEASURED COUNT                     ok 0 SWITCHES NANOSECONDS ...
 *     pong WORK COUNT                                ok 0 SWITCHES
 *     serve                                          ok, once there is another command
 *     crowd WINDOW YIELDS NANOSECONDS                ok COUNT
 *     grow WHAT COUNT                                ok, once there are so many
 *     threads COUNT SHARED                           ok, once so many threads can 'run threads'; 1 for one endpoint
 *     memory                                         ok 0 RESIDENT, in bytes
 *     settle                                         ok, once no TCP connection is in a state of its own
 *     rest                                           ok
 *
 * SWITCHES is the number of times that the system made the thread wait for other threads. A failure ends the process,
 * with 'error' and a sentence. The end of stdin ends it without a sentence.
 *
 * With the argument 'figures' it prints what memory takes on this machine, and ends.
 *
 * With the argument 'ordered' it asks for an order of writes. Unless it is started with the argument 'alone', it has a
 * second thread, which does nothing. A JVM has many threads. In a process with more than one thread Linux counts the
 * users of a file, and a poll of tcp, which is a system call or two, takes a third to a half longer. With the second
 * thread this part of the difference goes away.
 */
#define _GNU_SOURCE
#include "baseline.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* No command takes longer; a worker whose driver is gone must not spin for ever. */
#define LONGEST_COMMAND 60
/* No file of a worker has a higher number. */
#define FILES 8192

noreturn void fail(const char *call, long status) {
    printf("error %s gave %ld, %s\n", call, status, fi_strerror((int)-status));
    fflush(stdout);
    _exit(1);
}

static noreturn void misunderstood(const char *line) {
    printf("error not understood: %s\n", line);
    fflush(stdout);
    _exit(2);
}

static enum fi_threading threading_of(const char *name) {
    if (strcmp(name, "DOMAIN") == 0)
        return FI_THREAD_DOMAIN;
    if (strcmp(name, "COMPLETION") == 0)
        return FI_THREAD_COMPLETION;
    return strcmp(name, "SAFE") == 0 ? FI_THREAD_SAFE : FI_THREAD_UNSPEC;
}

static enum fi_progress progress_of(const char *name) {
    return strcmp(name, "MANUAL") == 0 ? FI_PROGRESS_MANUAL : strcmp(name, "AUTO") == 0 ? FI_PROGRESS_AUTO : FI_PROGRESS_UNSPEC;
}

static enum family family_of(const char *name) {
    return strcmp(name, "MSG") == 0 ? MSG : strcmp(name, "TAGGED") == 0 ? TAGGED : strcmp(name, "ATOMIC") == 0 ? ATOMIC : RMA;
}

static void command_open(struct world *world, const char *line) {
    char provider[64], node[64], threading[16], progress[16], family[16];
    size_t length;
    if (sscanf(line, "open %63s %63s %15s %15s %zu %15s", provider, node, threading, progress, &length, family) != 6)
        misunderstood(line);
    int status = open_world(world, family_of(family), provider, strcmp(node, "-") == 0 ? NULL : node, threading_of(threading),
                            progress_of(progress), length);
    if (status == 0)
        print_world(world);
    else
        puts("absent");
}

static void command_other(struct world *world, const char *line) {
    char address[1025];
    unsigned long base, key;
    if (sscanf(line, "other %1024s %lu %lu", address, &base, &key) != 3)
        misunderstood(line);
    insert_other(world, address, base, key);
    puts("ok");
}

static void command_run(struct world *world, const char *line) {
    char work[16];
    size_t size;
    unsigned long window, count;
    if (sscanf(line, "run %15s %zu %lu %lu", work, &size, &window, &count) != 4 || window > MOST_IN_FLIGHT ||
        size * window > world->local.length)
        misunderstood(line);
    int64_t time = run_work(world, work, size, window, count);
    if (time < 0)
        misunderstood(line);
    printf("ok %ld 0\n", time);
}

static void command_cold(struct world *world, const char *line) {
    char work[16];
    size_t size, walked;
    unsigned long count;
    if (sscanf(line, "cold %15s %zu %zu %lu", work, &size, &walked, &count) != 4)
        misunderstood(line);
    int64_t time = run_cold(world, work, size, walked, count);
    if (time < 0)
        misunderstood(line);
    printf("ok %ld 0\n", time);
}

static long switches(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        fail("getrusage", -FI_EOTHER);
    return usage.ru_nivcsw;
}

static void command_ping(struct world *world, const char *line) {
    char work[16];
    unsigned long unmeasured, count;
    if (sscanf(line, "ping %15s %lu %lu", work, &unmeasured, &count) != 3)
        misunderstood(line);
    int64_t *samples = calloc(count + 1, sizeof(*samples));
    if (samples == NULL)
        fail("calloc", -FI_ENOMEM);
    memset(samples, 1, count * sizeof(*samples)); /* no page fault while it is measured */
    long before = switches();
    if (ping(world, work, unmeasured, count, samples) != 0)
        misunderstood(line);
    printf("ok 0 %ld", switches() - before);
    for (unsigned long at = 0; at < count; at++)
        printf(" %ld", samples[at]);
    printf("\n");
    free(samples);
}

static void command_pong(struct world *world, const char *line) {
    char work[16];
    unsigned long count;
    long before = switches();
    if (sscanf(line, "pong %15s %lu", work, &count) != 2 || pong(world, work, count) != 0)
        misunderstood(line);
    printf("ok 0 %ld\n", switches() - before);
}

static void command_crowd(struct world *world, const char *line) {
    unsigned long window;
    int yields;
    long nanoseconds;
    if (sscanf(line, "crowd %lu %d %ld", &window, &yields, &nanoseconds) != 3 || window > MOST_IN_FLIGHT)
        misunderstood(line);
    printf("ok %lu\n", crowd(world, window, yields != 0, nanoseconds));
}

static void command_grow(struct world *world, const char *line) {
    char what[16];
    size_t count;
    if (sscanf(line, "grow %15s %zu", what, &count) != 2 || !grow(world, what, count))
        misunderstood(line);
    puts("ok");
}

static void command_threads(struct world *world, const char *line) {
    size_t count;
    int shared;
    if (sscanf(line, "threads %zu %d", &count, &shared) != 2 || !open_crew(world, count, shared != 0))
        misunderstood(line);
    puts("ok");
}

static void command_serve(struct world *world) {
    serve(world);
    puts("ok");
}

/*
 * Gives each TCP connection the congestion control that every Linux has. With BBR a connection stays in one of two
 * states, by chance: with a small window, messages that wait are sent together, which takes a quarter less.
 */
static void command_settle(void) {
    for (int file = 0; file < FILES; file++)
        setsockopt(file, IPPROTO_TCP, TCP_CONGESTION, "reno", strlen("reno")); /* refused where it is no connection */
    puts("ok");
}

static void *do_nothing(void *unused) {
    for (;;)
        pause();
    return unused;
}

int main(int argument_count, char **arguments) {
    if (argument_count > 1 && strcmp(arguments[1], "figures") == 0) {
        print_figures();
        return 0;
    }
    struct world *world = calloc(1, sizeof(*world));
    pthread_t second;
    bool alone = false;
    for (int at = 1; at < argument_count; at++) {
        alone |= strcmp(arguments[at], "alone") == 0;
        ordered |= strcmp(arguments[at], "ordered") == 0;
    }
    if (!alone && pthread_create(&second, NULL, do_nothing, NULL) != 0)
        fail("pthread_create", -FI_ENOMEM);
    char *line = NULL;
    size_t room = 0;
    if (world == NULL)
        fail("calloc", -FI_ENOMEM);
    while (getline(&line, &room, stdin) > 0) {
        alarm(LONGEST_COMMAND);
        if (strncmp(line, "open ", 5) == 0)
            command_open(world, line);
        else if (world->info == NULL)
            misunderstood(line);
        else if (strncmp(line, "other ", 6) == 0)
            command_other(world, line);
        else if (strncmp(line, "run ", 4) == 0)
            command_run(world, line);
        else if (strncmp(line, "cold ", 5) == 0)
            command_cold(world, line);
        else if (strncmp(line, "ping ", 5) == 0)
            command_ping(world, line);
        else if (strncmp(line, "pong ", 5) == 0)
            command_pong(world, line);
        else if (strncmp(line, "crowd ", 6) == 0)
            command_crowd(world, line);
        else if (strncmp(line, "serve", 5) == 0)
            command_serve(world);
        else if (strncmp(line, "grow ", 5) == 0)
            command_grow(world, line);
        else if (strncmp(line, "threads ", 8) == 0)
            command_threads(world, line);
        else if (strncmp(line, "memory", 6) == 0)
            printf("ok 0 %ld\n", resident());
        else if (strncmp(line, "settle", 6) == 0)
            command_settle();
        else if (strncmp(line, "rest", 4) == 0)
            puts("ok");
        else
            misunderstood(line);
        fflush(stdout);
        alarm(0);
    }
    close_world(world);
    free(world);
    free(line);
    return 0;
}
