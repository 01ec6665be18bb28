/* command.c: what all commands share (commands.h). */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char running[64] = "aerogpu";
static const char *summary = "a virtual GPU that can be crashed on purpose";

int command_run(const char *parent, const struct options_command *commands, size_t n, int argc, char **argv)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(argv[0], commands[i].name) != 0)
            continue;
        snprintf(running, sizeof(running), "%s %s", parent, commands[i].name);
        summary = commands[i].summary;
        argv[0] = running; /* getopt's complaints begin with it */
        optind = 1;
        return commands[i].run(argc, argv);
    }
    return -1;
}

int command_line(struct options *o, int argc, char **argv)
{
    struct error e = {0};
    int r;

    if (!o->summary)
        o->summary = summary;
    r = options_parse(o, argc, argv, &e);
    return r < 0 ? usage_error("%s", e.text) : -r;
}

int usage_error(const char *fmt, ...)
{
    va_list ap;

    if (!fmt) {
        fprintf(stderr, "`%s --help` lists the options\n", running);
        return EXIT_USAGE;
    }
    fprintf(stderr, "%s: ", running);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "; `%s --help` says more\n", running);
    return EXIT_USAGE;
}

int option_u64(const char *option, uint64_t min, uint64_t max, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(optarg, &end, strncmp(optarg, "0x", 2) ? 10 : 16);
    if (*optarg >= '0' && *optarg <= '9' && !*end && !errno && *out >= min && *out <= max)
        return 0;
    if (max == UINT64_MAX)
        return usage_error("%s: '%s' is no number of at least %" PRIu64, option, optarg, min);
    return usage_error("%s: '%s' is no number from %" PRIu64 " to %" PRIu64, option, optarg, min, max);
}

int option_u32(const char *option, uint32_t min, uint32_t max, uint32_t *out)
{
    uint64_t v;
    int r = option_u64(option, min, max, &v);

    *out = r ? *out : (uint32_t)v;
    return r;
}

int option_range(const char *option, uint64_t *first, uint64_t *last)
{
    char *end;

    errno = 0;
    *first = *last = strtoull(optarg, &end, 10);
    if (*end == '-')
        *last = end[1] ? strtoull(end + 1, &end, 10) : UINT64_MAX;
    if (*optarg >= '0' && *optarg <= '9' && (!*end || !strcmp(end, "-")) && !errno && *first <= *last)
        return 0;
    return usage_error("%s needs a range A-B, not '%s'", option, optarg);
}

int option_range_u32(const char *option, uint32_t *first, uint32_t *last)
{
    uint64_t a, b;
    int r = option_range(option, &a, &b);

    *first = a > UINT32_MAX ? UINT32_MAX : (uint32_t)a;
    *last = b > UINT32_MAX ? UINT32_MAX : (uint32_t)b;
    return r;
}

int command_end(int code)
{
    int r = fflush(stdout);

    if (!r && !ferror(stdout))
        return code;
    fprintf(stderr, "%s: standard output could not be written%s%s\n", running, r ? ": " : "",
            r ? strerror(errno) : "");
    return code ? code : EXIT_ENV;
}
