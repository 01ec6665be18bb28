/* SPDX-License-Identifier: MIT */
/* flight_read.c: reading recorders, of processes that run, were killed, or wrote garbage. A file is copied first: it may
 * change, and its size is the only thing about it that is believed. */
#include "blackbox/flight_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/array.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "blackbox/flight_read.h"

/* ---- time ---------------------------------------------------------------- */

static bool same_boot(const uint8_t boot[16])
{
    uint8_t none[16] = {0}, mine[16] = {0};

    flight_boot(mine);
    return memcmp(boot, none, 16) && !memcmp(boot, mine, 16);
}

struct time_base {
    bool is_ns;
    struct flight_pair origin;
    double ns_per_count;
};

static void time_base_init(struct time_base *t, const struct flight_header *h)
{
    struct flight_pair end = h->last;

    *t = (struct time_base){.is_ns = !h->counter_is_tsc, .origin = h->first, .ns_per_count = 1};
    if (t->is_ns)
        return;
#if defined(__x86_64__)
    if (same_boot(h->boot))
        end = (struct flight_pair){__rdtsc(), clock_now(&(struct clock){0})};
#endif
    if (end.counter > h->first.counter && end.ns > h->first.ns)
        t->ns_per_count = (double)(end.ns - h->first.ns) / (double)(end.counter - h->first.counter);
}

static uint64_t time_of(const struct time_base *t, uint64_t counter)
{
    double ns;

    if (t->is_ns)
        return counter;
    ns = (double)t->origin.ns + ((double)counter - (double)t->origin.counter) * t->ns_per_count;
    return ns > 0 && ns < 9e18 ? (uint64_t)ns : 0;
}

/* ---- one file ------------------------------------------------------------ */

static void clean_text(char *out, size_t max, const char *text, size_t size)
{
    size_t n = strnlen(text, size);

    n = utf8_clean(out, max - 1, text, n);
    out[n] = '\0';
}

int64_t flight_parse(const void *data, size_t size, void (*each)(void *ctx, const struct bb_flight_record *r),
                     void *ctx, const char *path, struct error *e)
{
    const uint8_t *bytes = data;
    struct flight_header h;
    struct bb_flight_record r = {0};
    struct time_base t;
    char process[40], name[FLIGHT_NAME + 8];
    uint64_t next, first;
    int64_t count = 0;

    if (size < FLIGHT_EVENTS_AT)
        return error_set(e, -EBADMSG, "%s: %zu bytes are no flight recorder", path, size);
    memcpy(&h, bytes, sizeof(h));
    if (memcmp(h.magic, FLIGHT_MAGIC, 8))
        return error_set(e, -EBADMSG, "%s: offset 0x0: no flight recorder", path);
    if (h.version != FLIGHT_VERSION)
        return error_set(e, -EPROTONOSUPPORT, "%s: offset 0x8: version %u, %d is known", path, h.version,
                         FLIGHT_VERSION);
    if (!h.events || h.events & (h.events - 1) || h.events > FLIGHT_MAX_EVENTS)
        return error_set(e, -EBADMSG, "%s: offset 0xc: %u events", path, h.events);
    time_base_init(&t, &h);
    clean_text(process, sizeof(process), h.name, sizeof(h.name));
    r.pid = h.pid;
    r.process = process;
    r.name = name;
    next = atomic_load_explicit(&h.next, memory_order_relaxed);
    first = next > h.events ? next - h.events : 0;
    for (uint64_t n = first; n < next; n++) {
        size_t at = FLIGHT_EVENTS_AT + (size_t)(n & (h.events - 1)) * sizeof(struct flight_event);
        struct flight_event ev;

        if (at + sizeof(ev) > size)
            continue; /* cut off */
        memcpy(&ev, bytes + at, sizeof(ev));
        if (atomic_load_explicit(&ev.stamp, memory_order_relaxed) != n + 1)
            continue; /* was being written, or is another's already */
        clean_text(name, sizeof(name), (const char *)bytes + sizeof(h) + (size_t)ev.event * FLIGHT_NAME,
                   FLIGHT_NAME);
        if (!name[0])
            snprintf(name, sizeof(name), "event %u", ev.event);
        r.number = n;
        r.time_ns = time_of(&t, ev.counter);
        r.thread = ev.thread;
        r.event = ev.event;
        r.a = ev.a;
        r.b = ev.b;
        r.c = ev.c;
        each(ctx, &r);
        count++;
    }
    return count;
}

int64_t bb_flight_read(const char *path, void (*each)(void *ctx, const struct bb_flight_record *r), void *ctx,
                       struct bb_error *public_error)
{
    struct error *e = bb_error_begin(public_error);
    size_t max = FLIGHT_EVENTS_AT + (size_t)FLIGHT_MAX_EVENTS * sizeof(struct flight_event), size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    int64_t r;
    void *copy;

    if (fd < 0 || fstat(fd, &st)) {
        r = error_set(e, -errno, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return r;
    }
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > max) {
        close(fd);
        return error_set(e, -EBADMSG, "%s: no flight recorder", path);
    }
    copy = malloc((size_t)st.st_size + 1);
    while (copy && size < (size_t)st.st_size) {
        ssize_t n = pread(fd, (char *)copy + size, (size_t)st.st_size - size, (off_t)size);
        if (n <= 0)
            break;
        size += (size_t)n;
    }
    close(fd);
    r = copy ? flight_parse(copy, size, each, ctx, path, e)
             : error_set(e, -ENOMEM, "%s: no memory to read it", path);
    free(copy);
    return r;
}

/* ---- a folder of them ---------------------------------------------------- */

struct stored {
    struct bb_flight_record r;
    char process[40], name[FLIGHT_NAME + 8];
};

struct merge {
    struct stored *v;
    size_t n, cap;
    uint64_t since;
    bool failed;
};

static void store(void *ctx, const struct bb_flight_record *r)
{
    struct merge *m = ctx;
    struct stored *s;

    if (r->time_ns < m->since || m->failed)
        return;
    if (array_reserve(m->v, m->cap, m->n + 1)) {
        m->failed = true;
        return;
    }
    s = &m->v[m->n++];
    s->r = *r;
    snprintf(s->process, sizeof(s->process), "%s", r->process);
    snprintf(s->name, sizeof(s->name), "%s", r->name);
}

static int by_time(const void *a, const void *b)
{
    const struct stored *x = a, *y = b;

    if (x->r.time_ns != y->r.time_ns)
        return x->r.time_ns < y->r.time_ns ? -1 : 1;
    return x->r.number < y->r.number ? -1 : x->r.number > y->r.number;
}

int64_t bb_flight_read_all(const char *directory, uint64_t since_ns,
                           void (*each)(void *ctx, const struct bb_flight_record *r), void *ctx,
                           uint32_t *bad)
{
    struct merge m = {.since = since_ns};
    char own[64], path[PATH_MAX];
    struct dirent *entry;
    DIR *dir;

    if (!directory)
        directory = getenv("AEROGPU_FLIGHT");
    if (!directory || !*directory) {
        snprintf(own, sizeof(own), "/dev/shm/aerogpu-%u", (unsigned)getuid());
        directory = own;
    }
    if (bad)
        *bad = 0;
    dir = opendir(directory);
    if (!dir)
        return -errno;
    while ((entry = readdir(dir))) {
        size_t n = strlen(entry->d_name);

        if (n < 8 || strcmp(entry->d_name + n - 7, ".flight"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        if (bb_flight_read(path, store, &m, NULL) < 0 && bad)
            ++*bad;
    }
    closedir(dir);
    if (m.n)
        qsort(m.v, m.n, sizeof(*m.v), by_time);
    for (size_t i = 0; i < m.n; i++) {
        m.v[i].r.process = m.v[i].process;
        m.v[i].r.name = m.v[i].name;
        each(ctx, &m.v[i].r);
    }
    free(m.v);
    return m.failed ? -ENOMEM : (int64_t)m.n;
}
