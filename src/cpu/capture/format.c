/* SPDX-License-Identifier: MIT */
#include "cpu/capture/format.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct span {
    const char *p, *end;
};

static struct span trim(struct span s)
{
    while (s.p < s.end && isspace((unsigned char)*s.p))
        s.p++;
    while (s.end > s.p && isspace((unsigned char)s.end[-1]))
        s.end--;
    return s;
}

static bool starts(struct span s, const char *prefix)
{
    size_t n = strlen(prefix);

    return (size_t)(s.end - s.p) >= n && !memcmp(s.p, prefix, n);
}

static bool copy(char *dst, size_t cap, struct span s)
{
    size_t n = (size_t)(s.end - s.p);

    if (n >= cap)
        return false;
    memcpy(dst, s.p, n);
    dst[n] = '\0';
    return true;
}

/* Decimal digits, the whole span, at most nine of them. */
static bool number(struct span s, uint32_t *out)
{
    uint32_t v = 0;

    s = trim(s);
    if (s.p == s.end || s.end - s.p > 9)
        return false;
    for (; s.p < s.end; s.p++) {
        if (!isdigit((unsigned char)*s.p))
            return false;
        v = v * 10 + (uint32_t)(*s.p - '0');
    }
    *out = v;
    return true;
}

/* "unsigned int foo[4]" is a type and a name; the name is the last word before any "[". */
static bool declaration(struct cpu_field *f, struct span s)
{
    struct span name, type;
    const char *end;

    s = trim(s);
    end = memchr(s.p, '[', (size_t)(s.end - s.p));
    name.end = end ? end : s.end;
    if (end && name.end > s.p && isspace((unsigned char)name.end[-1]))
        name = trim((struct span){s.p, name.end});
    /* "__data_loc char[] name" has its brackets in the type */
    if (end && memchr(end, ' ', (size_t)(s.end - end)))
        name.end = s.end;
    name.p = name.end;
    while (name.p > s.p && (isalnum((unsigned char)name.p[-1]) || name.p[-1] == '_'))
        name.p--;
    type = trim((struct span){s.p, name.p});
    if (name.p == name.end || type.p == type.end || !copy(f->name, sizeof(f->name), name))
        return false;
    if (!copy(f->type, sizeof(f->type), type)) {
        type.end = type.p + sizeof(f->type) - 1;
        copy(f->type, sizeof(f->type), type);
    }
    f->is_data_loc = starts(type, "__data_loc");
    return true;
}

static int field_line(struct cpu_format *f, struct span line, int n, struct error *e)
{
    struct cpu_field field = {0};
    struct span rest = line, part;
    uint32_t is_signed = 0;
    bool have_offset = false, have_size = false;

    while (rest.p < rest.end) {
        const char *semi = memchr(rest.p, ';', (size_t)(rest.end - rest.p));
        part = trim((struct span){rest.p, semi ? semi : rest.end});
        rest.p = semi ? semi + 1 : rest.end;
        if (starts(part, "field:")) {
            part.p += 6;
            if (!declaration(&field, part))
                return error_set(e, -EINVAL, "line %d: no field name", n);
        } else if (starts(part, "offset:")) {
            part.p += 7;
            have_offset = number(part, &field.offset);
        } else if (starts(part, "size:")) {
            part.p += 5;
            have_size = number(part, &field.size);
        } else if (starts(part, "signed:")) {
            part.p += 7;
            number(part, &is_signed);
        }
    }
    if (!have_offset || !have_size)
        return error_set(e, -EINVAL, "line %d: field %s has no offset or size", n, field.name);
    if (field.offset > 65535 || field.size > 65535)
        return error_set(e, -EINVAL, "line %d: field %s is at offset %u with size %u", n, field.name,
                         field.offset, field.size);
    if (f->num_fields == CPU_FORMAT_MAX_FIELDS)
        return error_set(e, -EINVAL, "line %d: more than %d fields", n, CPU_FORMAT_MAX_FIELDS);
    field.is_signed = is_signed;
    f->fields[f->num_fields++] = field;
    return 0;
}

int cpu_format_parse(struct cpu_format *f, const char *text, size_t size, struct error *e)
{
    struct span rest = {text, text + size};
    int n = 0, r;

    memset(f, 0, sizeof(*f));
    while (rest.p < rest.end) {
        const char *nl = memchr(rest.p, '\n', (size_t)(rest.end - rest.p));
        struct span line = trim((struct span){rest.p, nl ? nl : rest.end});
        rest.p = nl ? nl + 1 : rest.end;
        n++;
        if (starts(line, "print fmt:"))
            break;
        if (starts(line, "name:")) {
            line.p += 5;
            if (!copy(f->name, sizeof(f->name), trim(line)))
                return error_set(e, -EINVAL, "line %d: the event's name is too long", n);
        } else if (starts(line, "ID:")) {
            line.p += 3;
            if (!number(line, &f->id) || f->id > 65535)
                return error_set(e, -EINVAL, "line %d: the event's ID is not a 16-bit number", n);
        } else if (starts(line, "field:")) {
            r = field_line(f, line, n, e);
            if (r)
                return r;
        }
    }
    if (!f->num_fields)
        return error_set(e, -EINVAL, "no field in %d lines", n);
    return 0;
}

const struct cpu_field *cpu_format_field(const struct cpu_format *f, const char *name)
{
    for (uint32_t i = 0; i < f->num_fields; i++)
        if (!strcmp(f->fields[i].name, name))
            return &f->fields[i];
    return NULL;
}
