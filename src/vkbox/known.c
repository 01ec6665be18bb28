/* SPDX-License-Identifier: MIT */
#include "vkbox/known.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "vkbox/table.h"

enum { MAX_FILE = 4096 }; /* bytes; more is no file of ours */

/* ---- content ------------------------------------------------------------- */

struct words {
    const uint32_t *p, *end;
};

static uint32_t take(struct words *w)
{
    return w->p < w->end ? *w->p++ : 0;
}

static void mix(struct known_content *c, uint64_t value)
{
    c->hash = (c->hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    c->hash ^= c->hash >> 29;
}

static void add_text(struct known_content *c, struct words *w)
{
    uint32_t n = take(w);
    const char *text = (const char *)w->p;

    if (n > (size_t)(w->end - w->p) * 4)
        n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!isdigit((unsigned char)text[i]))
            mix(c, (unsigned char)text[i]);
    w->p += (n + 3) / 4;
}

static void add_fields(struct known_content *c, struct words *w, const struct vkbox_field *f, uint32_t n);

static void add_one(struct known_content *c, struct words *w, const struct vkbox_field *f)
{
    const struct vkbox_struct *s = f->of;

    switch (f->kind) {
    case VKBOX_STRUCT:
        if (s)
            add_fields(c, w, s->fields, s->num_fields);
        break;
    case VKBOX_TEXT:
        add_text(c, w);
        break;
    case VKBOX_ENUM:
    case VKBOX_FLAGS:
        mix(c, take(w));
        break;
    case VKBOX_U64:
    case VKBOX_HANDLE:
        take(w);
        take(w);
        break;
    default:
        take(w);
    }
}

static void add_fields(struct known_content *c, struct words *w, const struct vkbox_field *f, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count = f[i].mode == VKBOX_VALUE ? 1 : f[i].mode == VKBOX_FIXED ? f[i].cap : take(w);

        for (uint32_t k = 0; k < count && (f[i].mode == VKBOX_VALUE || k < f[i].cap) && w->p < w->end; k++)
            add_one(c, w, &f[i]);
    }
}

void known_add(struct known_content *c, uint32_t head, const uint32_t *args, size_t left)
{
    const uint32_t command = head >> 16, n = head & 0xffff;
    const struct vkbox_command_desc *d;
    struct words w = {args, args + (n < left ? n : left)};

    if (command >= VKBOX_NUM_COMMANDS || !vkbox_commands[command].name) /* a mark */
        return;
    d = &vkbox_commands[command];
    if (c->in_pass && !(d->flags & VKBOX_IS_END))
        return;
    c->in_pass = d->flags & VKBOX_IS_BEGIN;
    mix(c, command);
    add_fields(c, &w, d->fields, d->num_fields);
}

/* ---- the file ------------------------------------------------------------ */

void known_name(const char *program, char out[64])
{
    snprintf(out, 64, "%.63s", program);
    for (char *c = out; *c;) {
        size_t n = utf8_length(c, strlen(c));

        if (!n || *c == '/' || utf8_hidden(c, n))
            memset(c, '_', n ? n : 1);
        c += n ? n : 1;
    }
}

static void path_of(const char *folder, const char *program, char path[PATH_MAX])
{
    char name[64];

    known_name(program, name);
    snprintf(path, PATH_MAX, "%.3900s/%s" KNOWN_SUFFIX, folder, name);
}

/* Nobody else's file, nothing that blocks, and no link. */
static FILE *open_own(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    FILE *f;

    if (fd < 0)
        return NULL;
    f = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size <= MAX_FILE
            ? fdopen(fd, "r")
            : NULL;
    if (!f)
        close(fd);
    return f;
}

void known_read(struct known *k, const char *folder, const char *program)
{
    char path[PATH_MAX], line[MAX_FILE + 1]; /* whole, however long */
    FILE *f;

    *k = (struct known){0};
    path_of(folder, program, path);
    f = open_own(path);
    while (f && fgets(line, sizeof(line), f)) {
        if (strspn(line, "0123456789abcdef") != 16 || line[16] != '\n')
            continue;
        if (k->num == KNOWN_GROUPS)
            memmove(k->groups, k->groups + 1, --k->num * sizeof(k->groups[0]));
        k->groups[k->num++] = strtoull(line, NULL, 16);
    }
    if (f)
        fclose(f);
}

bool known_has(const struct known *k, uint64_t group)
{
    uint32_t i = 0;

    while (i < k->num && k->groups[i] != group)
        i++;
    return i < k->num;
}

int known_write(const char *folder, const char *program, uint64_t group, struct error *e)
{
    char path[PATH_MAX], made[PATH_MAX + 8];
    struct known k;
    int fd, err;
    FILE *f;

    known_read(&k, folder, program);
    if (known_has(&k, group))
        return 0;
    path_of(folder, program, path);
    snprintf(made, sizeof(made), "%s.XXXXXX", path);
    fd = mkostemp(made, O_CLOEXEC);
    f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) {
        err = errno;
        if (fd >= 0) {
            close(fd);
            unlink(made);
        }
        return error_set(e, -err, "%s: %s", path, strerror(err));
    }
    for (uint32_t i = k.num == KNOWN_GROUPS; i < k.num; i++)
        fprintf(f, "%016" PRIx64 "\n", k.groups[i]);
    fprintf(f, "%016" PRIx64 "\n", group);
    err = fclose(f) || rename(made, path) ? errno : 0; /* in place of whatever was there */
    if (err)
        unlink(made);
    return err ? error_set(e, -err, "%s: %s", path, strerror(err)) : 0;
}
