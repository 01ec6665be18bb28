/* SPDX-License-Identifier: MIT */
#include "dxgkrnl/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

static const char *trim(char *s)
{
    size_t n;

    s += strspn(s, " \t\r");
    n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        s[--n] = '\0';
    return s;
}

int dxgk_settings_set(struct settings *s, const char *key, const char *name, uint32_t value)
{
    struct settings_value *v = NULL;

    if (strlen(key) >= sizeof(v->key) || strlen(name) >= sizeof(v->name))
        return -EINVAL;
    for (unsigned i = 0; i < s->count && !v; i++)
        if (!strcasecmp(s->values[i].key, key) && !strcasecmp(s->values[i].name, name))
            v = &s->values[i];
    if (!v) {
        v = realloc(s->values, (s->count + 1) * sizeof(*v));
        if (!v)
            return -ENOMEM;
        s->values = v;
        v = &s->values[s->count++];
        snprintf(v->key, sizeof(v->key), "%s", key);
        snprintf(v->name, sizeof(v->name), "%s", name);
    }
    v->value = value;
    return 0;
}

static int parse_line(struct settings *s, char *line, char *key, size_t key_size, unsigned n,
                      struct error *err)
{
    const char *text, *name, *value;
    char *equals, *end;
    unsigned long long v;
    int r;

    line[strcspn(line, ";")] = '\0';
    text = trim(line);
    if (!*text)
        return 0;
    if (*text == '[') {
        size_t len = strlen(text);
        if (text[len - 1] != ']' || len < 3 || len - 2 >= key_size)
            return error_set(err, -EINVAL, "line %u: a key is [NAME] of at most %zu bytes", n, key_size - 1);
        snprintf(key, key_size, "%.*s", (int)(len - 2), text + 1);
        return 0;
    }
    equals = strchr(line, '=');
    if (!equals || !*key)
        return error_set(err, -EINVAL, "line %u: expected a value, \"Name = number\", under a [key]", n);
    *equals = '\0';
    name = trim(line);
    value = trim(equals + 1);
    errno = 0;
    v = strtoull(value, &end, 0);
    if (end == value || *end || errno || v > UINT32_MAX || *value == '-')
        return error_set(err, -EINVAL, "line %u: %s is not a number of 32 bits", n, name);
    r = *name ? dxgk_settings_set(s, key, name, (uint32_t)v) : -EINVAL;
    if (r == -EINVAL)
        return error_set(err, r, "line %u: the name is empty or too long", n);
    return r ? error_set(err, r, "line %u: no memory for %s", n, name) : 0;
}

int dxgk_settings_parse(struct settings *s, const char *text, size_t size, struct error *err)
{
    struct settings fresh = {0};
    char key[sizeof(s->values->key)] = "";
    unsigned n = 0;
    int r = 0;

    if (size >= 2 && (!memcmp(text, "\xFF\xFE", 2) || !memcmp(text, "\xFE\xFF", 2)))
        return error_set(err, -EINVAL, "line 1: the text is UTF-16, as regedit writes it; UTF-8 is read");
    if (size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) { /* what Windows' editors begin UTF-8 with */
        text += 3;
        size -= 3;
    }
    while (size && !r) {
        const char *eol = memchr(text, '\n', size);
        size_t len = eol ? (size_t)(eol - text) : size;
        char line[512];
        n++;
        if (len >= sizeof(line) || memchr(text, '\0', len)) {
            r = error_set(err, -EINVAL, "line %u: longer than %zu bytes, or not text", n, sizeof(line) - 1);
            break;
        }
        memcpy(line, text, len);
        line[len] = '\0';
        r = parse_line(&fresh, line, key, sizeof(key), n, err);
        text += len + (eol ? 1 : 0);
        size -= len + (eol ? 1 : 0);
    }
    for (unsigned i = 0; i < fresh.count && !r; i++)
        r = dxgk_settings_set(s, fresh.values[i].key, fresh.values[i].name, fresh.values[i].value);
    dxgk_settings_finish(&fresh);
    return r;
}

int dxgk_settings_read(struct settings *s, const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe's other end may never come */
    struct stat st;
    char *text;
    ssize_t n;
    int r;

    if (fd < 0 || fstat(fd, &st)) {
        r = error_set(err, -errno, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return r;
    }
    if (!S_ISREG(st.st_mode)) {
        close(fd);
        return error_set(err, -EBADMSG, "%s: is no regular file", path);
    }
    text = malloc(65536);
    n = text ? read(fd, text, 65536) : 0;
    if (!text)
        r = -ENOMEM;
    else if (n < 0)
        r = error_set(err, -errno, "%s", strerror(errno));
    else if (n == 65536)
        r = error_set(err, -EFBIG, "the settings are longer than 65535 bytes");
    else
        r = dxgk_settings_parse(s, text, (size_t)n, err);
    error_prefix(err, "%s", path);
    free(text);
    close(fd);
    return r;
}

bool dxgk_settings_get(const struct settings *s, const char *key, const char *name, uint32_t *value)
{
    for (unsigned i = 0; i < s->count; i++)
        if (!strcasecmp(s->values[i].key, key) && !strcasecmp(s->values[i].name, name)) {
            *value = s->values[i].value;
            return true;
        }
    return false;
}

bool dxgk_settings_remove(struct settings *s, const char *key, const char *name)
{
    for (unsigned i = 0; i < s->count; i++)
        if (!strcasecmp(s->values[i].key, key) && !strcasecmp(s->values[i].name, name)) {
            memmove(&s->values[i], &s->values[i + 1], (--s->count - i) * sizeof(s->values[0]));
            return true;
        }
    return false;
}

bool dxgk_settings_has_key(const struct settings *s, const char *key)
{
    for (unsigned i = 0; i < s->count; i++)
        if (!strcasecmp(s->values[i].key, key))
            return true;
    return false;
}

void dxgk_settings_finish(struct settings *s)
{
    free(s->values);
    *s = (struct settings){0};
}
