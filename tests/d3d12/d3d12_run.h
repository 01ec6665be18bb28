/* SPDX-License-Identifier: MIT */
/* d3d12_run.h: what tests that run whole programs share. */
#pragma once

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/strbuf.h"

/* The variable with the options of the sanitizer that this is built with. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZER "ASAN_OPTIONS"
#elif defined(__SANITIZE_THREAD__)
#define SANITIZER "TSAN_OPTIONS"
#else
#define SANITIZER ""
#endif

static const char *aerogpu, *workload, *stub, *elsewhere;

/* Runs a command, its output (both streams) in `out`; returns its exit code. */
static int run(struct strbuf *out, const char *fmt, ...)
{
    char command[32768], buf[4096];
    size_t n;
    va_list ap;
    FILE *p;
    int status;

    va_start(ap, fmt);
    n = (size_t)snprintf(command, sizeof(command), "{ ");
    vsnprintf(command + n, sizeof(command) - n - 16, fmt, ap);
    va_end(ap);
    strcat(command, "\n} 2>&1");
    strbuf_clear(out);
    p = popen(command, "r");
    assert_non_null(p);
    while ((n = fread(buf, 1, sizeof(buf), p)) > 0)
        strbuf_append(out, buf, n);
    status = pclose(p);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void need_device(void)
{
    struct strbuf out = {0};
    int code = run(&out, "%s events", workload),
        recorder = run(&out, "%s record --what d3d12 -o /dev/null -- %s --help", aerogpu, aerogpu);

    strbuf_finish(&out);
    if (code || recorder) {
        print_message(code ? "# no Direct3D 12 device here (libvkd3d needs a Vulkan driver): skipped\n"
                           : "# no recorder in this build: skipped\n");
        skip();
    }
}

/* A program under a sanitizer ends by the signal that it would end by without, and its runtime may come after the recorder. */
static void tell_sanitizer(void)
{
    const char *old = getenv(SANITIZER);
    char options[1000];

    snprintf(options, sizeof(options), "%s%shandle_segv=0%s", old ? old : "", old && *old ? ":" : "",
             *SANITIZER == 'A' ? ":verify_asan_link_order=0" : "");
    if (*SANITIZER)
        setenv(SANITIZER, options, 1);
}
