/* SPDX-License-Identifier: MIT */
/* keep.c: the box of this process: made when the first instance is, in the folder that the environment names. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/sched/boot_clock.h"
#include "base/sched/pid_namespace.h"
#include "vkbox/layer.h"
#include "vkbox/room.h"
#include "vkbox/settings.h"

struct vkbox *box;
bool box_is_own;
struct known box_known;
static bool alone;          /* after a fork: nobody reads what is kept */
static char file[PATH_MAX]; /* of what nobody watches; "": there is a reader */

/* More records than that wait for a reader: nobody comes. */
enum { UNWATCHED = 16, BOX_PAGE = 4096, END_S = 5 };

uint64_t box_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static __thread uint32_t thread;

uint32_t box_thread(void)
{
    return thread ? thread : (thread = (uint32_t)syscall(SYS_gettid));
}

/* A child without an exec has the memory, and nothing to say: what it writes goes into pages of its own, until it makes an instance
 * itself. */
static void forked(void)
{
    alone = true;
    thread = 0;
    (void)mmap(box, sizeof(*box), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

/* This user's folder in `base`; false: it is another's, there is none, or it is full. */
static bool make_unwatched(const char *base, char path[PATH_MAX])
{
    const struct dirent *d;
    uint32_t n = 0;
    DIR *dir;

    if (room_own(base, path, PATH_MAX) || !(dir = opendir(path)))
        return false;
    while ((d = readdir(dir)))
        n += strstr(d->d_name, VKBOX_SUFFIX) != NULL;
    closedir(dir);
    return n < UNWATCHED;
}

/* The name is free unless a process with this number was here before. */
static int make_file(const char *folder, char path[PATH_MAX])
{
    int fd = -1;

    for (int n = 0; fd < 0 && n < 64; n++) {
        snprintf(path, PATH_MAX, "%.4000s/%d.%d" VKBOX_SUFFIX, folder, (int)getpid(), n);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Touching what the file system has no room for would be a signal, in the process or in who reads; a device that writes there knows
 * of none. */
bool box_room(const void *at, size_t size)
{
    const uintptr_t first = (uintptr_t)at & ~(uintptr_t)(BOX_PAGE - 1);
    const size_t whole = ((uintptr_t)at + size - first + BOX_PAGE - 1) & ~(size_t)(BOX_PAGE - 1);

    if (!madvise((void *)first, whole, MADV_POPULATE_WRITE) || errno == EINVAL) /* before Linux 5.14 */
        return true;
    if (box)
        atomic_store(&box->full, 1);
    return false;
}

/* A file with room for a record, in memory, where that of the parent was; NULL: there is none. */
static struct vkbox *make_box(const char *folder, char path[PATH_MAX])
{
    int fd = make_file(folder, path);
    struct vkbox *b = fd >= 0 && room_take(fd)
                          ? mmap(box, sizeof(*b), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_NORESERVE | (box ? MAP_FIXED : 0), fd, 0)
                          : MAP_FAILED;

    if (fd >= 0)
        close(fd);
    if (b != MAP_FAILED &&
        (!box_room(b->submission, BOX_SUBMISSIONS * sizeof(b->submission[0])) ||
         !box_room(b->command_buffers, BOX_COMMAND_BUFFERS * sizeof(b->command_buffers[0])))) {
        if (!box)
            munmap(b, sizeof(*b));
        b = MAP_FAILED;
    }
    if (fd >= 0 && b == MAP_FAILED)
        unlink(path);
    return b == MAP_FAILED ? NULL : b;
}

static void open_once(const struct box_params *p)
{
    const char *known = getenv(VKBOX_KNOWN);
    bool unwatched = p->folder && !strcmp(p->folder, "1");
    const char *const bases[] = VKBOX_BASES;
    char path[PATH_MAX], own[PATH_MAX];
    struct vkbox *b = NULL;

    if (!p->folder || (*p->folder != '/' && !unwatched))
        return;
    if (!unwatched)
        b = make_box(p->folder, path); /* where there is no room, `aerogpu run` says it */
    for (size_t i = 0; unwatched && !b && i < sizeof(bases) / sizeof(bases[0]); i++)
        b = bases[i] && make_unwatched(bases[i], own) ? make_box(own, path) : NULL;
    if (!b)
        return;
    if (unwatched)
        snprintf(file, sizeof(file), "%s", path);
    b->version = VKBOX_VERSION;
    b->size = sizeof(*b);
    b->schema = VKBOX_NUM_COMMANDS;
    b->pid = (uint32_t)getpid();
    b->pid_namespace = pid_namespace();
    b->clock_offset_ns = boot_clock_offset();
    b->exact = p->exact;
    b->guard = p->guard;
    b->start_ns = box_now();
    if (getrandom(&b->secret, sizeof(b->secret), GRND_NONBLOCK) != sizeof(b->secret))
        b->secret = b->start_ns; /* nobody guesses it by accident */
    snprintf(b->program, sizeof(b->program), "%s", program_invocation_short_name);
    if (known && *known == '/')
        known_read(&box_known, known, b->program);
    b->crash.device = VKBOX_NO_INDEX;
    atomic_thread_fence(memory_order_release);
    b->magic = VKBOX_MAGIC;
    box_is_own = p->own;
    if (!box)
        pthread_atfork(NULL, NULL, forked);
    box = b;
    alone = false;
}

void box_open(const struct box_params *p)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct settings asked;
    static bool done;

    pthread_mutex_lock(&lock);
    if (!done || alone) {
        if (!p)
            settings_read(&asked);
        open_once(p ? p
                    : &(struct box_params){.folder = asked.record ? "1" : getenv(VKBOX_VARIABLE),
                                           .exact = asked.exact,
                                           .guard = asked.guard});
    }
    done = box || !p || !p->own; /* a program that starts its own may try again */
    pthread_mutex_unlock(&lock);
}

/* A process that comes here was not killed. */
__attribute__((destructor)) static void end(void)
{
    if (!box || alone)
        return;
    signals_look(true);
    if (atomic_load(&box->crash.kind) == VKBOX_SIGNAL && !box->crash.handled && !file[0] &&
        box->crash.thread != box_thread())
        sleep(END_S); /* it would have ended before it came here: by that signal of another thread */
    atomic_store(&box->ended, 1);
    if (file[0] && atomic_load(&box->crash.kind) == VKBOX_NO_CRASH)
        unlink(file);
}

void box_event(void)
{
    atomic_fetch_add(&box->event, 1);
    syscall(SYS_futex, &box->event, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void box_await_collection(uint32_t ms)
{
    uint64_t end = box_now() + ms * (uint64_t)NSEC_PER_MSEC;
    uint32_t wanted = atomic_load(&box->event), seen;

    while (!alone && !file[0] && (int32_t)((seen = atomic_load(&box->collected)) - wanted) < 0 &&
           box_now() < end) {
        struct timespec step = {0, 20 * NSEC_PER_MSEC};

        syscall(SYS_futex, &box->collected, FUTEX_WAIT, seen, &step, NULL, 0);
    }
}
