/* SPDX-License-Identifier: MIT */
/* flight.c: recording (layout and invariants in flight_file.h). */
#include "blackbox/flight_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "base/check.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "blackbox/internal.h"

struct bb_flight {
    struct flight_header *header;
    struct flight_event *events;
    uint64_t mask;
    size_t size;
    bool tsc;
    int fd;
    char path[PATH_MAX];
};

static _Thread_local uint32_t thread_id;

/* What is ours about it: the header itself lies where others can write. */
static void flight_check(const struct bb_flight *f)
{
    INVARIANT(!((f->mask + 1) & f->mask));
    INVARIANT(f->mask < FLIGHT_MAX_EVENTS);
    INVARIANT(f->size == FLIGHT_EVENTS_AT + (f->mask + 1) * sizeof(struct flight_event));
    INVARIANT((uint8_t *)f->events == (uint8_t *)f->header + FLIGHT_EVENTS_AT);
    INVARIANT(f->fd >= 0);
}

static uint64_t now_ns(void)
{
    return clock_now(&(struct clock){0});
}

/* True if the counter runs at one speed, whatever the processor does. */
static bool counter_is_even(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
#else
    return false;
#endif
}

static inline uint64_t counter(const struct bb_flight *f)
{
#if defined(__x86_64__)
    if (f->tsc)
        return __rdtsc();
#endif
    return now_ns();
}

static struct flight_pair take_pair(const struct bb_flight *f)
{
    struct flight_pair p;

    p.counter = counter(f);
    p.ns = now_ns();
    return p;
}

void bb_flight_event(struct bb_flight *f, uint8_t event, uint64_t a, uint64_t b, uint64_t c)
{
    struct flight_event *e;
    uint64_t n;

    if (!f)
        return;
    n = atomic_fetch_add_explicit(&f->header->next, 1, memory_order_relaxed);
    e = &f->events[n & f->mask];
    atomic_store_explicit(&e->stamp, 0, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    e->counter = counter(f);
    e->a = a;
    e->b = b;
    e->c = c;
    if (__builtin_expect(!thread_id, 0))
        thread_id = (uint32_t)syscall(SYS_gettid);
    e->thread = thread_id;
    e->event = event;
    atomic_store_explicit(&e->stamp, n + 1, memory_order_release);
    if (__builtin_expect(n % FLIGHT_PAIR_EVERY == 0, 0))
        f->header->last = take_pair(f);
}

int bb_flight_name(struct bb_flight *f, uint8_t event, const char *name)
{
    char *at;
    size_t n;

    if (!f)
        return 0;
    at = (char *)f->header + sizeof(*f->header) + (size_t)event * FLIGHT_NAME;
    n = utf8_clean(at, FLIGHT_NAME - 1, name, strlen(name));
    memset(at + n, 0, FLIGHT_NAME - n);
    return 0;
}

static int map(struct bb_flight *f, struct error *e)
{
    f->header = mmap(NULL, f->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, f->fd, 0);
    if (f->header == MAP_FAILED) {
        f->header = NULL;
        return error_set(e, -errno, "%s: %s", f->path, strerror(errno));
    }
    f->events = (struct flight_event *)(void *)((uint8_t *)f->header + FLIGHT_EVENTS_AT);
    return 0;
}

void flight_boot(uint8_t boot[16])
{
    char text[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    int n = 0;

    if (file && fgets(text, sizeof(text), file))
        for (char *c = text; *c && n < 32; c++) {
            int v = *c >= '0' && *c <= '9' ? *c - '0' : *c >= 'a' && *c <= 'f' ? *c - 'a' + 10 : -1;
            if (v >= 0) {
                boot[n / 2] = (uint8_t)(boot[n / 2] << 4 | v);
                n++;
            }
        }
    if (file)
        fclose(file);
}

static int default_directory(char *dir, size_t size, const char *wanted, struct error *e)
{
    struct stat st;

    if (!wanted)
        wanted = getenv("AEROGPU_FLIGHT");
    if (wanted && *wanted)
        snprintf(dir, size, "%s", wanted);
    else
        snprintf(dir, size, "/dev/shm/aerogpu-%u", (unsigned)getuid());
    if (mkdir(dir, 0700) && errno != EEXIST)
        return error_set(e, -errno, "%s: %s", dir, strerror(errno));
    if ((wanted && *wanted ? stat(dir, &st) : lstat(dir, &st)) || !S_ISDIR(st.st_mode))
        return error_set(e, -ENOTDIR, "%s is no folder", dir);
    if (st.st_uid != geteuid() && !(wanted && *wanted))
        return error_set(e, -EACCES, "%s belongs to somebody else", dir);
    return 0;
}

int bb_flight_open(struct bb_flight **out, const struct bb_flight_params *p, struct bb_error *public_error)
{
    struct error *e = bb_error_begin(public_error);
    uint32_t events = p->events ? p->events : 16384;
    struct bb_flight *f = calloc(1, sizeof(*f));
    char dir[PATH_MAX - 64], tmp[PATH_MAX + 8];
    int r;

    *out = NULL;
    if (!f)
        return error_set(e, -ENOMEM, "no memory for a flight recorder");
    f->fd = -1;
    r = events & (events - 1) || events > FLIGHT_MAX_EVENTS
            ? error_set(e, -EINVAL, "%u events: a power of two up to %d is needed", events, FLIGHT_MAX_EVENTS)
            : default_directory(dir, sizeof(dir), p->directory, e);
    if (r)
        goto fail;
    snprintf(f->path, sizeof(f->path), "%s/%.31s-%d.flight", dir, p->name ? p->name : "process",
             (int)getpid());
    f->size = FLIGHT_EVENTS_AT + (size_t)events * sizeof(struct flight_event);
    f->mask = events - 1;
    f->tsc = counter_is_even();
    snprintf(tmp, sizeof(tmp), "%s.tmp", f->path);
    unlink(tmp); /* a process before us had our number */
    f->fd = open(tmp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (f->fd < 0 || ftruncate(f->fd, (off_t)f->size)) {
        r = error_set(e, -errno, "%s: %s", f->path, strerror(errno));
        goto fail;
    }
    r = map(f, e);
    if (r)
        goto fail;
    f->header->version = FLIGHT_VERSION;
    f->header->events = events;
    f->header->pid = (uint32_t)getpid();
    f->header->counter_is_tsc = f->tsc;
    utf8_clean(f->header->name, sizeof(f->header->name) - 1, p->name ? p->name : "process",
               strlen(p->name ? p->name : "process"));
    flight_boot(f->header->boot);
    f->header->first = f->header->last = take_pair(f);
    memcpy(f->header->magic, FLIGHT_MAGIC, 8);
    if (rename(tmp, f->path)) { /* only now: whoever sees it can read it */
        r = error_set(e, -errno, "%s: %s", f->path, strerror(errno));
        unlink(tmp);
        goto fail;
    }
    flight_check(f);
    *out = f;
    return 0;
fail:
    bb_flight_close(f);
    return r;
}

struct bb_flight *bb_flight_of_process(const char *name)
{
    const char *dir = getenv("AEROGPU_FLIGHT");
    struct bb_flight *f = NULL;

    if (dir && *dir)
        bb_flight_open(&f, &(struct bb_flight_params){.directory = dir, .name = name}, NULL);
    return f;
}

int bb_flight_attach(struct bb_flight **out, int fd, struct bb_error *public_error)
{
    struct error *e = bb_error_begin(public_error);
    struct bb_flight *f = calloc(1, sizeof(*f));
    off_t size = lseek(fd, 0, SEEK_END);
    struct flight_header head;
    int r;

    *out = NULL;
    if (!f)
        return error_set(e, -ENOMEM, "no memory for a flight recorder");
    f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    snprintf(f->path, sizeof(f->path), "descriptor %d", fd);
    if (f->fd < 0 || size <= FLIGHT_EVENTS_AT) {
        r = error_set(e, f->fd < 0 ? -errno : -EBADMSG, "%s: no flight recorder", f->path);
        goto fail;
    }
    f->size = (size_t)size;
    r = map(f, e);
    if (r)
        goto fail;
    /* Once: whoever else has the file may change it. */
    memcpy(&head, f->header, sizeof(head));
    f->mask = head.events - 1;
    f->tsc = head.counter_is_tsc;
    if (memcmp(head.magic, FLIGHT_MAGIC, 8) || head.version != FLIGHT_VERSION || !head.events ||
        head.events > FLIGHT_MAX_EVENTS || head.events & f->mask ||
        f->size != FLIGHT_EVENTS_AT + (size_t)head.events * sizeof(struct flight_event)) {
        r = error_set(e, -EBADMSG, "%s: no flight recorder", f->path);
        goto fail;
    }
    flight_check(f);
    *out = f;
    return 0;
fail:
    bb_flight_close(f);
    return r;
}

void bb_flight_close(struct bb_flight *f)
{
    if (!f)
        return;
    if (f->events) {
        f->header->last = take_pair(f);
        munmap(f->header, f->size);
    }
    if (f->fd >= 0)
        close(f->fd);
    free(f);
}

const char *bb_flight_path(const struct bb_flight *f)
{
    return f->path;
}

int bb_flight_fd(const struct bb_flight *f)
{
    return f->fd;
}
