/*
 * The C side of the device checks' figures: the calls that io.ofi4j.command.device.Bench makes in Java, over shm between two
 * processes.
 *
 * device_check peer|bench LIBFABRIC DEVICE LENGTH
 *
 * DEVICE is cuda:N, or host for memory of the host in its place. The bench starts the peer, reads commands, and answers
 * each with a line:
 *   write|read LOCAL REMOTE staged|direct SIZE COUNT
 * LOCAL and REMOTE are host or gpu; the answer is: ok MICROSECONDS (the median)
 * It needs the C library alone: libfabric and the driver are loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define DEADLINE_SECONDS 20
#define POLLS_PER_LOOK 1024
#define MAX_REPETITIONS 1000
#define API FI_VERSION(1, 17)
#define SYNC_MEMOPS 6 /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */

static void fail(const char *what, long status)
{
	printf("failed %s: %ld\n", what, status);
	fflush(stdout);
	exit(1);
}

static void check(const char *what, long status)
{
	if (status)
		fail(what, status);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

/* ---- libraries ---- */

static int (*getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **);
static struct fi_info *(*dupinfo)(const struct fi_info *);
static int (*open_fabric)(struct fi_fabric_attr *, struct fid_fabric **, void *);

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		fail(name, ENOENT);
	return found;
}

static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		fail(dlerror(), ENOENT);
	getinfo = symbol(library, "fi_getinfo");
	dupinfo = symbol(library, "fi_dupinfo");
	open_fabric = symbol(library, "fi_fabric");
}

/* ---- memory of the device ---- */

static int device = -1; /* none: memory of the host stands in for it */
static void *context;

static uint64_t allocate_on_device(size_t length)
{
	int (*init)(unsigned);
	int (*retain)(void **, int);
	int (*set_current)(void *);
	int (*allocate)(uint64_t *, size_t);
	int (*set_attribute)(const void *, int, uint64_t);
	unsigned on = 1;
	uint64_t pointer;
	void *driver, *memory;

	if (device < 0) {
		memory = aligned_alloc(4096, length);
		memset(memory, 1, length);
		return (uintptr_t) memory;
	}
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver)
		fail(dlerror(), ENOENT);
	init = symbol(driver, "cuInit");
	retain = symbol(driver, "cuDevicePrimaryCtxRetain");
	set_current = symbol(driver, "cuCtxSetCurrent");
	allocate = symbol(driver, "cuMemAlloc_v2");
	set_attribute = symbol(driver, "cuPointerSetAttribute");
	check("cuInit", init(0));
	check("cuDevicePrimaryCtxRetain", retain(&context, device));
	check("cuCtxSetCurrent", set_current(context));
	check("cuMemAlloc", allocate(&pointer, length));
	/* copies inside the device end before the call does, as fabtests and ofi4j have it */
	check("cuPointerSetAttribute", set_attribute(&on, SYNC_MEMOPS, pointer));
	return pointer;
}

/* ---- an endpoint and its memory ---- */

struct region {
	struct fid_mr *mr;
	uint64_t address;
	void *descriptor;
	uint64_t base;
};

static struct fid_domain *domain;
static struct fid_ep *endpoint;
static struct fid_cq *queue;
static struct fid_av *vector;
static int is_virtual;
static struct region host, staged, direct;

static void enroll(struct region *region, uint64_t address, size_t length, int on_device, uint64_t flags)
{
	static uint64_t next_key = 1;
	struct iovec iov = { .iov_base = (void *) (uintptr_t) address, .iov_len = length };
	struct fi_mr_attr attributes = {
		.mr_iov = &iov,
		.iov_count = 1,
		.access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
		.requested_key = next_key++,
		.iface = on_device ? FI_HMEM_CUDA : FI_HMEM_SYSTEM,
	};

	attributes.device.cuda = on_device ? device : 0;
	check("fi_mr_regattr", fi_mr_regattr(domain, &attributes, flags, &region->mr));
	region->address = address;
	region->descriptor = fi_mr_desc(region->mr);
	region->base = is_virtual ? address : 0;
}

static void open_all(size_t length)
{
	struct fi_info *hints = dupinfo(NULL), *info;
	struct fid_fabric *fabric;
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_DATA, .size = 1024 };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	void *memory;
	uint64_t pointer;

	hints->caps = FI_RMA | FI_MSG | FI_TAGGED | FI_ATOMIC | FI_HMEM;
	hints->mode = FI_CONTEXT;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_SAFE;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_HMEM;
	hints->fabric_attr->prov_name = strdup("shm");
	check("fi_getinfo", getinfo(API, NULL, NULL, 0, hints, &info));
	is_virtual = (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
	check("fi_fabric", open_fabric(info->fabric_attr, &fabric, NULL));
	check("fi_domain", fi_domain(fabric, info, &domain, NULL));
	check("fi_cq_open", fi_cq_open(domain, &cq, &queue, NULL));
	check("fi_av_open", fi_av_open(domain, &av, &vector, NULL));
	check("fi_endpoint", fi_endpoint(domain, info, &endpoint, NULL));
	check("fi_ep_bind", fi_ep_bind(endpoint, &vector->fid, 0));
	check("fi_ep_bind", fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV));
	check("fi_enable", fi_enable(endpoint));

	memory = aligned_alloc(2 << 20, (length + (2 << 20) - 1) / (2 << 20) * (2 << 20));
	memset(memory, 2, length);
	pointer = allocate_on_device(length);
	enroll(&host, (uintptr_t) memory, length, 0, 0);
	enroll(&staged, pointer, length, device >= 0, 0);
	enroll(&direct, pointer, length, device >= 0, device >= 0 ? FI_HMEM_DEVICE_ONLY : 0);
}

/* Returns whether an operation has completed. */
static int poll_queue(void)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry error = { 0 };
	ssize_t status = fi_cq_read(queue, &entry, 1);

	if (status == -FI_EAVAIL) {
		fi_cq_readerr(queue, &error, 0);
		fail("completion", error.err);
	}
	if (status < 0 && status != -FI_EAGAIN)
		fail("fi_cq_read", status);
	return status > 0;
}

/* ---- the peer ---- */

static void serve(void)
{
	char address[256];
	size_t length = sizeof address;
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	check("fi_getname", fi_getname(&endpoint->fid, address, &length));
	printf("ready %s %llu %llu %llu %llu\n", address, (unsigned long long) host.base,
	       (unsigned long long) fi_mr_key(host.mr), (unsigned long long) staged.base,
	       (unsigned long long) fi_mr_key(staged.mr));
	fflush(stdout);
	for (;;) {
		for (int polls = 0; polls < POLLS_PER_LOOK; polls++)
			poll_queue();
		sched_yield(); /* for machines with few processors */
		if (poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0)
			exit(0);
	}
}

/* ---- the bench ---- */

static fi_addr_t peer;
static uint64_t bases[2], keys[2]; /* of the peer's host, and of its device */

static void start_peer(char **arguments)
{
	int commands[2], answers[2];
	char address[256];
	FILE *lines;

	check("pipe", pipe(commands) || pipe(answers));
	if (fork() == 0) {
		dup2(commands[0], STDIN_FILENO);
		dup2(answers[1], STDOUT_FILENO);
		close(commands[1]);
		close(answers[0]);
		execl("/proc/self/exe", arguments[0], "peer", arguments[2], arguments[3], arguments[4], (char *) NULL);
		_exit(127);
	}
	close(commands[0]);
	close(answers[1]);
	lines = fdopen(answers[0], "r");
	if (fscanf(lines, "ready %255s %lu %lu %lu %lu", address, &bases[0], &keys[0], &bases[1], &keys[1]) != 5)
		fail("the peer", 0);
	open_all(strtoull(arguments[4], NULL, 10));
	check("fi_av_insert", fi_av_insert(vector, address, 1, &peer, 0, NULL) != 1);
}

static double once(int is_write, struct region *local, int remote, size_t size)
{
	struct iovec iov = { .iov_base = (void *) (uintptr_t) local->address, .iov_len = size };
	struct fi_rma_iov rma = { .addr = bases[remote], .len = size, .key = keys[remote] };
	struct fi_context2 context = { 0 };
	struct fi_msg_rma message = {
		.msg_iov = &iov, .desc = &local->descriptor, .iov_count = 1, .addr = peer,
		.rma_iov = &rma, .rma_iov_count = 1,
		.context = &context,
	};
	double start = now();
	ssize_t status;

	while ((status = is_write ? fi_writemsg(endpoint, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE)
				  : fi_readmsg(endpoint, &message, FI_COMPLETION)) == -FI_EAGAIN) {
		poll_queue();
		if (now() - start > DEADLINE_SECONDS * 1e6)
			fail("no room", FI_EAGAIN);
	}
	check("fi_writemsg or fi_readmsg", status);
	for (int polls = 1; !poll_queue(); polls++) {
		if (polls % POLLS_PER_LOOK)
			continue;
		sched_yield();
		if (now() - start > DEADLINE_SECONDS * 1e6)
			fail("no completion", FI_ETIMEDOUT);
	}
	return now() - start;
}

static int ascending(const void *one, const void *other)
{
	double difference = *(const double *) one - *(const double *) other;

	return (difference > 0) - (difference < 0);
}

static void measure(void)
{
	char line[256], operation[16], local[16], remote[16], how[16];
	size_t size;
	int count;
	static double times[MAX_REPETITIONS];

	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin)) {
		if (sscanf(line, "%15s %15s %15s %15s %zu %d", operation, local, remote, how, &size, &count) != 6 ||
		    count < 1 || count > MAX_REPETITIONS)
			fail("the command", EINVAL);
		for (int i = 0; i < count; i++)
			times[i] = once(!strcmp(operation, "write"),
					!strcmp(local, "host") ? &host : !strcmp(how, "direct") ? &direct : &staged,
					!strcmp(remote, "gpu"), size);
		qsort(times, count, sizeof *times, ascending);
		printf("ok %.3f\n", times[count / 2]);
		fflush(stdout);
	}
}

int main(int count, char **arguments)
{
	if (count != 5) {
		fprintf(stderr, "usage: %s peer|bench LIBFABRIC cuda:N|host LENGTH\n", arguments[0]);
		return 2;
	}
	if (!strncmp(arguments[3], "cuda:", 5))
		device = atoi(arguments[3] + 5);
	if (!strcmp(arguments[1], "peer")) {
		load(arguments[2]);
		open_all(strtoull(arguments[4], NULL, 10));
		serve();
	}
	load(arguments[2]);
	start_peer(arguments);
	measure();
	return 0;
}
