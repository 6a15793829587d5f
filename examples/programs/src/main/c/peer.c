/*
 * A C program whose memory a Java program reads and writes: WritesToC.
 *
 * cc -o peer peer.c -lfabric
 * ./peer PROVIDER [ADDRESS_OF_THIS_HOST]
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIZE = 4096, SECONDS = 60 };

static void check(int status, const char *call) {
  if (status < 0) {
    fprintf(stderr, "%s: %s\n", call, fi_strerror(-status));
    exit(1);
  }
}

int main(int count, char **arguments) {
  if (count < 2) {
    fprintf(stderr, "usage: peer PROVIDER [ADDRESS_OF_THIS_HOST]\n");
    return 2;
  }
  struct fi_info *hints = fi_allocinfo(), *info;
  hints->caps = FI_RMA;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->fabric_attr->prov_name = strdup(arguments[1]);
  const char *host = count > 2 ? arguments[2] : NULL;
  uint32_t version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
  check(fi_getinfo(version, host, NULL, host ? FI_SOURCE : 0, hints, &info), "fi_getinfo");

  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_ep *endpoint;
  struct fid_cq *queue;
  struct fid_av *peers;
  struct fid_mr *region;
  struct fi_cq_attr queue_attributes = {.format = FI_CQ_FORMAT_CONTEXT};
  struct fi_av_attr peers_attributes = {.type = FI_AV_TABLE};
  check(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
  check(fi_domain(fabric, info, &domain, NULL), "fi_domain");
  check(fi_endpoint(domain, info, &endpoint, NULL), "fi_endpoint");
  check(fi_cq_open(domain, &queue_attributes, &queue, NULL), "fi_cq_open");
  check(fi_av_open(domain, &peers_attributes, &peers, NULL), "fi_av_open");
  check(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  check(fi_ep_bind(endpoint, &peers->fid, 0), "fi_ep_bind");
  check(fi_enable(endpoint), "fi_enable");

  char *memory = calloc(1, SIZE);
  strcpy(memory, "Hello from C");
  check(fi_mr_reg(domain, memory, SIZE, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 17, 0, &region, NULL), "fi_mr_reg");
  uint64_t base = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)memory : 0; /* the address of offset 0 */

  unsigned char address[256];
  size_t length = sizeof(address);
  check(fi_getname(&endpoint->fid, address, &length), "fi_getname");
  for (size_t i = 0; i < length; i++) printf("%02x", address[i]);
  printf(" 0x%lx %d 0x%lx\n", (unsigned long)base, SIZE, (unsigned long)fi_mr_key(region));
  fflush(stdout);

  struct fi_cq_entry entry;
  time_t end = time(NULL) + SECONDS;
  volatile char *answer = memory + SIZE / 2; /* the last byte of what the Java program writes comes here at last */
  while (!answer[63] && time(NULL) < end) fi_cq_read(queue, &entry, 1); /* the provider works only in calls */
  if (answer[63]) printf("Java says: %s\n", memory + SIZE / 2);
  for (int i = 0; i < 100000; i++) fi_cq_read(queue, &entry, 1); /* until the writer knows */

  fi_close(&endpoint->fid);
  fi_close(&region->fid);
  fi_close(&peers->fid);
  fi_close(&queue->fid);
  fi_close(&domain->fid);
  fi_close(&fabric->fid);
  return answer[63] ? 0 : 1;
}
