/* SPDX-License-Identifier: MIT */
/* A .aerogpuhint in a folder of `aerogpu run` (vkbox/known.h): its first byte says how long the program's name is, which follows, and
 * then the file. What must hold: a name stays one file in its folder, what is known stands in the file as a line of its own, the
 * last ones of them, and what is written is known then, behind what else was but for the oldest. */
#include "fuzz.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vkbox/known.h"

static char folder[64];

static void finish(void)
{
    rmdir(folder);
}

static void make(void)
{
    snprintf(folder, sizeof(folder), "/dev/shm/hint_fuzz.%d", (int)getpid());
    must(!mkdir(folder, 0700));
    atexit(finish);
}

static bool stands_there(const uint8_t *text, size_t size, uint64_t group)
{
    char line[18];

    snprintf(line, sizeof(line), "%016" PRIx64 "\n", group);
    for (size_t at = 0; at + 17 <= size; at++)
        if (!memcmp(text + at, line, 17) && (!at || text[at - 1] == '\n'))
            return true;
    return false;
}

static void check(const struct known *k, const uint8_t *text, size_t size)
{
    must(k->num <= KNOWN_GROUPS);
    for (uint32_t i = 0; i < k->num; i++)
        must(known_has(k, k->groups[i]) && stands_there(text, size, k->groups[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length = size ? data[0] % 80 : 0;
    char program[80] = "", name[64], path[256];
    uint64_t group = UINT64_C(0x9e3779b97f4a7c15);
    struct error e = {0};
    struct known before, after;
    uint32_t gone;
    int fd;

    if (!*folder)
        make();
    if (size < 1)
        return 0;
    data++, size--;
    length = length < size ? length : size;
    memcpy(program, data, length);
    data += length, size -= length;
    known_name(program, name);
    must(strlen(name) < sizeof(name) && !strchr(name, '/'));
    snprintf(path, sizeof(path), "%s/%s" KNOWN_SUFFIX, folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    known_read(&before, folder, program);
    check(&before, data, size);
    must(!known_write(folder, program, group, &e));
    known_read(&after, folder, program);
    if (known_has(&before, group)) {
        must(!memcmp(&before, &after, sizeof(after)));
    } else {
        gone = before.num == KNOWN_GROUPS;
        must(after.num == before.num + 1 - gone && after.groups[after.num - 1] == group);
        must(!memcmp(after.groups, before.groups + gone, (before.num - gone) * sizeof(group)));
    }
    unlink(path);
    return 0;
}
