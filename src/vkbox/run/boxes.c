/* SPDX-License-Identifier: MIT */
/* boxes.c: the records of a run's processes, as they come and go. */
#include "vkbox/run/watched.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/shared.h"
#include "base/sched/pid_namespace.h"
#include "vkbox/run/owner.h"

/* Returns whether its process had shortened the file. */
bool watched_forget(struct watched *w)
{
    bool is_cut = shared_unguard(w->b);

    for (uint32_t q = 0; q < VKBOX_QUEUES; q++)
        progress_end_wait(&w->waits_of[q]);
    progress_end_wait(&w->handler);
    munmap(w->b, sizeof(*w->b));
    close(w->fd);
    end_finish(&w->end);
    return is_cut;
}

/* As the end of a path. */
void watched_name(const struct run *r, const struct watched *w, char out[128])
{
    snprintf(out, 128, "%.60s/%.63s", strrchr(r->folder.path, '/') + 1, w->name);
}

/* By its number here. */
static pid_t process_of(const struct run *r, const struct watched *w)
{
    const uint64_t counts_in = w->b->pid_namespace;
    char record[128];

    if (counts_in && counts_in == pid_namespace())
        return (pid_t)w->b->pid;
    watched_name(r, w, record);
    return owner_find(record, (pid_t)w->b->pid, counts_in);
}

static void add_box(struct run *r, int dir, const char *name)
{
    struct watched *w = &r->boxes[r->num_boxes];
    struct stat st;

    if (r->num_boxes == MAX_BOXES)
        return;
    *w = (struct watched){.fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW), .end = {.fd = -1}};
    if (w->fd < 0)
        return;
    if (fstat(w->fd, &st) || st.st_size < (off_t)sizeof(*w->b)) { /* it is being made */
        close(w->fd);
        return;
    }
    w->b = mmap(NULL, sizeof(*w->b), PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
    if (w->b == MAP_FAILED) {
        close(w->fd);
        return;
    }
    shared_guard(w->b, sizeof(*w->b));
    if (w->b->magic != VKBOX_MAGIC) {
        watched_forget(w);
        return;
    }
    snprintf(w->name, sizeof(w->name), "%.63s", name);
    w->pid = process_of(r, w);
    end_begin(&w->end, w->pid);
    symbol_files_add_program(&r->files, w->pid); /* which may be gone when a dump is made */
    r->num_boxes++;
    r->youngest_ns = w->found_ns = run_now(r);
    r->out->processes++;
}

void run_scan(struct run *r)
{
    DIR *dir = opendir(r->folder.path);
    const struct dirent *d;

    while (dir && (d = readdir(dir))) {
        bool known = d->d_name[0] == '.';

        for (uint32_t i = 0; i < r->num_boxes && !known; i++)
            known = !strcmp(r->boxes[i].name, d->d_name);
        if (!known)
            add_box(r, dirfd(dir), d->d_name);
    }
    if (dir)
        closedir(dir);
}

/* The last record of a process: those before it are of programs that it was before it ran this one (exec). */
bool watched_is_last(const struct run *r, uint32_t box)
{
    for (uint32_t i = 0; i < r->num_boxes; i++)
        if (r->boxes[i].pid == r->boxes[box].pid && r->boxes[i].b->start_ns > r->boxes[box].b->start_ns)
            return false;
    return true;
}
