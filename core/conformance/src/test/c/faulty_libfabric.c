/*
 * A libfabric with a fault of its own: it is linked to the real one, and changes what it gives. With -DDROP it drops
 * one completion in a thousand, with -DFLIP it sends one write in a thousand with a byte changed, with -DLATE it makes
 * one poll in five thousand wait for 300 ms, with -DTWICE it gives one completion in a thousand twice.
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

static int (*domain_open)(struct fid_fabric *, struct fi_info *, struct fid_domain **, void *);
static int (*cq_open)(struct fid_domain *, struct fi_cq_attr *, struct fid_cq **, void *);
static int (*endpoint_open)(struct fid_domain *, struct fi_info *, struct fid_ep **, void *);
static ssize_t (*cq_read)(struct fid_cq *, void *, size_t);
static ssize_t (*cq_readfrom)(struct fid_cq *, void *, size_t, fi_addr_t *);
static ssize_t (*rma_write)(struct fid_ep *, const void *, size_t, void *, fi_addr_t, uint64_t, uint64_t, void *);
static ssize_t (*rma_writev)(struct fid_ep *, const struct iovec *, void **, size_t, fi_addr_t, uint64_t, uint64_t,
                             void *);
static ssize_t (*rma_writemsg)(struct fid_ep *, const struct fi_msg_rma *, uint64_t);
static unsigned long completions, writes, polls;
/* The faults that are to come. */
static unsigned long due;
static size_t entry_size;

static void *copy(const void *from, size_t size)
{
    return memcpy(calloc(1, size * 2), from, size);
}

/* What becomes of so many entries that were read, of as many as there was room for. */
static ssize_t wrong(ssize_t read, void *into, size_t count)
{
    if (read <= 0) return read;
    unsigned long before = completions / THOUSAND;
    completions += read;
    due += completions / THOUSAND - before;
    if (due == 0) return read;
#ifdef DROP
    due--;
    return read == 1 ? -FI_EAGAIN : read - 1;
#endif
#ifdef TWICE
    if ((size_t)read < count) { /* or else with a later read */
        due--;
        memcpy((char *)into + read * entry_size, (char *)into + (read - 1) * entry_size, entry_size);
        return read + 1;
    }
#endif
    (void)into, (void)count;
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
    wait_at_times();
    return wrong(cq_read(cq, into, count), into, count);
}

static ssize_t readfrom_wrong(struct fid_cq *cq, void *into, size_t count, fi_addr_t *sources)
{
    wait_at_times();
    return wrong(cq_readfrom(cq, into, count, sources), into, count);
}

#ifdef FLIP
static const void *changed(const void *bytes, size_t length)
{
    if (length == 0 || ++writes % THOUSAND != 0) return bytes;
    char *other = copy(bytes, length); /* nobody frees it: it may be in use for long */
    other[length / 2] ^= 0x10;
    return other;
}

static ssize_t write_wrong(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t to, uint64_t addr,
                           uint64_t key, void *context)
{
    return rma_write(ep, changed(buf, len), len, desc, to, addr, key, context);
}

static ssize_t writev_wrong(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count, fi_addr_t to,
                            uint64_t addr, uint64_t key, void *context)
{
    struct iovec parts[MOST];
    memcpy(parts, iov, count * sizeof *iov);
    parts[0].iov_base = (void *)changed(iov[0].iov_base, iov[0].iov_len);
    return rma_writev(ep, parts, desc, count, to, addr, key, context);
}

static ssize_t writemsg_wrong(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    struct iovec parts[MOST];
    struct fi_msg_rma other = *msg;
    memcpy(parts, msg->msg_iov, msg->iov_count * sizeof *parts);
    parts[0].iov_base = (void *)changed(parts[0].iov_base, parts[0].iov_len);
    other.msg_iov = parts;
    return rma_writemsg(ep, &other, flags);
}
#endif

static int open_cq(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context)
{
    int status = cq_open(domain, attr, cq, context);
    if (status == 0) {
        struct fi_ops_cq *ops = copy((*cq)->ops, sizeof *ops);
        cq_read = ops->read;
        cq_readfrom = ops->readfrom;
        ops->read = read_wrong;
        ops->readfrom = readfrom_wrong;
        entry_size = attr->format == FI_CQ_FORMAT_TAGGED ? sizeof(struct fi_cq_tagged_entry)
                   : attr->format == FI_CQ_FORMAT_DATA   ? sizeof(struct fi_cq_data_entry)
                   : attr->format == FI_CQ_FORMAT_MSG    ? sizeof(struct fi_cq_msg_entry)
                                                         : sizeof(struct fi_cq_entry);
        (*cq)->ops = ops;
    }
    return status;
}

static int open_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    int status = endpoint_open(domain, info, ep, context);
#ifdef FLIP
    if (status == 0 && (*ep)->rma) {
        struct fi_ops_rma *ops = copy((*ep)->rma, sizeof *ops);
        rma_write = ops->write;
        rma_writev = ops->writev;
        rma_writemsg = ops->writemsg;
        ops->write = write_wrong;
        ops->writemsg = writemsg_wrong;
        ops->writev = writev_wrong;
        (*ep)->rma = ops;
    }
#endif
    return status;
}

static int open_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain, void *context)
{
    int status = domain_open(fabric, info, domain, context);
    if (status == 0) {
        struct fi_ops_domain *ops = copy((*domain)->ops, sizeof *ops);
        cq_open = ops->cq_open;
        endpoint_open = ops->endpoint;
        ops->cq_open = open_cq;
        ops->endpoint = open_endpoint;
        (*domain)->ops = ops;
    }
    return status;
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    int (*real)(struct fi_fabric_attr *, struct fid_fabric **, void *) = dlsym(RTLD_NEXT, "fi_fabric");
    int status = real(attr, fabric, context);
    if (status == 0) {
        struct fi_ops_fabric *ops = copy((*fabric)->ops, sizeof *ops);
        domain_open = ops->domain;
        ops->domain = open_domain;
        (*fabric)->ops = ops;
    }
    return status;
}
