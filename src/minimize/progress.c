/* SPDX-License-Identifier: MIT */
#include "minimize/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/file/in.h"
#include "base/file/out.h"

enum { DIGITS = 16, LINE = DIGITS + 2 };

struct progress {
    FILE *file; /* NULL: answers are not kept */
    char *path;
    struct progress_answer *known;
    size_t num;
};

static int by_hash(const void *a, const void *b)
{
    const struct progress_answer *x = a, *y = b;

    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static bool parse_line(const char *line, size_t size, struct progress_answer *a)
{
    if (size != LINE || line[DIGITS] != ' ' || (line[DIGITS + 1] != '0' && line[DIGITS + 1] != '1'))
        return false;
    *a = (struct progress_answer){.still = line[DIGITS + 1] == '1'};
    for (int i = 0; i < DIGITS; i++) {
        const char *digits = "0123456789abcdef", *d = line[i] ? strchr(digits, line[i]) : NULL;
        if (!d)
            return false;
        a->hash = a->hash << 4 | (uint64_t)(d - digits);
    }
    return true;
}

struct progress_answer *progress_parse(const char *text, size_t size, size_t *num)
{
    struct progress_answer *list = NULL, a;
    size_t room = 0;

    *num = 0;
    for (size_t at = 0, end; at < size; at = end + 1) {
        const char *newline = memchr(text + at, '\n', size - at);
        end = newline ? (size_t)(newline - text) : size;
        if (!newline || !parse_line(text + at, end - at, &a))
            continue;
        if (array_reserve(list, room, *num + 1))
            break;
        list[(*num)++] = a;
    }
    if (*num)
        qsort(list, *num, sizeof(*list), by_hash);
    return list;
}

int progress_open(struct progress **out, const char *path, struct error *e)
{
    struct progress *p = *out = calloc(1, sizeof(*p));
    const uint8_t *map;
    size_t size;
    bool cut = false;

    if (!p || !(p->path = strdup(path))) {
        progress_close(p, false);
        *out = NULL;
        return error_set(e, -ENOMEM, "no memory for what is known");
    }
    p->file = out_file_append(path, e);
    if (!in_file_map(path, &map, &size, NULL)) {
        p->known = progress_parse((const char *)map, size, &p->num);
        cut = map[size - 1] != '\n';
        munmap((void *)(uintptr_t)map, size);
    }
    if (!p->file)
        return e && e->code ? e->code : -EIO;
    if (cut)
        fputc('\n', p->file);
    return 0;
}

void progress_close(struct progress *p, bool done)
{
    if (!p)
        return;
    if (p->file)
        fclose(p->file);
    if (done)
        out_file_discard(p->path);
    free(p->known);
    free(p->path);
    free(p);
}

bool progress_known(const struct progress *p, uint64_t hash, bool *still)
{
    const struct progress_answer key = {.hash = hash}, *a;

    a = p && p->num ? bsearch(&key, p->known, p->num, sizeof(key), by_hash) : NULL;
    if (a)
        *still = a->still;
    return a != NULL;
}

int progress_add(struct progress *p, uint64_t hash, bool still, struct error *e)
{
    int r;

    if (!p || !p->file)
        return 0;
    if (fprintf(p->file, "%016" PRIx64 " %d\n", hash, still) > 0 && !fflush(p->file))
        return 0;
    r = error_set(e, -errno, "%s: %s; what is found from here on is not kept", p->path, strerror(errno));
    fclose(p->file);
    p->file = NULL;
    return r;
}
