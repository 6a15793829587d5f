/*
 * Umbrella header of package io.ofi4j.bindings.libc: the few C library calls that must surround libfabric's.
 *
 * Only what libc.args names is generated.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
