/* SPDX-License-Identifier: MIT */
#include "lose/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/program.h"
#include "lose/door.h"
#include "lose/proc.h"

uint64_t lose_now(void)
{
    struct clock live;

    clock_init_live(&live);
    return clock_now(&live);
}

/* NULL: it is none. */
static struct lose_record *map_record(int fd)
{
    struct lose_record *r;
    struct stat st;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size != sizeof(*r))
        return NULL;
    r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (r == MAP_FAILED)
        return NULL;
    if (r->magic == LOSE_MAGIC && r->size == sizeof(*r))
        return r;
    munmap(r, sizeof(*r));
    return NULL;
}

void lose_open_record(void)
{
    const char *path = getenv(LOSE_VARIABLE), *number = path ? strrchr(path, '/') : NULL;
    int fd;

    if (!number || lose_record)
        return;
    lose_record =
        map_record((int)strtoul(number + 1, NULL, 10));     /* inherited: another user may not open it */
    fd = lose_record ? -1 : open(path, O_RDWR | O_CLOEXEC); /* a launcher has closed it */
    if (fd < 0 && !lose_record)
        fd = door_ask(path);
    if (fd >= 0) {
        lose_record = map_record(fd);
        close(fd);
    }
}

/* ---- this process ---------------------------------------------------------- */

uint32_t process_id(void)
{
    return (uint32_t)getpid();
}

uint32_t process_thread(void)
{
    static __thread uint32_t tid;

    if (!tid)
        tid = (uint32_t)syscall(SYS_gettid);
    return tid;
}

uint64_t process_space(void)
{
    return proc_space();
}

void process_name(char program[LOSE_PATH])
{
    char path[PATH_MAX];
    size_t n;

    if (program_self(path, sizeof(path), NULL))
        *path = '\0';
    n = strlen(path);
    snprintf(program, LOSE_PATH, "%.127s", n < LOSE_PATH ? path : path + n - LOSE_PATH + 1);
}

/* Of all threads; 0 where the kernel does not tell. */
static uint64_t count_children(void)
{
    DIR *dir = opendir("/proc/self/task");
    const struct dirent *d;
    uint64_t n = 0;

    while (dir && (d = readdir(dir))) {
        char path[300], text[4096];

        snprintf(path, sizeof(path), "/proc/self/task/%s/children", d->d_name);
        if (*d->d_name != '.' && proc_read(path, text, sizeof(text)))
            for (const char *c = text; *c; c++)
                n += *c == ' ';
    }
    if (dir)
        closedir(dir);
    return n;
}

void process_held(struct lose_device *slot)
{
    char text[4096];

    atomic_store(&slot->children, count_children());
    atomic_store(&slot->fds, proc_count("/proc/self/fd"));
    if (!proc_read("/proc/self/status", text, sizeof(text)))
        return;
    atomic_store(&slot->threads, proc_number(text, "\nThreads:", 0));
    atomic_store(&slot->bytes, proc_number(text, "\nRssAnon:", 0) << 10);
}

bool process_is_deaf(void)
{
    enum { WATCH, MADE, OLD = 3 };
    static const char *const libraries[] = {"/aerogpu-lose.dll\n", "/wined3d.dll\n", "/d3d12.dll\n",
                                            "/d3d8.dll\n", "/ddraw.dll\n"};
    enum { LIBRARIES = sizeof(libraries) / sizeof(libraries[0]) };
    FILE *f = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128];
    bool has[LIBRARIES] = {false};

    while (f && fgets(line, sizeof(line), f))
        for (size_t i = 0; i < LIBRARIES; i++)
            has[i] |= strstr(line, libraries[i]) != NULL;
    if (f)
        fclose(f);
    return has[WATCH] ? has[OLD] || has[OLD + 1] : has[MADE] || has[MADE + 1];
}

void process_marks_loss(void)
{
    int fd = lose_record->words[0] ? open(lose_record->words, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    ssize_t written = fd >= 0 ? write(fd, LOSE_MARK "\n", strlen(LOSE_MARK "\n")) : 0;

    (void)written; /* then nothing is said of it */
    if (fd >= 0)
        close(fd);
}
