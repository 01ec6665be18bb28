/* SPDX-License-Identifier: MIT */
/* Live plants of what blocks in the kernel: disks that are throttled, a file system that does not answer, memory. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "stall_form.h"

#define SIZE (16u << 20)

/* ---- a disk, throttled by a control group ----------------------------------------- */

/* "254:0", the disk that the file is on; false if it is on none. */
static bool disk_of(const char *path, char *out, size_t cap)
{
    char link[64], target[256];
    const char *name;
    struct stat st;
    ssize_t n;
    int fd;

    if (stat(path, &st))
        return false;
    snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
    n = readlink(link, target, sizeof(target) - 1);
    if (n <= 0)
        return false;
    target[n] = '\0';
    snprintf(out, cap, "%u:%u", major(st.st_dev), minor(st.st_dev));
    snprintf(link, sizeof(link), "/sys/dev/block/%u:%u/partition", major(st.st_dev), minor(st.st_dev));
    if (access(link, F_OK))
        return true;
    name = strrchr(target, '/'); /* a partition is throttled with its disk */
    snprintf(link, sizeof(link), "/sys/class/block/%.20s/../dev", name ? name + 1 : "");
    fd = open(link, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, out, cap - 1);
    if (fd >= 0)
        close(fd);
    out[n < 0 ? 0 : n] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return n > 0;
}

static bool make_file(struct stall_form *f)
{
    static char block[1 << 20];
    int fd;
    bool ok = true;

    snprintf(f->path, sizeof(f->path), "/var/tmp/aerogpu-stall-%d", (int)getpid());
    fd = open(f->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    memset(block, 0x5a, sizeof(block));
    for (size_t at = 0; fd >= 0 && ok && at < SIZE; at += sizeof(block))
        ok = write(fd, block, sizeof(block)) == (ssize_t)sizeof(block);
    ok = fd >= 0 && ok && !fdatasync(fd) && !posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool throttle(struct stall_form *f, unsigned bytes_per_second)
{
    char disk[32], text[160];

    if (!disk_of(f->path, disk, sizeof(disk)))
        return false;
    if (!f->group[0][0])
        return false;
    snprintf(text, sizeof(text), "%s/io.max", f->group[0]);
    if (!access(text, W_OK)) {
        snprintf(text, sizeof(text), bytes_per_second ? "%s rbps=%u wbps=%u" : "%s rbps=max wbps=max", disk,
                 bytes_per_second, bytes_per_second);
        return stall_write(f->group[0], "io.max", text);
    }
    snprintf(text, sizeof(text), "%s %u", disk, bytes_per_second);
    return stall_write(f->group[0], "blkio.throttle.read_bps_device", text) &&
           stall_write(f->group[0], "blkio.throttle.write_bps_device", text);
}

static bool create_throttle(struct stall_form *f, char *why, size_t cap)
{
    if (make_file(f) && stall_group(f, 0, "blkio", "blkio.throttle.read_bps_device", "io.max") &&
        throttle(f, 32 << 10))
        return true;
    snprintf(why, cap, "no disk can be throttled here");
    return false;
}

static void join(struct stall_form *f)
{
    stall_be_first(f);
    for (int i = 0; i < 2; i++)
        if (f->group[i][0] && !stall_join(f, i, getpid()))
            _exit(1);
}

static void end_throttle(struct stall_form *f, pid_t executor)
{
    (void)executor;
    throttle(f, 0); /* what waits in the kernel cannot be killed */
}

/* Past the page cache: blocks until the disk has it. */
static bool move_blocks(struct stall_form *f)
{
    const int fd = open(f->path, O_RDWR | O_DIRECT | O_CLOEXEC);
    void *block = NULL;

    if (fd < 0 || posix_memalign(&block, 4096, 65536))
        _exit(1);
    for (off_t at = 0;; at = (at + 65536) % SIZE)
        if ((f->pick % 2 ? pread(fd, block, 65536, at) : pwrite(fd, block, 65536, at)) < 0)
            return false;
}

static volatile char *map_file(struct stall_form *f)
{
    const int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    volatile char *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);

    if (map == MAP_FAILED)
        _exit(1);
    madvise((void *)map, SIZE, MADV_RANDOM);
    return map;
}

/* Its memory comes from the disk, page by page. */
static bool page_in(struct stall_form *f)
{
    volatile char *map = map_file(f);

    for (size_t at = 0; map[at]; at = (at + 4096 * 17) % SIZE)
        ;
    return false;
}

/* ---- memory ----------------------------------------------------------------------- */

static bool limit_memory(struct stall_form *f, const char *bytes)
{
    const int version = stall_group(f, 1, "memory", "memory.limit_in_bytes", "memory.high");

    return version && stall_write(f->group[1], version == 2 ? "memory.high" : "memory.limit_in_bytes", bytes);
}

static bool create_pressure(struct stall_form *f, char *why, size_t cap)
{
    if (make_file(f) && limit_memory(f, "4194304"))
        return true;
    snprintf(why, cap, "no control group with a limit of memory can be made here");
    return false;
}

static bool create_paging(struct stall_form *f, char *why, size_t cap)
{
    return create_throttle(f, why, cap) && create_pressure(f, why, cap);
}

static bool create_oom(struct stall_form *f, char *why, size_t cap)
{
    const int version = stall_group(f, 1, "memory", "memory.limit_in_bytes", "memory.max");

    if (version && stall_write(f->group[1], version == 2 ? "memory.max" : "memory.limit_in_bytes", "8388608"))
        return true;
    snprintf(why, cap, "no control group with a limit of memory can be made here");
    return false;
}

static bool want_all(struct stall_form *f)
{
    char *p = NULL;

    (void)f;
    while ((p = malloc(1 << 20)))
        memset(p, 1, 1 << 20);
    return false;
}

/* ---- pages that somebody else is to bring ------------------------------------------- */

static bool create_userfault(struct stall_form *f, char *why, size_t cap)
{
    const long fd = syscall(SYS_userfaultfd, O_CLOEXEC);

    (void)f;
    if (fd >= 0)
        close((int)fd);
    else
        snprintf(why, cap, "userfaultfd is not allowed here: %s", strerror(errno));
    return fd >= 0;
}

static bool touch_missing(struct stall_form *f)
{
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};
    const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    volatile char *map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)f;
    reg.range.start = (uintptr_t)map;
    reg.range.len = 65536;
    if (map == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
        _exit(1);
    return map[0];
}

/* ---- a file system that does not answer ------------------------------------------------ */

static void answer(int fd, uint64_t unique, const void *body, size_t size, int error)
{
    char out[512];
    struct fuse_out_header h = {.len = (uint32_t)(sizeof(h) + size), .error = error, .unique = unique};

    memcpy(out, &h, sizeof(h));
    if (size)
        memcpy(out + sizeof(h), body, size);
    if (write(fd, out, sizeof(h) + size) < 0)
        return; /* it was interrupted meanwhile */
}

/* Everything but what is in the file. */
static void serve(struct stall_form *f)
{
    static char request[1 << 20];
    const struct fuse_attr file = {
        .ino = 2, .size = SIZE, .mode = S_IFREG | 0644, .nlink = 1, .blksize = 4096};
    const struct fuse_attr root = {.ino = 1, .mode = S_IFDIR | 0755, .nlink = 2, .blksize = 4096};
    char options[96];
    const int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
    if (fd < 0 || unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("stall", "/mnt", "fuse", MS_NOSUID | MS_NODEV, options))
        _exit(1);
    stall_ready(f);
    while (read(fd, request, sizeof(request)) > 0) {
        const struct fuse_in_header *in = (const void *)request;
        const struct fuse_attr *attr = in->nodeid == 1 && in->opcode != FUSE_LOOKUP ? &root : &file;
        const struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 65536};
        const struct fuse_entry_out entry = {.nodeid = 2, .entry_valid = 60, .attr_valid = 60, .attr = *attr};
        const struct fuse_attr_out attrs = {.attr_valid = 60, .attr = *attr};
        const struct fuse_open_out opened = {.fh = 1};

        if (in->opcode == FUSE_INIT)
            answer(fd, in->unique, &init, sizeof(init), 0);
        else if (in->opcode == FUSE_LOOKUP)
            answer(fd, in->unique, &entry, sizeof(entry), 0);
        else if (in->opcode == FUSE_GETATTR)
            answer(fd, in->unique, &attrs, sizeof(attrs), 0);
        else if (in->opcode == FUSE_OPEN)
            answer(fd, in->unique, &opened, sizeof(opened), 0);
        else if (in->opcode != FUSE_READ && in->opcode != FUSE_FORGET && in->opcode != FUSE_INTERRUPT)
            answer(fd, in->unique, NULL, 0, -ENOSYS);
    }
}

static bool create_fuse(struct stall_form *f, char *why, size_t cap)
{
    if (access("/dev/fuse", R_OK | W_OK)) {
        snprintf(why, cap, "/dev/fuse: %s", strerror(errno));
        return false;
    }
    stall_helper(f, "file system", serve);
    return true;
}

static bool read_unanswered(struct stall_form *f)
{
    char path[64], c;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/root/mnt/file", (int)f->helpers[0]);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, &c, 1) != 1)
        _exit(1);
    return true;
}

/* A request that the server has seen cannot be taken back, not even by SIGKILL. */
static void end_service(struct stall_form *f, pid_t executor)
{
    (void)executor;
    kill(f->helpers[0], SIGKILL);
}

/* ---- D state by itself ------------------------------------------------------------------- */

static bool wait_for_child(struct stall_form *f)
{
    (void)f;
    if (vfork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return false;
}

const struct form stall_disks[] = {
    {.kind = {"live: it waits for its child, in D state", CPU_VERDICT_LOCKED,
              "whom it waits for did not answer"},
     .work = wait_for_child},
    {.kind = {"live: a disk throttled by its control group", CPU_VERDICT_BLOCKED_ON_IO,
              "blocked in the kernel"},
     .create = create_throttle,
     .prepare = join,
     .work = move_blocks,
     .destroy = end_throttle},
    {.kind = {"live: pages that come from a throttled disk", CPU_VERDICT_BLOCKED_ON_IO,
              "blocked in the kernel"},
     .create = create_throttle,
     .prepare = join,
     .work = page_in,
     .destroy = end_throttle},
    {.kind = {"live: the same, with no room to keep them", CPU_VERDICT_BLOCKED_ON_IO,
              "blocked in the kernel"},
     .create = create_paging,
     .prepare = join,
     .work = page_in,
     .destroy = end_throttle},
    {.kind = {"live: memory short, pages taken away all the time", CPU_VERDICT_BLOCKED_ON_IO, NULL, true},
     .create = create_pressure,
     .prepare = join,
     .work = page_in},
    {.kind = {"live: killed for want of memory", CPU_VERDICT_EXECUTOR_DIED, NULL},
     .create = create_oom,
     .prepare = join,
     .work = want_all},
    {.kind = {"live: a page that somebody was to bring", CPU_VERDICT_BLOCKED_ON_IO, NULL},
     .create = create_userfault,
     .work = touch_missing},
    {.kind = {"live: a file system that does not answer", CPU_VERDICT_BLOCKED_ON_IO, "blocked in the kernel"},
     .create = create_fuse,
     .work = read_unanswered,
     .destroy = end_service},
};
const uint32_t stall_disks_num = sizeof(stall_disks) / sizeof(stall_disks[0]);
