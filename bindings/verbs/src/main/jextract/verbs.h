/*
 * Umbrella header of package io.ofi4j.bindings.verbs: libibverbs and librdmacm of rdma-core.
 *
 * Only what verbs.args names is generated.
 */
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
