/* SPDX-License-Identifier: MIT */
/* text.c: the JSON body for people: one "key: value" a line, lists of records as a line each. */
#include "dbgctl.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

static void print_value(json_t *v);

/* {"hex","dec"}, {"bytes","mib"} and {"value","name"} read as one value. */
static bool print_pair(json_t *v)
{
    const char *a = json_string_value(json_object_get(v, "hex"));
    json_t *b = json_object_get(v, "dec");

    if (json_object_size(v) != 2)
        return false;
    if (a && b) {
        printf("%s (", a);
        print_value(b);
        putchar(')');
        return true;
    }
    if (json_object_get(v, "bytes") && json_object_get(v, "mib")) {
        printf("%s bytes (%s MiB)", json_string_value(json_object_get(v, "bytes")),
               json_string_value(json_object_get(v, "mib")));
        return true;
    }
    if (json_object_get(v, "value") && json_object_get(v, "name")) {
        print_value(json_object_get(v, "value"));
        printf(" (");
        print_value(json_object_get(v, "name"));
        printf(")");
        return true;
    }
    return false;
}

static void print_value(json_t *v)
{
    json_t *e;
    const char *key;
    size_t i;

    switch (json_typeof(v)) {
    case JSON_STRING:
        utf8_print(stdout, "%s", json_string_value(v));
        break;
    case JSON_INTEGER:
        printf("%" JSON_INTEGER_FORMAT, json_integer_value(v));
        break;
    case JSON_REAL:
        printf("%.3f", json_real_value(v));
        break;
    case JSON_TRUE:
        fputs("yes", stdout);
        break;
    case JSON_FALSE:
        fputs("no", stdout);
        break;
    case JSON_NULL:
        fputs("-", stdout);
        break;
    case JSON_ARRAY:
        json_array_foreach(v, i, e) {
            if (i)
                fputs(", ", stdout);
            print_value(e);
        }
        break;
    case JSON_OBJECT:
        if (print_pair(v))
            break;
        i = 0;
        json_object_foreach(v, key, e) {
            printf("%s%s=", i++ ? " " : "", key);
            print_value(e);
        }
        break;
    }
}

static bool is_record_list(json_t *v)
{
    return json_is_array(v) && json_is_object(json_array_get(v, 0));
}

static bool is_group(json_t *v)
{
    json_t *e;
    const char *key;

    if (!json_is_object(v) || json_object_size(v) < 3)
        return is_record_list(v);
    json_object_foreach(v, key, e)
        if (json_is_object(e) || json_is_array(e))
            return true;
    return json_object_size(v) > 4;
}

static void print_group(json_t *o, int indent)
{
    json_t *v, *e;
    const char *key;
    size_t i;

    json_object_foreach(o, key, v) {
        if (is_record_list(v)) {
            printf("%*s%s:\n", indent, "", key);
            json_array_foreach(v, i, e) {
                printf("%*s", indent + 2, "");
                print_value(e);
                putchar('\n');
            }
        } else if (json_is_object(v) && is_group(v)) {
            printf("%*s%s:\n", indent, "", key);
            print_group(v, indent + 2);
        } else {
            printf("%*s%s: ", indent, "", key);
            print_value(v);
            putchar('\n');
        }
    }
}

static void last_error(json_t *body)
{
    json_t *e = json_object_get(body, "last_error");

    if (!e)
        return;
    if (!json_object_get(e, "error_code")) {
        puts("Last error: (not supported)");
        return;
    }
    printf("Last error: latched=");
    print_value(json_object_get(e, "latched"));
    printf(" code=");
    print_value(json_object_get(e, "error_code"));
    printf(" (");
    print_value(json_object_get(e, "error_code_name"));
    printf(") fence=");
    print_value(json_object_get(e, "error_fence"));
    printf(" count=");
    print_value(json_object_get(e, "error_count"));
    putchar('\n');
}

void dbgctl_print_text(json_t *body)
{
    print_group(body, 0);
    last_error(body);
}

void dbgctl_line(const struct dbgctl *c, const char *fmt, ...)
{
    va_list ap;

    if (c->json)
        return;
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}
