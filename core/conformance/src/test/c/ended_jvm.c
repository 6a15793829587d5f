/*
 * A program that uses libfabric, starts a JVM with ofi4j in it, ends that, and goes on with libfabric. Its letters say
 * what it does, in this order:
 *
 *   o  opens two endpoints, s  sends between all that are open, e  cancels a receive, r  reads, through two others,
 *   with a key that nobody has, l  sends to an endpoint that has closed, c  closes the two that were opened first,
 *   J  starts the JVM and runs the main class, D  ends the JVM
 *
 * Usage: ended_jvm PROVIDER LETTERS CLASSES LIBRARY MAIN ARGUMENT...
 */
#include <jni.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 8
#define LENGTH 4096
#define WRONG_KEY 0x123456
#define SECONDS 20
#define OPTIONS 5
#define POLLS 100000

#define CHECK(call) check((call), #call)

struct two {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_cq *queue;
    struct fid_av *vector;
    struct fid_ep *near, *far;
    struct fid_mr *region;
    fi_addr_t peer;
    char bytes[2 * LENGTH];
};

static struct two *all[MOST];
static int opened, closed;
static uint64_t keys = 77;
static JavaVM *jvm;

static void fail(const char *what) {
    printf("C: %s\n", what);
    exit(3);
}

static void check(long status, const char *call) {
    if (status) {
        printf("C: %s = %ld, %s\n", call, status, fi_strerror((int) -status));
        exit(3);
    }
}

static struct two *open_two(const char *provider) {
    struct two *two = calloc(1, sizeof *two);
    struct fi_info *hints = fi_allocinfo();
    struct fi_cq_attr cq = {.size = 128, .format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr av = {.type = FI_AV_UNSPEC};
    char name[256];
    size_t length = sizeof name;
    int is_local = !strcmp(provider, "shm");

    hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ENDPOINT;
    CHECK(fi_getinfo(FI_VERSION(1, 15), is_local ? NULL : "127.0.0.1", NULL, is_local ? 0 : FI_SOURCE, hints,
                     &two->info));
    fi_freeinfo(hints);
    CHECK(fi_fabric(two->info->fabric_attr, &two->fabric, NULL));
    CHECK(fi_domain(two->fabric, two->info, &two->domain, NULL));
    CHECK(fi_cq_open(two->domain, &cq, &two->queue, NULL));
    CHECK(fi_av_open(two->domain, &av, &two->vector, NULL));
    for (int i = 0; i < 2; i++) {
        struct fid_ep **endpoint = i ? &two->far : &two->near;
        CHECK(fi_endpoint(two->domain, two->info, endpoint, NULL));
        CHECK(fi_ep_bind(*endpoint, &two->queue->fid, FI_SEND | FI_RECV));
        CHECK(fi_ep_bind(*endpoint, &two->vector->fid, 0));
        CHECK(fi_enable(*endpoint));
    }
    CHECK(fi_getname(&two->far->fid, name, &length));
    if (fi_av_insert(two->vector, name, 1, &two->peer, 0, NULL) != 1) { fail("the peer is not inserted"); }
    CHECK(fi_mr_reg(two->domain, two->bytes, sizeof two->bytes, FI_SEND | FI_RECV | FI_READ, 0, keys++, 0,
                    &two->region, NULL));
    return two;
}

/* Reads a completion, or an error, whose number it returns. */
static int completion(struct two *two) {
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error;
    time_t end = time(NULL) + SECONDS;
    while (time(NULL) < end) {
        ssize_t count = fi_cq_read(two->queue, &entry, 1);
        if (count == 1) { return 0; }
        if (count == -FI_EAVAIL) {
            memset(&error, 0, sizeof error);
            if (fi_cq_readerr(two->queue, &error, 0) == 1) { return error.err; }
        } else if (count != -FI_EAGAIN) {
            check(count, "fi_cq_read");
        }
    }
    fail("nothing came back in time");
    return -1;
}

static void send_one(struct two *two, int value, struct fi_context2 *contexts) {
    void *descriptor = fi_mr_desc(two->region);
    time_t end = time(NULL) + SECONDS;
    ssize_t status;
    memset(two->bytes, value, LENGTH);
    CHECK(fi_trecv(two->far, two->bytes + LENGTH, LENGTH, descriptor, FI_ADDR_UNSPEC, value, 0, contexts));
    do {
        status = fi_tsend(two->near, two->bytes, LENGTH, descriptor, two->peer, value, contexts + 1);
        if (status == -FI_EAGAIN) { fi_cq_read(two->queue, NULL, 0); }
    } while (status == -FI_EAGAIN && time(NULL) < end);
    check(status, "fi_tsend");
    for (int back = 0; back < 2; back++) {
        check(-completion(two), "a message");
    }
    if (memcmp(two->bytes, two->bytes + LENGTH, LENGTH)) { fail("the bytes are others"); }
}

static void send_all(void) {
    static struct fi_context2 contexts[2];
    for (int i = closed; i < opened; i++) {
        for (int value = 1; value < 20; value++) {
            send_one(all[i], value, contexts);
        }
    }
}

static void cancel(struct two *two) {
    static struct fi_context2 context;
    CHECK(fi_trecv(two->far, two->bytes, LENGTH, fi_mr_desc(two->region), FI_ADDR_UNSPEC, 1 << 20, 0, &context));
    CHECK(fi_cancel(&two->far->fid, &context));
    int error = completion(two);
    if (error != FI_ECANCELED) { check(-error, "a canceled receive"); fail("a canceled receive has succeeded"); }
}

static void close_two(struct two *two) {
    CHECK(fi_close(&two->near->fid));
    if (two->far) { CHECK(fi_close(&two->far->fid)); }
    CHECK(fi_close(&two->region->fid));
    CHECK(fi_close(&two->queue->fid));
    CHECK(fi_close(&two->vector->fid));
    CHECK(fi_close(&two->domain->fid));
    CHECK(fi_close(&two->fabric->fid));
    fi_freeinfo(two->info);
    free(two);
}

static void read_wrongly(const char *provider) {
    static struct fi_context2 context;
    struct two *two = open_two(provider);
    time_t end = time(NULL) + SECONDS;
    ssize_t status;
    do {
        status = fi_read(two->near, two->bytes, LENGTH, fi_mr_desc(two->region), two->peer, 0, WRONG_KEY, &context);
        if (status == -FI_EAGAIN) { fi_cq_read(two->queue, NULL, 0); }
    } while (status == -FI_EAGAIN && time(NULL) < end);
    check(status, "fi_read");
    if (!completion(two)) { fail("a read with a key that nobody has has succeeded"); }
    close_two(two);
}

/* Whatever becomes of the message: it is an error, or never comes back. */
static void send_to_nobody(const char *provider) {
    static struct fi_context2 contexts[3];
    struct two *two = open_two(provider);
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error;
    send_one(two, 1, contexts);
    CHECK(fi_close(&two->far->fid));
    two->far = NULL;
    fi_tsend(two->near, two->bytes, LENGTH, fi_mr_desc(two->region), two->peer, 1, contexts + 2);
    for (int i = 0; i < POLLS; i++) {
        memset(&error, 0, sizeof error);
        if (fi_cq_read(two->queue, &entry, 1) == -FI_EAVAIL) { fi_cq_readerr(two->queue, &error, 0); }
    }
    close_two(two);
}

static void start_jvm(const char *classes, const char *library, const char *main_class, char **arguments, int count) {
    JavaVMOption options[OPTIONS] = {{0}};
    JavaVMInitArgs init = {.version = JNI_VERSION_1_8, .nOptions = OPTIONS, .options = options};
    char path[1 << 16], chosen[1 << 12];
    JNIEnv *env;

    snprintf(path, sizeof path, "-Djava.class.path=%s", classes);
    snprintf(chosen, sizeof chosen, "-Dio.ofi4j.library=%s", library);
    options[0].optionString = path;
    options[1].optionString = "--enable-native-access=ALL-UNNAMED";
    options[2].optionString = "-XX:+UseSerialGC";
    options[3].optionString = "-XX:TieredStopAtLevel=1";
    options[4].optionString = *library ? chosen : "-Dofi4j.test.none=true";
    if (JNI_CreateJavaVM(&jvm, (void **) &env, &init)) { fail("there is no JVM"); }
    jclass type = (*env)->FindClass(env, main_class);
    jmethodID method = type ? (*env)->GetStaticMethodID(env, type, "main", "([Ljava/lang/String;)V") : NULL;
    if (method) {
        jobjectArray words = (*env)->NewObjectArray(env, count, (*env)->FindClass(env, "java/lang/String"), NULL);
        for (int i = 0; i < count; i++) {
            (*env)->SetObjectArrayElement(env, words, i, (*env)->NewStringUTF(env, arguments[i]));
        }
        (*env)->CallStaticVoidMethod(env, type, method, words);
    }
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionDescribe(env);
        fail("the main class has thrown");
    }
}

int main(int count, char **words) {
    if (count < 6) { fail("usage: ended_jvm PROVIDER LETTERS CLASSES LIBRARY MAIN ARGUMENT..."); }
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (const char *letter = words[2]; *letter; letter++) {
        printf("C: %c\n", *letter);
        switch (*letter) {
            case 'o':
                if (opened < MOST) { all[opened++] = open_two(words[1]); }
                break;
            case 's':
                send_all();
                break;
            case 'e':
                if (closed < opened) { cancel(all[opened - 1]); }
                break;
            case 'r':
                read_wrongly(words[1]);
                break;
            case 'l':
                send_to_nobody(words[1]);
                break;
            case 'c':
                if (closed < opened) { close_two(all[closed++]); }
                break;
            case 'J':
                start_jvm(words[3], words[4], words[5], words + 6, count - 6);
                break;
            default:
                if ((*jvm)->DestroyJavaVM(jvm)) { fail("the JVM does not end"); }
        }
    }
    printf("C: all as expected\n");
    return 0;
}
