/*
 * A libfabric with a fault of its own: it is linked to the real one, and changes what it gives. With -DDROP it drops
 * one completion in a thousand, with -DFLIP it sends one write in a thousand with a byte changed, with -DLATE it makes
 * one poll in five thousand wait for 300 ms, with -DTWICE it gives one completion in a thousand twice, with -DNOTRYWAIT
 * it has no fi_trywait, as some providers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THOUSAND 1000
#define MOST 8

static unsigned long completions;
#ifdef FLIP
static unsigned long writes;
#endif
#ifdef LATE
static unsigned long polls;
#endif

/* Of a queue: the size of its entries, and the one that comes a second time, with the next read that finds nothing. */
struct cq_state {
    size_t entry_size;
    char again[sizeof(struct fi_cq_tagged_entry)];
    int is_due;
};

/*
 * A table of this library in the place of a provider's, with what that one has. A process opens objects of several
 * providers: each table knows its own.
 */
#define TABLE(name, type) struct name { struct type changed; char more[256]; const struct type *original; struct cq_state cq; }
TABLE(fabric_table, fi_ops_fabric);
TABLE(domain_table, fi_ops_domain);
TABLE(cq_table, fi_ops_cq);
TABLE(rma_table, fi_ops_rma);

/* Copies a table, as long as it says in its first field, into one of this library. */
static void *instead_of(const void *table, size_t size, size_t room)
{
    size_t length = *(const size_t *)table;
    return memcpy(calloc(1, size), table, length < room ? length : room);
}
#define INSTEAD_OF(name, type, table) \
    ((struct name *)instead_of(table, sizeof(struct name), sizeof(struct type) + 256))

/* What becomes of the entries that were read from a queue. */
static ssize_t wrong(ssize_t read, void *into, struct cq_state *cq)
{
    if (read == -FI_EAGAIN && cq->is_due) {
        memcpy(into, cq->again, cq->entry_size);
        cq->is_due = 0;
        return 1;
    }
    if (read <= 0) return read;
    unsigned long before = completions / THOUSAND;
    completions += read;
    if (before == completions / THOUSAND) return read;
#ifdef DROP
    return read == 1 ? -FI_EAGAIN : read - 1;
#endif
#ifdef TWICE
    memcpy(cq->again, (char *)into + (read - 1) * cq->entry_size, cq->entry_size);
    cq->is_due = 1;
#endif
    return read;
}

static void wait_at_times(void)
{
#ifdef LATE
    if (++polls % (5 * THOUSAND) == 0) usleep(300000);
#endif
}

static ssize_t read_wrong(struct fid_cq *cq, void *into, size_t count)
{
    struct cq_table *table = (struct cq_table *)cq->ops;
    wait_at_times();
    return wrong(table->original->read(cq, into, count), into, &table->cq);
}

static ssize_t readfrom_wrong(struct fid_cq *cq, void *into, size_t count, fi_addr_t *sources)
{
    struct cq_table *table = (struct cq_table *)cq->ops;
    wait_at_times();
    return wrong(table->original->readfrom(cq, into, count, sources), into, &table->cq);
}

#ifdef FLIP
static const void *changed(const void *bytes, size_t length)
{
    if (length == 0 || ++writes % THOUSAND != 0) return bytes;
    char *other = memcpy(malloc(length), bytes, length); /* nobody frees it: it may be in use for long */
    other[length / 2] ^= 0x10;
    return other;
}

static ssize_t write_wrong(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to, uint64_t addr,
                           uint64_t key, void *context)
{
    return ((const struct rma_table *)ep->rma)->original->write(ep, changed(buf, len), len, desc, to, addr, key, context);
}

static ssize_t writev_wrong(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t to,
                            uint64_t addr, uint64_t key, void *context)
{
    struct iovec parts[MOST];
    memcpy(parts, iov, count * sizeof *iov);
    parts[0].iov_base = (void *)changed(iov[0].iov_base, iov[0].iov_len);
    return ((const struct rma_table *)ep->rma)->original->writev(ep, parts, desc, count, to, addr, key, context);
}

static ssize_t writemsg_wrong(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    struct iovec parts[MOST];
    struct fi_msg_rma other = *msg;
    memcpy(parts, msg->msg_iov, msg->iov_count * sizeof *parts);
    parts[0].iov_base = (void *)changed(parts[0].iov_base, parts[0].iov_len);
    other.msg_iov = parts;
    return ((const struct rma_table *)ep->rma)->original->writemsg(ep, &other, flags);
}
#endif

static int open_cq(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context)
{
    int status = ((const struct domain_table *)domain->ops)->original->cq_open(domain, attr, cq, context);
    if (status == 0) {
        struct cq_table *table = INSTEAD_OF(cq_table, fi_ops_cq, (*cq)->ops);
        table->original = (*cq)->ops;
        table->cq.entry_size = attr->format == FI_CQ_FORMAT_TAGGED ? sizeof(struct fi_cq_tagged_entry)
                     : attr->format == FI_CQ_FORMAT_DATA   ? sizeof(struct fi_cq_data_entry)
                     : attr->format == FI_CQ_FORMAT_MSG    ? sizeof(struct fi_cq_msg_entry)
                                                           : sizeof(struct fi_cq_entry);
        table->changed.read = read_wrong;
        table->changed.readfrom = readfrom_wrong;
        (*cq)->ops = &table->changed;
    }
    return status;
}

static int open_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    int status = ((const struct domain_table *)domain->ops)->original->endpoint(domain, info, ep, context);
#ifdef FLIP
    if (status == 0 && (*ep)->rma) {
        struct rma_table *table = INSTEAD_OF(rma_table, fi_ops_rma, (*ep)->rma);
        table->original = (*ep)->rma;
        table->changed.write = write_wrong;
        table->changed.writemsg = writemsg_wrong;
        table->changed.writev = writev_wrong;
        (*ep)->rma = &table->changed;
    }
#endif
    return status;
}

static int open_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain, void *context)
{
    int status = ((const struct fabric_table *)fabric->ops)->original->domain(fabric, info, domain, context);
    if (status == 0) {
        struct domain_table *table = INSTEAD_OF(domain_table, fi_ops_domain, (*domain)->ops);
        table->original = (*domain)->ops;
        table->changed.cq_open = open_cq;
        table->changed.endpoint = open_endpoint;
        (*domain)->ops = &table->changed;
    }
    return status;
}

#ifdef NOTRYWAIT
static int try_no_wait(struct fid_fabric *fabric, struct fid **fids, int count)
{
    (void)fabric, (void)fids, (void)count;
    return -FI_ENOSYS;
}
#endif

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    int (*real)(struct fi_fabric_attr *, struct fid_fabric **, void *) = dlsym(RTLD_NEXT, "fi_fabric");
    int status = real(attr, fabric, context);
    if (status == 0) {
        struct fabric_table *table = INSTEAD_OF(fabric_table, fi_ops_fabric, (*fabric)->ops);
        table->original = (*fabric)->ops;
        table->changed.domain = open_domain;
#ifdef NOTRYWAIT
        table->changed.trywait = try_no_wait;
#endif
        (*fabric)->ops = &table->changed;
    }
    return status;
}
