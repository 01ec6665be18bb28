/* SPDX-License-Identifier: MIT */
/* aerogpu crashes: what many dumps share. */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/out.h"
#include "base/utf8.h"
#include "blackbox/crashes.h"

static int default_index(char path[4096])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char dir[4000];

    if (cache && *cache)
        snprintf(dir, sizeof(dir), "%s", cache);
    else
        snprintf(dir, sizeof(dir), "%s/.cache", home ? home : "");
    mkdir(dir, 0700);
    snprintf(path, 4096, "%s/aerogpu", dir);
    if (mkdir(path, 0700) && errno != EEXIST) {
        utf8_print(stderr, "aerogpu crashes: %s: %s\n", path, strerror(errno));
        return EXIT_ENV;
    }
    snprintf(path, 4096, "%s/aerogpu/crashes.db", dir);
    return EXIT_OK;
}

static int write_html(struct bb_crashes *c, const char *path, struct error *e)
{
    struct strbuf out = {0};
    FILE *f = out_file_whole(path, e);
    int r = f ? bb_crashes_html(c, &out, e) : e->code;

    if (!r)
        fwrite(strbuf_str(&out), 1, out.len, f);
    if (f)
        r = out_file_close(f, path, r, e);
    strbuf_finish(&out);
    return r;
}

static int report(struct bb_crashes *c, const char *html, bool json, struct error *e)
{
    struct strbuf out = {0}, text = {0};
    int r = html ? write_html(c, html, e) : 0;

    if (!r && (json || !html))
        r = json ? bb_crashes_json(c, &out, e) : bb_crashes_text(c, &out, e);
    if (json)
        fputs(strbuf_str(&out), stdout);
    else
        utf8_visible(&text, strbuf_str(&out), out.len, true);
    fputs(strbuf_str(&text), stdout);
    strbuf_finish(&text);
    strbuf_finish(&out);
    return r;
}

static void found_bad(const char *why)
{
    command_say(why);
}

int cmd_crashes(int argc, char **argv)
{
    const char *index = NULL, *html = NULL;
    struct bb_crashes_added added = {.found_bad = found_bad};
    struct bb_crashes *crashes;
    struct error e = {0}, input = {0};
    char own[4096];
    bool json = false, unreadable = false;
    int r = command_line(
        &(struct options){
            .rows = (struct options_row[]){OPT_TEXT("index", 0, &index, "FILE",
                                                    "the index; else ~/.cache/aerogpu/crashes.db"),
                                           OPT_TEXT("html", 0, &html, "FILE", "write the report as one page"),
                                           OPT_FLAG("json", 0, &json, "print one JSON object"), OPT_END},
            .operands = "[DUMP|FOLDER...]",
            .max = -1,
            .about =
                "Adds dumps to an index and says what they share: groups of the same crash, largest first, and for each which shaders, resources, marker paths, commands and settings stand in the crashing region more often than elsewhere in the same dumps.",
            .exits = {"all is well", [EXIT_INPUT] = "some dumps could not be read",
                      [EXIT_ENV] = "the index cannot be used"},
            .see = "aerogpu-dump(1), aerogpu-report(1), docs/blackbox.md"},
        argc, argv);

    if (r)
        return r < 0 ? EXIT_OK : r;
    if (!index && default_index(own))
        return EXIT_ENV;
    if (index && out_file_check(index, &input) == -EEXIST)
        return command_error(&input);
    if (bb_crashes_open(&crashes, index ? index : own, &e))
        return command_fail(EXIT_ENV, &e);
    for (int i = optind; i < argc; i++) {
        struct error one = {0};

        if (bb_crashes_add(crashes, argv[i], &added, &one)) {
            command_say(one.text);
            unreadable = true;
        }
    }
    if (optind < argc)
        fprintf(stderr, "%llu dumps added, %llu known, %llu bad%s\n", (unsigned long long)added.added,
                (unsigned long long)added.known, (unsigned long long)added.bad,
                added.copies ? "; copies of one are counted once" : "");
    r = report(crashes, html, json, &e);
    bb_crashes_close(crashes);
    if (r)
        return command_fail(r == -EEXIST ? EXIT_USAGE : EXIT_ENV, &e);
    return unreadable || added.bad ? EXIT_INPUT : EXIT_OK;
}
