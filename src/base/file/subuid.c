/* SPDX-License-Identifier: MIT */
#include "base/file/subuid.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits alone, and not what means no user. */
static bool is_number(const char *s, char end, uint64_t most, uint64_t *value, const char **rest)
{
    char *last;

    if (*s < '0' || *s > '9')
        return false;
    errno = 0;
    *value = strtoull(s, &last, 10);
    *rest = last + 1;
    return !errno && *value <= most && *last == end;
}

/* By the file alone: a directory server that does not answer would hold up everybody. */
static bool find_user(const char *passwd, const char *name, size_t len, uid_t *uid)
{
    FILE *f = fopen(passwd, "re");
    struct passwd entry, *found = NULL;
    char text[4096];

    while (f && !fgetpwent_r(f, &entry, text, sizeof(text), &found))
        if (!strncmp(found->pw_name, name, len) && !found->pw_name[len])
            break;
    if (found)
        *uid = found->pw_uid;
    if (f)
        fclose(f);
    return found;
}

uid_t subuid_owner(uid_t uid, const char *subuid, const char *passwd)
{
    FILE *f = fopen(subuid, "re");
    uid_t owner = uid;
    char *line = NULL;
    size_t room = 0;
    ssize_t len;

    while (f && owner == uid && (len = getline(&line, &room, f)) > 0) {
        const char *colon, *rest;
        uint64_t first, count, number;

        if (line[len - 1] == '\n')
            line[len - 1] = '\0';
        colon = strchr(line, ':');
        if (!colon || !is_number(colon + 1, ':', UINT32_MAX - 1, &first, &rest) ||
            !is_number(rest, '\0', UINT32_MAX, &count, &rest) || uid < first || uid - first >= count)
            continue;
        if (find_user(passwd, line, (size_t)(colon - line), &owner))
            break;
        owner = is_number(line, ':', UINT32_MAX - 1, &number, &rest) ? (uid_t)number : (uid_t)first;
        break;
    }
    free(line);
    if (f)
        fclose(f);
    return owner;
}
