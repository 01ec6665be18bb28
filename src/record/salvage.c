/* SPDX-License-Identifier: MIT */
#include "record/salvage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/shared.h"
#include "base/log.h"
#include "record/collect_memory.h"
#include "record/shm.h"
#include "record/trace_file.h"

const char *const salvage_folders[SALVAGE_FOLDERS] = {"/dev/shm", "/tmp"};

/* Memory that a killed recorder left, locked; or -1: it is none, or somebody else's, or its recorder lives. */
static int open_left(DIR *dir, const char *name)
{
    struct stat st;
    int fd;

    if (strncmp(name, SALVAGE_NAME, strlen(SALVAGE_NAME)) ||
        (fd = openat(dirfd(dir), name, O_RDWR | O_NOFOLLOW | O_CLOEXEC)) < 0)
        return -1;
    if (!fstat(fd, &st) && st.st_size == (off_t)SHM_SIZE &&
        st.st_uid == geteuid() && /* empty: not yet locked */
        !flock(fd, LOCK_EX | LOCK_NB))
        return fd;
    close(fd);
    return -1;
}

/* Whether a process still has the memory. One that we may not look into counts as none. */
static bool is_mapped(const char *name)
{
    DIR *proc = opendir("/proc");
    struct dirent *p;
    bool found = false;

    while (proc && !found && (p = readdir(proc))) {
        char path[300], *line = NULL;
        size_t room = 0;
        FILE *f;

        if (p->d_name[0] < '0' || p->d_name[0] > '9' || atoi(p->d_name) == getpid())
            continue;
        snprintf(path, sizeof(path), "/proc/%s/maps", p->d_name);
        if (!(f = fopen(path, "re")))
            continue;
        while (!found && getline(&line, &room, f) >= 0)
            found = strstr(line, name);
        free(line);
        fclose(f);
    }
    if (proc)
        closedir(proc);
    return found;
}

/* What each chunk says of itself becomes ours, and stays: the program may still be writing. What of it is in the file is so. */
static void freeze(struct collect_memory *m, uint64_t file_size)
{
    volatile uint8_t *page = (volatile uint8_t *)m->shm;
    uint32_t n = atomic_load(&m->shm->num_chunks);

    for (size_t i = 0; i < SHM_DATA; i += 4096)
        page[i] = page[i];
    m->chunks = n >= SHM_STEP && n <= SHM_CHUNKS && n % SHM_STEP == 0 ? n : SHM_CHUNKS;
    for (uint32_t i = 0; i < m->chunks; i++) {
        struct shm_chunk *c = &m->shm->chunks[i];
        uint64_t at = atomic_load(&c->at);

        m->done[i] = atomic_load(at && at < file_size ? &c->upto : &c->from);
    }
}

/* Adds to the file what the memory has of it. */
static bool complete(const struct api *api, struct collect_memory *m, const char *path, bool lives)
{
    struct collect_sink to = {.last_frame = UINT32_MAX};
    struct error e = {0};
    int err, end;

    if (trc_writer_resume(&to.w, api, path, &e))
        return false; /* somebody else did, or may not: then the file is what it was */
    freeze(m, trc_writer_size(to.w));
    err = collect_memory_drain_open(m, &to, !lives, &e);
    trc_writer_features(to.w, TRC_FEATURES_KNOWN | atomic_load(&m->shm->features));
    end = trc_writer_finish(to.w, &e);
    if (err || end) {
        log_warn("record", "%s: its recorder was killed; what it had not written is lost: %s", path, e.text);
        return false;
    }
    log_warn("record", "%s: its recorder was killed; what it had not written was added: %llu blocks%s", path,
             (unsigned long long)to.blocks, lives ? "; the program still runs, unrecorded" : "");
    return true;
}

/* With `want` the memory of that file alone. */
static bool salvage(const struct api *api, int fd, const char *name, const char *path,
                    const struct stat *want)
{
    struct collect_memory *m = calloc(1, sizeof(*m));
    struct stat st;
    bool done = false;

    if (!m)
        return false;
    m->fd = fd;
    m->shm = mmap(NULL, SHM_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (m->shm == MAP_FAILED) {
        free(m);
        return false;
    }
    shared_guard(m->shm, SHM_SIZE);
    m->shm->output[sizeof(m->shm->output) - 1] = '\0';
    if (!want && !stat(m->shm->output, &st)) {
        want = &st;
        path = m->shm->output;
    }
    if (want && m->shm->magic == SHM_MAGIC && m->shm->schema == api->schema &&
        m->shm->output_device == want->st_dev && m->shm->output_file == want->st_ino)
        done = complete(api, m, path, is_mapped(name));
    shared_unguard(m->shm);
    munmap(m->shm, SHM_SIZE);
    free(m->copy);
    free(m);
    return done;
}

static bool look(const struct api *api, const char *path, const struct stat *want)
{
    bool done = false;

    for (int i = 0; i < SALVAGE_FOLDERS && !done; i++) {
        DIR *dir = opendir(salvage_folders[i]);
        struct dirent *f;

        while (dir && !done && (f = readdir(dir))) {
            int fd = open_left(dir, f->d_name);

            if (fd < 0)
                continue;
            done = salvage(api, fd, f->d_name, path, want);
            if (done || !want)
                unlinkat(dirfd(dir), f->d_name, 0);
            close(fd);
            done = done && want;
        }
        if (dir)
            closedir(dir);
    }
    return done;
}

bool salvage_file(const struct api *api, const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISREG(st.st_mode) && look(api, path, &st);
}

void salvage_all(const struct api *api)
{
    look(api, NULL, NULL);
}
