/* SPDX-License-Identifier: MIT */
/* regions.c: guest memory: which the executor maps, and the control messages that tell it so. The contract is in host.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/fds.h"
#include "executor/host/host_priv.h"

void exec_region_put(struct exec_region *r)
{
    INVARIANT(r->refs);
    if (atomic_fetch_sub(&r->refs, 1) > 1)
        return;
    close(r->fd);
    free(r);
}

int exec_host_queue_op(struct exec_host *host, uint32_t type, struct exec_region *r)
{
    struct exec_op *op = malloc(sizeof(*op));

    if (!op)
        return -ENOMEM;
    *op = (struct exec_op){.type = type, .seq = ++host->op_seq, .region = r};
    r->refs++;
    *host->ops_end = op;
    host->ops_end = &op->next;
    return 0;
}

static void drop_first_op(struct exec_host *host)
{
    struct exec_op *op = host->ops;

    host->ops = op->next;
    if (!host->ops)
        host->ops_end = &host->ops;
    exec_region_put(op->region);
    free(op);
}

void exec_host_drop_ops(struct exec_host *host)
{
    while (host->ops)
        drop_first_op(host);
}

static int send_op(int fd, const struct exec_op *op)
{
    struct exec_control m = {.type = op->type,
                             .seq = op->seq,
                             .gpa = op->region->gpa,
                             .size = op->region->size,
                             .offset = op->region->offset};
    bool maps = op->type == EXEC_CONTROL_MAP;
    ssize_t n = fds_send(fd, &m, sizeof(m), &op->region->fd, maps ? 1 : 0, MSG_DONTWAIT);

    return n < 0 ? (int)n : 0;
}

void exec_host_flush_ops(struct exec_host *host)
{
    bool sent = false;

    if (!host->child.pid || host->control_closed)
        return;
    while (host->ops) {
        int r = send_op(host->child.control, host->ops);

        if (r == -EPIPE || r == -ECONNRESET)
            host->control_closed = true;
        if (r)
            break; /* the socket is full, or holds too many descriptors: the supervisor goes on */
        drop_first_op(host);
        sent = true;
    }
    if (sent) {
        atomic_store(&host->child.shared->controls,
                     (uint32_t)(host->ops ? host->ops->seq - 1 : host->op_seq));
        exec_host_ring(host->child.shared);
    }
}

/* Index of the first region that ends behind `gpa`. */
static unsigned region_index(const struct exec_host *host, uint64_t gpa)
{
    unsigned lo = 0, hi = host->n_regions;

    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        const struct exec_region *r = host->regions[mid];

        if (r->gpa + (r->size - 1) < gpa)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static int check_region(uint64_t gpa, uint64_t size, int fd, uint64_t offset, struct error *e)
{
    struct stat st;
    int mode = fcntl(fd, F_GETFL);

    if (!size || (gpa | size | offset) % EXEC_PAGE)
        return error_set(e, -EINVAL, "region 0x%llx, size 0x%llx, offset 0x%llx: not whole pages",
                         (unsigned long long)gpa, (unsigned long long)size, (unsigned long long)offset);
    if (gpa + (size - 1) < gpa)
        return error_set(e, -EINVAL, "region 0x%llx, size 0x%llx wraps around", (unsigned long long)gpa,
                         (unsigned long long)size);
    if (mode < 0 || fstat(fd, &st))
        return error_set(e, -errno, "region 0x%llx: descriptor %d: %s", (unsigned long long)gpa, fd,
                         strerror(errno));
    if ((mode & O_ACCMODE) != O_RDWR)
        return error_set(e, -EACCES, "region 0x%llx: descriptor %d is not open for reading and writing",
                         (unsigned long long)gpa, fd);
    if (S_ISREG(st.st_mode) && (offset > (uint64_t)st.st_size || size > (uint64_t)st.st_size - offset))
        return error_set(e, -EINVAL,
                         "region 0x%llx, size 0x%llx, offset 0x%llx ends beyond its file of 0x%llx bytes",
                         (unsigned long long)gpa, (unsigned long long)size, (unsigned long long)offset,
                         (unsigned long long)st.st_size);
    return 0;
}

static int insert_region(struct exec_host *host, struct exec_region *r, struct error *e)
{
    unsigned i = region_index(host, r->gpa);
    int err;

    if (i < host->n_regions && host->regions[i]->gpa <= r->gpa + (r->size - 1))
        return error_set(e, -EEXIST, "region 0x%llx, size 0x%llx overlaps the one at 0x%llx",
                         (unsigned long long)r->gpa, (unsigned long long)r->size,
                         (unsigned long long)host->regions[i]->gpa);
    if (host->n_regions == EXEC_HOST_REGIONS)
        return error_set(e, -ENOSPC, "region 0x%llx: there are %d already", (unsigned long long)r->gpa,
                         EXEC_HOST_REGIONS);
    err = host->child.pid ? exec_host_queue_op(host, EXEC_CONTROL_MAP, r) : 0;
    if (err)
        return error_set(e, err, "region 0x%llx: out of memory", (unsigned long long)r->gpa);
    memmove(&host->regions[i + 1], &host->regions[i], (host->n_regions - i) * sizeof(host->regions[0]));
    host->regions[i] = r;
    host->n_regions++;
    INVARIANT(!i || host->regions[i - 1]->gpa + (host->regions[i - 1]->size - 1) < r->gpa);
    INVARIANT(i + 1 == host->n_regions || r->gpa + (r->size - 1) < host->regions[i + 1]->gpa);
    r->refs++;
    return 0;
}

static void after_op(struct exec_host *host)
{
    exec_host_flush_ops(host);
    if (host->ops)
        exec_supervisor_wake(host);
}

int exec_region_create(struct exec_region **out, uint64_t gpa, uint64_t size, int fd, uint64_t offset,
                       struct error *e)
{
    int err = check_region(gpa, size, fd, offset, e);
    struct exec_region *r;

    *out = NULL;
    if (err)
        return err;
    r = malloc(sizeof(*r));
    if (!r)
        return error_set(e, -ENOMEM, "region 0x%llx: out of memory", (unsigned long long)gpa);
    *r = (struct exec_region){.refs = 1, .gpa = gpa, .size = size, .offset = offset};
    r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (r->fd < 0) {
        err = -errno;
        free(r);
        return error_set(e, err, "region 0x%llx: descriptor %d: %s", (unsigned long long)gpa, fd,
                         strerror(-err));
    }
    *out = r;
    return 0;
}

int exec_host_map_region(struct exec_host *host, struct exec_region *r, struct error *e)
{
    int err;

    pthread_mutex_lock(&host->lock);
    exec_host_check(host);
    err = insert_region(host, r, e);
    if (!err)
        after_op(host);
    exec_host_check(host);
    pthread_mutex_unlock(&host->lock);
    return err;
}

int exec_host_map(struct exec_host *host, uint64_t gpa, uint64_t size, int fd, uint64_t offset,
                  struct error *e)
{
    struct exec_region *r;
    int err = exec_region_create(&r, gpa, size, fd, offset, e);

    if (err)
        return err;
    err = exec_host_map_region(host, r, e);
    exec_region_put(r);
    return err;
}

int exec_host_unmap(struct exec_host *host, uint64_t gpa, uint64_t size)
{
    struct exec_region *r;
    unsigned i;
    int err = -ENOENT;

    pthread_mutex_lock(&host->lock);
    exec_host_check(host);
    i = region_index(host, gpa);
    if (i == host->n_regions || host->regions[i]->gpa != gpa || host->regions[i]->size != size)
        goto out;
    r = host->regions[i];
    err = host->child.pid ? exec_host_queue_op(host, EXEC_CONTROL_UNMAP, r) : 0;
    if (err)
        goto out;
    host->n_regions--;
    memmove(&host->regions[i], &host->regions[i + 1], (host->n_regions - i) * sizeof(host->regions[0]));
    exec_region_put(r);
    after_op(host);
    exec_host_check(host);
out:
    pthread_mutex_unlock(&host->lock);
    return err;
}
